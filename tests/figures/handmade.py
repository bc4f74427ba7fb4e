"""Datasets made by hand, of any size, as sweeps and analyses would return them."""

import numpy as np
import xarray as xr

MAPS = ("direct", "exp", "softplus", "best", "tanh", "sigmoid", "square", "relu", "clip")
USER = ("best (b=0.1)", "1/(w^2 + 0.7)", "$a_b$ 50% & {x} # \\x ~", "log(1 + cosh(w))/(1 + 0.1*log(1 + cosh(w)))**2")
OUTCOMES = ("converged", "step_limit", "collapsed", "diverged", "nonfinite", "outside_domain", "not_computed")
AXES = {
    "parameterization": ("parameterization", MAPS[:4]),
    "link": ("link", ("continuous",)),
    "target": ("target", ("polynomial",)),
    "optimizer": ("optimizer", ("adam",)),
    "width": ("width", (64,)),
    "seed": ("seed", (0, 1, 2)),
    "learning_rate": ("learning rate", (1e-3, 1e-2, 1e-1, 1.0)),
    "step": ("optimisation step", tuple(range(0, 100, 10))),
    "quantile": ("quantile", (0.0, 0.25, 0.5, 0.75, 1.0)),
    "time": ("time", tuple(float(k) for k in range(60))),
    "lag": ("lag", (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)),
    "state": ("state", tuple(range(6))),
    "statement": ("statement", ("stability", "curvature")),
    "memory_length": ("memory length", tuple(np.geomspace(0.1, 1e4, 25))),
    "dtype": ("number format", ("float32", "bfloat16", "float16")),
    "weight": ("raw weight", tuple(np.linspace(-6, 6, 49))),
    "decay": ("decay", tuple(np.geomspace(1e-3, 1.9, 25))),
    "perturbed": ("perturbed weights", ("all",)),
    "ball": ("norm of the perturbation", ("inf",)),
    "error_horizon": ("horizon of the error", (100, 1000)),
    "repeat": ("direction of the perturbation", (0, 1)),
    "beta": ("size of the perturbation", (0.0, 1e-3, 1e-2, 1e-1, 1.0)),
    "activation": ("activation", ("tanh",)),
    "norm": ("norm of the error", ("sobolev",)),
    "domain": ("domain of time", ("continuous",)),
    "extent": ("extent of time", ("infinite", "finite")),
    "fit": ("fit", ("best", "given_signed", "given_nonnegative", "rational")),
    "stop": ("end of the training", ("steps", "previous_width")),
    "layer": ("layer", (1, 2)),
    "power": ("power of the target", (0.9, 1.5)),
    "potential": ("potential", ("quartic", "quadratic", "root")),
    "start": ("starting point", (0.98, 1.02)),
    "start_ratio": ("starting decay over target decay", (0.99, 0.5)),
    "step_ratio": ("step over the largest stable one", (0.98, 1.02)),
}


def described(name, units="1", **more):
    return {"long_name": name, "units": units, **more}


def flags(*meanings):
    return {"flag_values": np.arange(len(meanings), dtype=np.int8), "flag_meanings": " ".join(meanings)}


def dataset(variables, sizes):
    """variables: name -> (dims, function of the grids of those dims, attributes)."""
    values = {name: np.asarray(sizes.get(name, default)) for name, (_, default) in AXES.items()}
    used = {name for dims, _, _ in variables.values() for name in dims}
    made = xr.Dataset(coords={n: (n, values[n], described(AXES[n][0])) for n in AXES if n in used})
    for name, (dims, fill, attributes) in variables.items():
        shape = tuple(len(values[one]) for one in dims)
        grids = np.meshgrid(*(np.arange(size) for size in shape), indexing="ij")
        made[name] = (dims, np.broadcast_to(fill(**dict(zip(dims, grids, strict=True))), shape).copy(), attributes)
    return made


RUN = ("parameterization", "link", "target", "optimizer", "width", "seed", "learning_rate")


def training(**sizes):
    """What lr_stability, gradient_ratio and classification return, in one."""
    rates = np.asarray(sizes.get("learning_rate", AXES["learning_rate"][1]))

    def outcome(parameterization, seed, learning_rate, **_):
        last = len(rates) // 2 + (parameterization + seed) % 2
        return np.where(learning_rate <= last, 1, 3 + (learning_rate > last + 1)).astype(np.int8)

    def ratio(parameterization, seed, step, quantile, **_):
        return 10.0 ** (quantile - parameterization - 0.05 * step + 0.2 * seed)

    def bad_step(outcome_of):
        return lambda **at: np.where(outcome_of(**at) >= 3, 35, -1).astype(np.int32)

    return dataset(
        {
            "outcome": (RUN, outcome, described("outcome of the run", **flags(*OUTCOMES))),
            "first_bad_step": (RUN, bad_step(outcome), described("first bad step, -1 where there is none")),
            "test_accuracy": (
                RUN,
                lambda parameterization, seed, learning_rate, **_: 0.95 - 0.1 * learning_rate - 0.01 * seed,
                described("test accuracy"),
            ),
            "gradient_to_weight_ratio": ((*RUN, "step", "quantile"), ratio, described("gradient over weight")),
            "fit_error": (
                RUN,
                lambda parameterization, seed, learning_rate, **_: 0.1 * (1 + learning_rate) + 0.01 * seed,
                described("relative fit error"),
            ),
            "target_kernel": ((*RUN, "time"), lambda time, **_: np.cos(0.5 * time), described("memory kernel")),
            "fitted_kernel": (
                (*RUN, "time"),
                lambda parameterization, time, **_: np.cos(0.5 * time) + 0.1 * parameterization,
                described("memory kernel of the model"),
            ),
        },
        sizes,
    )


def maps(**sizes):
    weight = np.asarray(AXES["weight"][1])
    dims = ("parameterization", "link", "weight")

    def decay(parameterization, weight, **_):
        return np.exp(AXES["weight"][1][0] + weight * 0.25) * (1 + parameterization)

    return dataset(
        {
            "decay": (dims, decay, described("decay s")),
            "eigenvalue": (dims, lambda **at: -decay(**at), described("eigenvalue")),
            "margin": (dims, lambda **at: decay(**at) - 0.1, described("distance to instability")),
        },
        {"weight": weight, **sizes},
    )


def gradient_scale(**sizes):
    def curve(along):
        return lambda **at: np.where(at[along] == 3, np.inf, 10.0 ** (at["parameterization"] - 0.1 * at[along]))

    return dataset(
        {
            f"{name}{suffix}": (("parameterization", "link", along), curve(along), described(long_name))
            for name, long_name in (("gradient_scale", "gradient scale"), ("gradient_over_weight", "over weight"))
            for suffix, along in (("", "weight"), ("_of_decay", "decay"))
        },
        sizes,
    )


def certificates(**sizes):
    """One map without a modulus, one with a bound, one of which nothing is known."""
    run = ("parameterization", "link")

    def kind(parameterization, **_):
        return (parameterization % 4).astype(np.int8)

    def modulus(parameterization, beta, **_):
        kinds = [np.inf, 1.0, 2.0, np.nan]
        return np.choose(parameterization % 4, kinds) * 10.0 ** (beta - 2.0)

    def step(parameterization, memory_length, **_):
        return np.where(memory_length > parameterization, 10.0 ** (2 - parameterization - 0.2 * memory_length), np.nan)

    verdicts = flags("refuted", "undecided", "proved")
    return dataset(
        {
            "modulus": ((*run, "beta"), modulus, described("modulus g(beta)")),
            "modulus_kind": (run, kind, described("kind of g", **flags("none", "least", "bound", "open"))),
            "stable_step": ((*run, "memory_length"), step, described("largest stable step")),
            "verdict": ((*run, "statement"), lambda parameterization, **_: (parameterization % 3).astype(np.int8),
                        described("verdict", **verdicts)),
        },
        {"beta": AXES["beta"][1][1:], **sizes},
    )  # fmt: skip


moduli = stable_step = certificates


def largest_rate(**sizes):
    dims = RUN[:-1]

    def rate(parameterization, seed, optimizer, **_):
        return np.where(parameterization + seed == 0, 0.0, 10.0 ** (parameterization - 3 + 0.1 * seed + optimizer))

    return dataset(
        {
            "largest_stable_learning_rate": (dims, rate, described("largest stable learning rate, 0 where none is")),
            "smallest_unstable_learning_rate": (
                dims, lambda **at: np.where(at["seed"] == 1, np.inf, 2 * rate(**at)), described("unstable rate"),
            ),
            "reentry": (
                dims, lambda seed, **_: (seed == 2).astype(np.int8), described("again", **flags("no", "yes")),
            ),
        },
        sizes,
    )  # fmt: skip


def sharpness(**sizes):
    """What `sharpness`, `generalisation` and a sweep of the recurrent rate return, in one."""
    trained = training(**sizes)
    rates = np.asarray(sizes.get("learning_rate", AXES["learning_rate"][1]))
    cells = {name: (RUN, trained[name].values, trained[name].attrs) for name in ("outcome", "first_bad_step")}

    def grown(scale):
        return lambda parameterization, learning_rate, seed, step=0, **_: (
            scale * rates[learning_rate] * 10.0 ** (0.3 * parameterization + 0.1 * seed - 0.1 * step)
        )

    series = ("edge_ratio", "sharpness", "recurrent_sharpness", "mode_curvature", "gradient_to_weight_ratio",
              "gradient_scale_over_weight", "loss", "test_loss")  # fmt: skip
    return dataset(
        {
            **{name: (dims, lambda values=values, **_: values, about) for name, (dims, values, about) in cells.items()},
            **{name: ((*RUN, "step"), grown(1.0 + place), described(name)) for place, name in enumerate(series)},
            "final_loss": (RUN, grown(1e-2), described("loss at the end")),
            "zero_loss": (RUN, lambda **_: 9.0, described("loss of the zero model")),
        },
        sizes,
    )


edge_of_stability = divergence_prediction = convergence = rate_ranks = sharpness


def recurrent_rate(**sizes):
    along = ("recurrent_rate", [0.1, 1.0], described("recurrent rate over the others' rate"))
    return sharpness(**sizes).expand_dims(recurrent_rate=[0.1, 1.0], axis=6).assign_coords(recurrent_rate=along)


def initialization(**sizes):
    along = ("initialization", ["log_uniform", "legs"], described("initialization"))
    made = sharpness(**{"learning_rate": (1e-2,), **sizes})
    return made.expand_dims(initialization=["log_uniform", "legs"], axis=3).assign_coords(initialization=along)


def gradient_law(**sizes):
    def scale(parameterization, state, step, **_):
        return 10.0 ** (0.2 * state + parameterization - 0.1 * step)

    ended = {"outcome": np.int8(1), "first_bad_step": np.int32(-1)}
    return dataset(
        {
            **{
                name: (RUN, lambda code=code, **_: code, described(name, **flags(*OUTCOMES)))
                for name, code in ended.items()
            },
            "gradient_to_weight_ratio": ((*RUN, "step", "state"), scale, described("gradient over weight")),
            "gradient_scale_over_weight": ((*RUN, "step", "state"), scale, described("its scale")),
        },
        {"learning_rate": (1e-2,), **sizes},
    )


def one_mode(**sizes):
    dims = ("parameterization", "link", "optimizer", "learning_rate")
    words = ("settles", "approaches", "cycles", "forgets", "unstable", "outside_image", "not_computed")
    return dataset(
        {
            "behaviour": (
                (*dims, "start_ratio", "memory_length"),
                lambda memory_length, learning_rate, **_: ((memory_length + learning_rate) % 7).astype(np.int8),
                described("what training does", **flags(*words)),
            ),
            "largest_stable_step": (
                (*dims, "memory_length"), lambda memory_length, **_: 1.0 / (1 + memory_length), described("step"),
            ),
        },
        sizes,
    )  # fmt: skip


rate_ranking = largest_rate


def memory(**sizes):
    """What the measurement `memory` returns: step 0 decays exponentially, the last step polynomially."""
    times, lags = (np.asarray(AXES[name][1]) for name in ("time", "lag"))

    def remembered(t, seed, step):
        return (1 + 0.1 * (seed % 2)) * np.where(step == 0, np.exp(-0.1 * t), (1 + t) ** -1.2)

    def margin(parameterization, step, state, seed, **_):
        return 0.02 * (1 + state) * (1 + 0.2 * step * parameterization) + 1e-3 * seed

    states, series = (*RUN, "step", "state"), (*RUN, "step", "time")
    code = described("outcome of the run", **flags(*OUTCOMES))
    return dataset(
        {
            "outcome": (RUN, lambda seed, **_: (1 + 0 * seed).astype(np.int8), code),
            "final_loss": (RUN, lambda seed, **_: 1e-3 * (1.0 + seed), described("final loss")),
            "horizon": (RUN, lambda seed, **_: (40 + 0 * seed).astype(np.int32), described("samples fitted")),
            "memory_function": (
                series,
                lambda seed, step, time, **_: remembered(times[time], seed, step),
                described("memory function"),
            ),
            "target_memory_function": (
                (*RUN, "time"), lambda time, **_: (1 + times[time]) ** -1.1, described("memory function of the target"),
            ),
            "context_difference": (
                (*RUN, "step", "lag"),
                lambda seed, step, lag, **_: remembered(lags[lag], seed, step),
                described("change of the output"),
            ),
            "margin": (states, margin, described("distance to instability")),
            "recurrent_weight": (states, lambda **at: np.log(margin(**at)), described("raw weight")),
            "margin_of_weight": (
                (*RUN, "weight"), lambda weight, **_: np.exp(AXES["weight"][1])[weight], described("margin"),
            ),
        },
        {"step": (0, 500), "learning_rate": (1e-2,), **sizes},
    )  # fmt: skip


eigenvalues = memory_decay = memory


def representable_memory(**sizes):
    dims = ("parameterization", "link", "dtype")
    return dataset(
        {
            name: (dims, lambda dtype, scale=scale, **_: scale * 10.0 ** (8 - dtype), described(name, "steps"))
            for name, scale in (("longest_memory", 1e6), ("longest_memory_by_subtraction", 1.0))
        },
        sizes,
    )


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


def gradient_bound(**sizes):
    cells = ("parameterization", "link", "activation", "width", "seed")

    def bound(parameterization, layer, state, **_):
        return 10.0 ** (parameterization - layer - 0.2 * state)

    return dataset(
        {
            "mode_gradient": ((*cells, "decay"), lambda decay, **_: 10.0 ** (-0.1 * decay), described("gradient")),
            "mode_bound": ((*cells, "decay"), lambda decay, **_: 10.0 ** (-0.1 * decay), described("bound")),
            "gradient": ((*cells, "layer", "state"), lambda **at: 0.3 * bound(**at), described("gradient")),
            "gradient_bound": ((*cells, "layer", "state"), bound, described("bound on the gradient")),
        },
        sizes,
    )


def memory_bound(**sizes):
    dims = ("parameterization", "link", "activation", "width", "seed", "layer", "time")

    def fading(scale):
        return lambda time, layer, **_: scale * (1 + time) ** layer * np.exp(-0.1 * time)

    names = {
        "memory_function": 1.0, "impulse_memory": 0.8, "reversed_memory": 1.1, "memory_majorant": 2.0,
        "memory_bound": 9.0,
    }  # fmt: skip
    return dataset({name: (dims, fading(scale), described(name)) for name, scale in names.items()}, sizes)


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


def largest_step(**sizes):
    cells = ("parameterization", "link")
    return dataset(
        {
            "largest_stable_step": ((*cells, "decay"), lambda decay, **_: 0.1 + decay, described("largest step")),
            "growth": (
                (*cells, "step_ratio", "decay"), lambda step_ratio, **_: 0.96 + 0.08 * step_ratio, described("factor"),
            ),
            "distance": (
                (*cells, "step_ratio", "step"), lambda step_ratio, step, **_: (0.9 + 0.2 * step_ratio) ** step,
                described("distance"),
            ),
            "shown_decay": (cells, lambda **_: 0.05, described("decay")),
        },
        sizes,
    )  # fmt: skip


def descent(**sizes):
    dims = ("learning_rate", "potential", "start")
    code = described("what the run does", **flags("settles", "wanders", "diverges"))
    return dataset(
        {
            "distance": (
                (*dims, "step"),
                lambda potential, start, step, **_: np.where(step > 8, np.inf, (0.5 + potential + start) ** step),
                described("distance from 0"),
            ),
            "behaviour": (dims, lambda potential, **_: potential.astype(np.int8), code),
        },
        sizes,
    )  # fmt: skip


def pointwise_network(**sizes):
    dims = ("activation", "width", "seed", "time")
    names = ("network_output", "stack_output", "input_size")
    made = {name: (dims, lambda time, **_: np.sin(0.1 * time), described(name)) for name in names}
    return dataset(
        made | {"difference": (dims, lambda time, **_: 0.0 * time, described("difference"))}, {"seed": (0,), **sizes}
    )


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
