"""What maps are and remember, and what is proved of them."""

import numpy as np

from handmade.parts import AXES, OUTCOMES, RUN, dataset, described, flags


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


# What analyses of them return is drawn from the same.
moduli = stable_step = certificates
eigenvalues = memory_decay = memory
