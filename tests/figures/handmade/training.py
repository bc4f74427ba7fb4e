"""Training runs: losses, gradients, rates and curvature."""

import numpy as np

from handmade.parts import AXES, OUTCOMES, RUN, dataset, described, flags


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
            "loss": (
                (*RUN, "step"),
                lambda parameterization, seed, step, **_: 2.0 - 0.02 * step + 0.1 * parameterization + 0.05 * seed,
                described("training loss of a batch"),
            ),
            "test_loss": (RUN, lambda parameterization, **_: 0.2 + 0.1 * parameterization, described("test loss")),
            "test_accuracy_error": (
                RUN,
                lambda parameterization, **_: 0.01 + 0.0 * parameterization,
                described("standard error"),
            ),
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


def layers(**sizes):
    """What `layer_by_layer` returns of a whole block."""
    run = ("parameterization", "link", "width", "seed", "learning_rate")

    def grown(scale):
        return lambda parameterization, seed, layer=0, step=0, quantile=0, time=0, beta=0, **_: (
            scale * 10.0 ** (quantile - parameterization - 0.1 * step + 0.2 * seed + beta - 0.05 * time) / (1 + layer)
        )

    inner = {
        "gradient_constant": ("step", "layer", "quantile"),
        "gradient_to_weight_ratio": ("step", "layer", "quantile"),
        "initial_memory_function": ("layer", "time"),
        "memory_function": ("layer", "time"),
        "largest_perturbation_distance": ("layer", "beta"),
        "layer_largest_stable_learning_rate": ("layer",),
    }
    return dataset(
        {
            **{name: ((*run, *dims), grown(1.0), described(name)) for name, dims in inner.items()},
            "outcome": (run, lambda **_: np.int8(1), described("outcome", **flags(*OUTCOMES))),
            "first_bad_step": (run, lambda **_: np.int32(-1), described("first bad step")),
            "largest_stable_learning_rate": (
                run, lambda parameterization, **_: 0.1 * parameterization, described("largest stable learning rate"),
            ),
            "test_accuracy": (
                run, lambda parameterization, **_: 0.9 - 0.1 * parameterization, described("test accuracy"),
            ),
        },
        {"learning_rate": (1e-2,), **sizes},
    )  # fmt: skip


def metric_by_length(**sizes):
    along = ("length", [64, 256], described("length of the series", "step"))
    return training(**sizes).expand_dims(length=[64, 256], axis=5).assign_coords(length=along)


def ablation(**sizes):
    """The ranking by rate is that of the whole block without a gate, and turned around without a norm."""
    parts = ("ablation", ["none", "gate", "norm"], described("part that is left out"))
    made = layers(**sizes).expand_dims(ablation=parts[1], axis=2).assign_coords(ablation=parts).copy(deep=True)
    rates = made["largest_stable_learning_rate"]
    made["largest_stable_learning_rate"] = rates.where(made["ablation"] != "norm", 1 - rates).assign_attrs(rates.attrs)
    return made


rate_ranking = largest_rate


# What analyses of them return is drawn from the same.
edge_of_stability = divergence_prediction = convergence = rate_ranks = sharpness
rate_ranking = largest_rate
