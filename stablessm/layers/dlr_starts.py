"""How a DLR begins: at given poles, on the grid of a Fourier transform, as a chosen kernel; and products of DLRs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm.layers.bank import Bank
from stablessm.layers.diagonal import check_eigenvalues, decay_and_phase
from stablessm.layers.dlr import DLR, Cast, Factor, Grid
from stablessm.parameterizations import Parameterization


def dlr(
    parameterization: Parameterization,
    eigenvalues: ArrayLike,
    *,
    inputs: int,
    cast: Cast = "real",
    grid: Grid | None = None,
    key: Array,
) -> DLR:
    """Return a layer that starts at given eigenvalues, whatever the map.

    Args:
        parameterization: the map of the modulus; one of continuous time gives e^-s.
        eigenvalues: shape (states,), of one step, or of unit time under a continuous link; real ones with a grid.
        inputs: number of channels.
        cast: how a complex kernel is read; real eigenvalues without a grid know "real" alone.
        grid: phases, which are not rounded then (see `fourier`).
        key: PRNG key of w ~ N(0, N^-2), real and imaginary part each, and D ~ N(0, 1), the same for every map.

    Raises:
        ParameterizationError: an eigenvalue lies outside the map's image.
        ValueError: a shape, a cast or a number of channels is wrong.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> poles = jnp.array([0.9, 0.5j])
        >>> dlr(PARAMETERIZATIONS["square"], poles, inputs=3, key=jax.random.key(0))(jnp.ones((7, 3)))[0].shape
        (7, 3)
    """
    if not isinstance(inputs, int) or inputs < 1:
        raise ValueError(f"`inputs` must be a number of channels, at least 1, but got {inputs!r}")
    eigenvalues = jnp.asarray(eigenvalues)
    if eigenvalues.ndim != 1 or not len(eigenvalues):
        raise ValueError(f"`eigenvalues` must have the shape (states,), but got {eigenvalues.shape}")
    if grid is not None and jnp.iscomplexobj(eigenvalues):
        raise ValueError("a grid gives the phases: `eigenvalues` must be real then")
    check_eigenvalues(parameterization, eigenvalues)
    decay, phase = decay_and_phase(parameterization, eigenvalues)
    weight = parameterization.weight(decay)
    phase = jnp.zeros_like(weight) if grid is not None else phase
    readout_key, feedthrough_key = jax.random.split(key)
    shape = (inputs, len(weight)) if phase is None else (inputs, len(weight), 2)
    readout = jax.random.normal(readout_key, shape, weight.dtype) / len(weight)
    feedthrough = jax.random.normal(feedthrough_key, (inputs,), weight.dtype)
    return DLR((Factor(weight, phase, readout, parameterization, grid),), feedthrough, cast)


def fourier(
    parameterization: Parameterization,
    states: int,
    *,
    inputs: int,
    damping: float = 1e-5,
    grid: Grid | None = None,
    cast: Cast = "real",
    key: Array,
) -> DLR:
    """Return a layer whose poles lie on a circle: theta_n = 2 pi n/N, as published, all of the modulus exp(-damping/2).

    Without damping the complex kernel is K = N ifft(w) over N steps, and w -> K has the condition number 1. Its real
    part alone has but N real dimensions there; the grid of half steps, theta_n = pi (n + 1/2)/N, spans 2N.

    Args:
        parameterization: the map of the modulus.
        states: N.
        inputs: number of channels.
        damping: twice the decay of a step, at least 0; the published runs take 1e-5.
        grid: other phases, for instance `Grid(2 * states, 0.5)`.
        cast: see `DLR`.
        key: PRNG key.

    Raises:
        ParameterizationError: the modulus lies outside the map's image.
        ValueError: a number of states or channels is none, or the cast is unknown.
    """
    if not isinstance(states, int) or states < 1:
        raise ValueError(f"`states` must be a number of states, at least 1, but got {states!r}")
    real, more = on_circle(parameterization, states, damping=damping)
    return dlr(parameterization, real, inputs=inputs, cast=cast, **({"grid": grid} if grid else more), key=key)


def on_circle(parameterization: Parameterization, states: int, *, damping: float) -> tuple[np.ndarray, dict[str, Grid]]:
    """Return what `dlr` takes for poles of one modulus, exp(-damping/2), on the whole grid of phases.

    Args:
        parameterization: the map, whose link says what an eigenvalue is.
        states: N.
        damping: at least 0.
    """
    decay = np.full(states, damping / 2)
    return (-decay if parameterization.link == "continuous" else np.exp(-decay)), {"grid": Grid(states)}


def with_kernels(layer: DLR, kernels: ArrayLike) -> DLR:
    """Return the layer of `fourier` with the real kernels wanted over its first N steps, D = 0.

    w = fft(e^(s k) K)/N, s the decay of a step: of a one-hot kernel e_r without damping w_n = e^(-2 pi i n r/N)/N.

    Args:
        layer: of one factor on the whole grid, its modulus the same for every pole.
        kernels: K, shape (channels, N).

    Raises:
        ValueError: the layer is another one, or the shape is wrong.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> layer = fourier(PARAMETERIZATIONS["square"], 4, inputs=1, key=jax.random.key(0))
        >>> abs(with_kernels(layer, [[0.0, 0.0, 1.0, 0.0]]).channel_kernels(4)).round(5).tolist()
        [[0.0, 0.0, 1.0, 0.0]]
    """
    (factor,) = layer.factors if len(layer.factors) == 1 else (None,)
    kernels = np.asarray(kernels, np.float64)
    if factor is None or layer.cast != "real" or factor.grid != Grid(len(factor.weight)):
        raise ValueError("kernels are set in a layer of one factor on the whole grid, as `fourier` makes it")
    if kernels.shape != factor.readout.shape[:2]:
        raise ValueError(f"`kernels` must have the shape {factor.readout.shape[:2]}, but got {kernels.shape}")
    states = len(factor.weight)
    decay = -np.asarray(factor.poles().log_modulus, np.float64).mean()
    read = np.fft.fft(np.exp(decay * np.arange(states)) * kernels) / states
    pair = jnp.asarray(np.stack([read.real, read.imag], -1), factor.readout.dtype)
    made = Factor(factor.weight, jnp.zeros_like(factor.phase), pair, factor.parameterization, factor.grid)
    return DLR((made,), jnp.zeros_like(layer.feedthrough), layer.cast)


def kronecker(one: DLR, other: DLR, *, feedthrough: Array | None = None) -> DLR:
    """Return the DLR whose complex kernel is the product of those of two: poles lambda_m mu_n, weights w_m v_n.

    Args:
        one: read as "real", like the other: the cast of a product is that of the whole.
        other: of as many channels.
        feedthrough: D; that of the first by default.

    Raises:
        ValueError: another cast, or other numbers of channels.
    """
    if {one.cast, other.cast} != {"real"}:
        raise ValueError(f"a product is taken of complex kernels: both casts must be 'real', but got "
                         f"{one.cast!r} and {other.cast!r}")  # fmt: skip
    return DLR((*one.factors, *other.factors), one.feedthrough if feedthrough is None else feedthrough, "real")


def of_bank(layer: Bank, parameterization: Parameterization) -> DLR:
    """Return the DLR that is a layer of modes for every channel (DSS, S4D): log lambda_bar = lambda dt.

    It has the poles of all channels, each of which reads its own: w' = w (e^(lambda dt) - 1)/lambda of DSS_exp.

    Args:
        layer: the bank.
        parameterization: the map of the modulus, which must reach those of the bank.

    Raises:
        ParameterizationError: a modulus lies outside the map's image.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> from stablessm.layers import DSS
        >>> dss = DSS(PARAMETERIZATIONS["exp"], jnp.array([-0.5 + 3j]), inputs=2, key=jax.random.key(0))
        >>> same = of_bank(dss, PARAMETERIZATIONS["square"])
        >>> bool(jnp.allclose(same.channel_kernels(9), dss.channel_kernels(9), atol=1e-6))
        True
    """
    stepped = layer.discretised()
    channels, modes = stepped.multiplier.shape
    read = jnp.zeros((channels, channels, modes), stepped.multiplier.dtype)
    read = read.at[jnp.arange(channels), jnp.arange(channels)].set(layer.read(stepped)).reshape(channels, -1)
    turning = stepped.poles.is_complex
    phase = jnp.angle(stepped.multiplier).ravel() if turning else None
    pair = jnp.stack([read.real, read.imag], axis=-1) if turning else read
    weight = parameterization.weight(-stepped.poles.log_modulus.ravel())
    return DLR((Factor(weight, phase, pair, parameterization),), layer.feedthrough)


def one_hot(parameterization: Parameterization, position: int, length: int, teeth: int, *, inputs: int = 1) -> DLR:
    """Return a DLR of teeth x length/teeth poles whose kernel is 1 at one step of `length` and 0 at all others.

    It is the product of a comb, 1 at every teeth-th step, and of a Dirichlet kernel, the mean of the slowest
    length/teeth waves of the whole length, which is 0 at all of them but one.

    Args:
        parameterization: a map that reaches the modulus 1, as `square` does at 0.
        position: r, of 0 .. length - 1.
        length: L, a multiple of `teeth`.
        teeth: poles of the comb.
        inputs: number of channels, all alike.

    Raises:
        ValueError: a position out of range, or teeth that do not divide the length.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> abs(one_hot(PARAMETERIZATIONS["square"], 5, 8, 4).channel_kernels(8)).round(5).tolist()
        [[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
    """
    if teeth < 1 or length < 1 or length % teeth:
        raise ValueError(f"`teeth` must divide the length, but got {teeth} and {length}")
    if not 0 <= position < length:
        raise ValueError(f"`position` must lie in [0, {length}), but got {position}")
    waves, key = length // teeth, jax.random.key(0)
    factors = []
    for states, size in ((teeth, teeth), (waves, length)):
        layer = fourier(parameterization, states, inputs=inputs, damping=0.0, grid=Grid(size), key=key)
        angle = -2 * np.pi * (np.arange(states) * position % size) / size
        read = np.broadcast_to(np.stack([np.cos(angle), np.sin(angle)], -1) / states, (inputs, states, 2))
        (factor,) = layer.factors
        factors.append(Factor(factor.weight, factor.phase, jnp.asarray(read, factor.readout.dtype),
                              parameterization, factor.grid))  # fmt: skip
    return DLR(tuple(factors), jnp.zeros((inputs,), factors[0].weight.dtype))
