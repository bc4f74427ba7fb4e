"""What S4 begins with."""

import numpy as np

from handmade.parts import dataset, described


def spring(**sizes):
    def wave(time, **_):
        return 0.01 * np.sin(0.2 * time)

    names = {"force": "N", "position": "m", "convolved_position": "m"}
    made = {name: (("seed", "time"), wave, described(name, units)) for name, units in names.items()}
    return dataset(made, {"seed": (0,), **sizes})


def hippo(**sizes):
    cells = ("seed", "system", "moment")

    def seen(moment, time, **_):
        return np.where(time < 30 + 20 * moment, np.sin(0.3 * time), np.nan)

    def part(system, state, time, **_):
        return (1 + system) * np.cos(0.05 * state * time)

    return dataset(
        {
            "series": (("seed", "time"), lambda time, **_: np.sin(0.3 * time), described("series")),
            "coefficient": ((*cells, "state"), lambda state, **_: 1.0 - state, described("coefficient")),
            "reconstruction": ((*cells, "time"), seen, described("series")),
            "component": (("seed", "system", "state", "time"), part, described("component")),
            "error": (cells, lambda system, **_: 0.1 + system, described("error")),
            "recent_error": (cells, lambda system, **_: 0.2 + system, described("error")),
        },
        {"seed": (0,), **sizes},
    )


hippo_coefficients = hippo


def layer_perturbation(**sizes):
    cells = (
        "parameterization",
        "link",
        "target",
        "seed",
        "learning_rate",
        "width",
        "perturbed",
        "error_horizon",
        "beta",
    )

    def error(parameterization, beta, error_horizon, width, **_):
        return np.where(
            (parameterization == 0) & (beta == 4), np.inf, 10.0 ** ((3.0 + error_horizon + width) * beta - 4)
        )

    return dataset(
        {"largest_perturbation_error": (cells, error, described("perturbation error, largest over directions"))},
        {"width": (8, 64), "learning_rate": (1e-2,), **sizes},
    )


def layer_memory(**sizes):
    cells = ("parameterization", "link", "seed", "kind", "time")

    def remembered(kind, time, seed, **_):
        return np.where((kind == 1) & (time > 5), 0.0, (2.0 + seed) * np.exp(-0.1 * kind * time))

    return dataset({"memory_function": (cells, remembered, described("memory function"))}, sizes)


def input_gradient(**sizes):
    cells = ("model", "seed", "stage", "series_length")

    def grown(model, seed, stage, series_length, **_):
        return np.where(
            (model == 1) & (series_length > 2), np.inf, (1.0 + seed) * (2.0 + stage) ** (1.0 * model * series_length)
        )

    names = ("first_input_gradient", "input_gradient")
    return dataset({name: (cells, grown, described("gradient, root mean square")) for name in names}, sizes)
