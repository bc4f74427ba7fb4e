"""A small measurement the tests of sweeps run: gradient descent of one weight towards a decay."""

import multiprocessing
import os
import signal
from collections import Counter
from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.measurements.base import Measurement, Program, Settings, Variable

TRACES: Counter = Counter()
FLAGS = ("converged", "diverged")


class ToySettings(Settings):
    steps: int = 20
    points: int = 3
    mode: str = "plain"
    levels: tuple[float, ...] = (1.0, 2.0)


def _variables(settings):
    return {
        "outcome": Variable("outcome", dtype="int8", flags=FLAGS),
        "final_loss": Variable("final loss"),
        "loss": Variable("loss", dims=("step",)),
        "pole": Variable("pole", dims=("state",), dtype="complex64"),
        "initial_eigenvalue": Variable("initial eigenvalue", dims=("state",)),
    }


@lru_cache
def _start(width):
    def start(seed):
        TRACES["start"] += 1
        key = jax.random.key(seed)
        decay = jax.random.uniform(key, (width,), minval=0.2, maxval=0.9)
        return {"decay": decay, "key": key, "noise": jax.random.normal(key, (width, 2))}

    return start


def _die_once(mark):
    """End this process outright, the first time that somebody comes here."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def program(static, settings):
    if settings.mode == "no build":
        raise RuntimeError("this map has no program")
    if settings.mode.startswith("its worker dies ") and multiprocessing.parent_process() is not None:
        _die_once(Path(settings.mode.removeprefix("its worker dies ")))
    parameterization = static["parameterization"]
    width = static.get("width", 2)

    def measure(traced, starts, index):
        TRACES[parameterization.name, parameterization.link, width] += 1
        start = jax.tree.map(lambda leaf: leaf[index], starts)
        if settings.mode == "trace fails" and parameterization.name == "exp":
            raise RuntimeError("exp cannot be traced")
        goal = 0.5

        def loss(weight):
            return jnp.mean((parameterization.decay(weight) - goal) ** 2) + 1e-3 * jnp.mean(start["noise"]) ** 2

        first = parameterization.weight(start["decay"])
        if settings.mode == "different starts" and parameterization.name == "exp":
            first = first + 0.1

        def step(weight, _):
            value, gradient = jax.value_and_grad(loss)(weight)
            return weight - traced["learning_rate"] * gradient, value

        weight, losses = jax.lax.scan(step, first, None, length=settings.steps)
        final = loss(weight)
        return {
            "outcome": jnp.where(final <= losses[0], 0, 1),
            "final_loss": final,
            "loss": losses[: settings.points],
            "pole": parameterization.eigenvalue(weight) + 1j * jnp.arange(width),
            "initial_eigenvalue": parameterization.eigenvalue(first),
        }

    return Program({"step": np.arange(settings.points), "state": np.arange(width)}, _start(width), measure)


TOY = Measurement(
    name="toy",
    summary="A toy.",
    reference="none",
    axes={"parameterization": None, "width": (2,), "seed": (0,), "learning_rate": None},
    settings=ToySettings,
    variables=_variables,
    program="toy_measurement:program",
)
MEASUREMENTS = {"toy": TOY}
BASE = {
    "name": "toy",
    "measurement": "toy",
    "chunk": 4,
    "axes": {
        "parameterization": ["exp", "best"],
        "seed": [0, 1, 2],
        "learning_rate": [0.01, 0.1, 0.5],
    },
}
