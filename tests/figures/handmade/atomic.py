"""Trainings side by side."""

import numpy as np

from handmade.parts import OUTCOMES, dataset, described, flags

RUN = ("task", "model", "length", "seed")


def scores(**sizes):
    """What `comparison` returns."""

    def score(task, model, length, seed):
        return 0.9 - 0.5 * task * model - 0.01 * seed - 0.1 * length

    filled = {
        "outcome": (1, np.int8, flags(*OUTCOMES)),
        "test_loss": (0.1, np.float32, {}),
        "test_r2_error": (0.01, np.float32, {}),
        "trivial_score": (0.2, np.float32, {}),
        "reported_score": (np.inf, np.float32, {}),
        "steps": (400, np.int32, {}),
        "parameters": (5000, np.int32, {}),
    }
    return dataset(
        {
            "test_r2": (RUN, score, described("test R2 at the end")),
            **{
                name: (RUN, lambda value=value, kind=kind, **_: np.array(value, kind), described(name, **more))
                for name, (value, kind, more) in filled.items()
            },
        },
        sizes,
    )


score_table = score_by_length = scores


def step_memory(**sizes):
    """What `step_memory` returns: one model in proportion to the length, one to its square."""

    def needed(model, length):
        return 1e7 * 4.0 ** (length * (1 + model))

    return dataset({"step_memory": (("model", "length"), needed, described("memory of a step", "B"))}, sizes)


memory_limit = step_memory


def kernel_sizes(**sizes):
    dims = ("seed", "moment", "lag")

    def size(seed, moment, lag):
        return 1.0 + seed + (1 + moment) * lag

    names = ("kernel", "kernel_by_pole", "kernel_by_readout")
    return dataset({name: (dims, size, described(f"size of {name}, rms")) for name in names}, sizes)
