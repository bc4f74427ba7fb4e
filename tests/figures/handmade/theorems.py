"""What the theorems bound, and descent."""

import numpy as np

from handmade.parts import dataset, described, flags


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
