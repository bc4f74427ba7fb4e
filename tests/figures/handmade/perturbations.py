"""Perturbed models and the best ones there are."""

import numpy as np

from handmade.parts import MAPS, OUTCOMES, RUN, dataset, described, flags


def perturbation(**sizes):
    """Errors that rise with beta and the horizon, earlier for a wider model of the first map; the last is infinite."""
    run = tuple(name for name in RUN if name != "width")
    sets = (*run, "width", "perturbed", "ball")

    def error(parameterization, beta, error_horizon=0, width=0, seed=0, **_):
        grown = (3.0 + error_horizon + width) * beta - 2 * parameterization + 0.2 * seed
        return np.where((parameterization == 0) & (beta == 4), np.inf, 10.0**grown)

    def margin(parameterization, beta, repeat, **_):
        return np.where(parameterization == 0, 0.05 - 0.05 * beta * (repeat + 1), 0.5)

    made = dataset(
        {
            "outcome": ((*run, "width"), lambda **_: np.int8(1), described("outcome of the run", **flags(*OUTCOMES))),
            "trained_decay": ((*run, "width", "state"), lambda state, **_: 0.1 + state, described("decay")),
            "fit_error": ((*run, "width", "error_horizon"), lambda **_: np.float32(0.1), described("fit error")),
            "largest_perturbation_error": (
                (*sets, "error_horizon", "beta"), error, described("perturbation error, largest over directions"),
            ),
            "largest_perturbation_loss": ((*sets, "beta"), error, described("sampled loss, largest over directions")),
            "perturbed_margin": ((*sets, "repeat", "beta"), margin, described("smallest margin")),
        },
        {"width": (8, 64), **sizes},
    )  # fmt: skip
    made["error_horizon"].attrs["units"] = "step"
    return made


perturbation_radius = perturbation


def nonlinear_perturbation(**sizes):
    cells = ("parameterization", "link", "target", "activation", "optimizer", "learning_rate", "width", "seed")
    moved = (
        (*cells, "perturbed", "beta"),
        lambda parameterization, beta, **_: np.where(beta == 4, np.inf, 1.0 + parameterization + beta),
        described("distance"),
    )
    memory = ((*cells, "time"), lambda time, **_: np.exp(-0.1 * time), described("memory function"))
    return dataset(
        {
            "approximation_distance": (cells, lambda **_: 0.5, described("distance")),
            **dict.fromkeys(("largest_perturbation_distance", "largest_total_distance"), moved),
            **dict.fromkeys(("memory_function", "initial_memory_function", "target_memory_function"), memory),
        },
        {"width": (8,), **sizes},
    )


def poles_and_residues(**sizes):
    cells = ("parameterization", "link")
    curve = ((*cells, "time"), lambda time, **_: 1e-3 * (1.0 + time), described("change"))
    names = ("change_by_poles", "sampled_change_by_poles", "change_by_residues")
    flat = (cells, lambda **_: 0.01, described("change"))
    return dataset({**dict.fromkeys(names, curve), "change_by_mapped_residues": flat}, sizes)


def mode_perturbation(**sizes):
    cells = ("parameterization", "link")
    names = ("recurrent_distance", "free_phase_distance", "scaled_phase_distance", "readout_cost")
    curve = (
        (*cells, "decay"),
        lambda decay, **_: np.where(decay == 3, np.inf, 0.1 + 0.01 * decay),
        described("distance"),
    )
    return dataset(
        {
            **{f"{name}{suffix}": curve for name in names for suffix in ("", "_summed")},
            "absolute_mass": (
                (*cells, "power", "width"), lambda power, width, **_: 1.0 + power * width, described("sum"),
            ),
            "absolute_mass_limit": (
                (*cells, "power"), lambda power, **_: np.where(power, 2.0, np.inf), described("limit"),
            ),
        },
        {"width": (4, 8), **sizes},
    )  # fmt: skip


def approximation(**sizes):
    """Errors that follow their laws, but for the widest fit over a finite horizon, which is that of fewer modes."""
    run = ("target", "seed", "learning_rate")
    fits = (*run, "domain", "extent", "fit", "width")
    widths = np.asarray(sizes.get("width", (4, 8, 16)))

    def error(extent, fit, width, **_):
        return np.exp(-np.where(extent == 0, 3.0 * np.sqrt(widths[width]), 1.5 * widths[width])) * (1.0 + fit)

    def used(extent, width, **_):
        return np.where((extent == 1) & (width == len(widths) - 1), widths[0], widths[width]).astype(np.int32)

    def slowest(extent, width, **_):
        return np.where(extent == 0, np.exp(-5.0 * np.sqrt(widths[width])), 0.1 / widths[width])

    return dataset(
        {
            "approximation_error": (fits, error, described("relative L2 error")),
            "slowest_decay": (fits, slowest, described("slowest decay", "1/time")),
            "modes_used": (fits, used, described("number of modes used")),
            "trained_error": ((*run, "stop", "extent", "width"), lambda **_: 0.1, described("relative L2 error")),
            "trained_slowest_decay": ((*run, "stop", "width"), lambda **_: 0.01, described("slowest decay", "1/time")),
            "law": ((*run, "extent"), lambda extent, **_: 2.4 - extent, described("r of the bound")),
            "expected_law": (run, lambda **_: 3.4, described("r expected")),
            "expected_decay_law": (run, lambda **_: 5.7, described("r of the slowest decay")),
        },
        {"learning_rate": (1e-2,), **{name: sizes[name] for name in sizes if name in (*run, "width")}, "width": widths},
    )


approximation_law = approximation


def exact_perturbation(**sizes):
    """The first map explodes from its radius on over an infinite horizon; the last does not reach its decays."""
    run = ("parameterization", "link", "target", "seed", "learning_rate")
    of, sets = (*run, "extent", "width"), (*run, "extent", "width", "perturbed", "ball", "norm", "beta")
    last = len(sizes.get("parameterization", MAPS[:4])) - 1

    def radius(parameterization, extent, width, **_):
        elsewhere = np.where(parameterization == last, np.nan, np.inf)
        return np.where(parameterization == 0, 10.0 ** -(1.0 + width + extent), elsewhere)

    def error(scale):
        def values(parameterization, extent, beta, **_):
            grown = scale * 10.0 ** (beta - 3.0 + 4 * (extent == 1) * (parameterization == 0))
            unreached = (parameterization == last) & (last > 0)
            return np.where(unreached, np.nan, np.where((parameterization == 0) & (extent == 0), np.inf, grown))

        return values

    return dataset(
        {
            "perturbation_error": (sets, error(1.0), described("perturbation error")),
            "perturbation_error_bound": (sets, error(1.2), described("upper bound")),
            "sampled_perturbation_error": (sets, error(0.5), described("error in random directions")),
            "stability_radius": (of, radius, described("stability radius")),
            "euler_radius": (of, radius, described("radius under Euler's step")),
            "modes_used": (of, lambda **_: np.int32(8), described("number of modes used")),
        },
        {"width": (8, 64), "beta": (1e-3, 1e-2, 1e-1, 1.0), "learning_rate": (1e-2,),
         **{name: sizes[name] for name in sizes if name in run[:4]}},
    )  # fmt: skip


exact_radius = exact_perturbation


# What analyses of them return is drawn from the same.
perturbation_radius = perturbation
approximation_law = approximation
exact_radius = exact_perturbation
