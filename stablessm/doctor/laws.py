"""Laws that a sound installation holds to, small enough to be tried in seconds; each against a calculation of its own.

Whether a law holds is measured here and now, on the device that computes: a broken compiler, a library that changed its
mind or a disk that loses bytes shows as a number beside the one that is allowed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Held(NamedTuple):
    """How far a law was from holding.

    Attributes:
        error: largest error, relative unless the law says otherwise.
        allowed: what it may be.
    """

    error: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether the error is finite and allowed."""
        return bool(self.error <= self.allowed)


class Law(NamedTuple):
    """A law.

    Attributes:
        name: what holds, as a sentence.
        measure: tries it.
    """

    name: str
    measure: Callable[[], Held]


def _kernel() -> Held:
    import jax.numpy as jnp

    from stablessm import engine

    modulus, phase = -np.geomspace(1e-3, 0.5, 8), np.linspace(0.1, 3.0, 8)
    weights = np.exp(1j * np.arange(8.0))
    expected = (2 * weights[:, None] * np.exp((modulus + 1j * phase)[:, None] * np.arange(500))).sum(0).real
    found = engine.kernel(engine.poles(modulus, phase), jnp.asarray(2 * weights), 500)
    return _apart(np.asarray(found).real, expected, 1e-5)


def _two_modes() -> Held:
    import jax
    import jax.numpy as jnp

    from stablessm.layers import S4D
    from stablessm.parameterizations import PARAMETERIZATIONS

    eigenvalues = -0.5 + 1j * np.pi * np.arange(1, 5)
    layer = S4D(PARAMETERIZATIONS["best"], jnp.asarray(eigenvalues), inputs=2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (40, 2))
    at_once, _ = jax.jit(lambda x: layer(x))(x)
    _, step_by_step = jax.lax.scan(lambda state, one: layer.step(state, one), layer.initial_state(), x)
    return _apart(np.asarray(step_by_step), np.asarray(at_once), 1e-4)


def _slope() -> Held:
    """The slope of best by jax.grad, and by hand: its decay is 1/(w^2 + 1/2)."""
    import jax

    from stablessm.parameterizations import PARAMETERIZATIONS

    map_, weight = PARAMETERIZATIONS["best"], 0.8
    found = float(jax.grad(lambda w: map_.decay(w))(weight))
    return _apart(np.array(found), np.array(-2 * weight / (weight**2 + 0.5) ** 2), 1e-5)


def _complex_descent() -> Held:
    """One step of gradient descent on |z - (1 + 2i)|^2 from 0 at rate 0.1, z held as two reals, is 0.2 + 0.4i."""
    import jax
    import jax.numpy as jnp
    import optax

    optimizer = optax.sgd(0.1)
    z = jnp.zeros(2)
    gradient = jax.grad(lambda z: jnp.sum((z - jnp.array([1.0, 2.0])) ** 2))(z)
    z = optax.apply_updates(z, optimizer.update(gradient, optimizer.init(z))[0])
    return _apart(np.asarray(z), np.array([0.2, 0.4]), 1e-6)


def _proofs() -> Held:
    """Number of verdicts on stability that are not the known ones: direct is refuted, best is proved."""
    from stablessm.parameterizations import PARAMETERIZATIONS
    from stablessm.theory import verify

    known = {"direct": "refuted", "best": "proved"}
    wrong = sum(verify(PARAMETERIZATIONS[name])["stability"].verdict != verdict for name, verdict in known.items())
    return Held(float(wrong), 0.0)


def _disk() -> Held:
    """Number of values that a dataset lost on its way to the disk and back."""
    import xarray as xr

    from stablessm.datasets import load, save

    values = np.array([1.0, -0.0, 1e-300, np.inf, np.pi])
    about = {"long_name": "values", "units": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.nc"
        save(xr.Dataset({"values": ("place", values, about)}, attrs={"title": "values"}), path)
        back = load(path)["values"].values
    return Held(float((back.view(np.int64) != values.view(np.int64)).sum()), 0.0)


def _apart(found: np.ndarray, expected: np.ndarray, allowed: float) -> Held:
    error = np.abs(found - expected).max() / np.abs(expected).max()
    return Held(float(error) if np.isfinite(error) else np.inf, allowed)


LAWS = (
    Law("the engine's kernel is the sum of powers", _kernel),
    Law("a layer step by step is the layer at once", _two_modes),
    Law("the slope of a map by jax.grad is the one by hand", _slope),
    Law("a complex weight descends", _complex_descent),
    Law("direct is refuted and best is proved stable", _proofs),
    Law("a dataset comes back from the disk as it was", _disk),
)
