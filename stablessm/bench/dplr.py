"""Benchmark `dplr`: kernels of S4, from C~ as published and from C itself, and naive powers of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.bench import peers
from stablessm.bench.base import Case
from stablessm.bench.programs import program
from stablessm.engine.dplr import bilinear

STATES = 64


def hippo(channels: int) -> tuple[np.ndarray, ...]:
    """(Lambda, P, B, C, h) of HiPPO-LegS, one of each pair: shapes (channels, 32) and (channels,)."""
    n = np.arange(STATES)
    p, b = np.sqrt(n + 0.5), np.sqrt(2 * n + 1.0)
    a = -np.where(n[:, None] > n, b[:, None] * b, 0) - np.diag(n + 1.0)
    frequency, basis = np.linalg.eigh(-1j * (a + np.outer(p, p) + np.eye(STATES) / 2))
    back, half = basis.conj().T, slice(STATES // 2, None)
    rng = np.random.default_rng(0)
    c = rng.normal(size=(channels, STATES // 2)) + 1j * rng.normal(size=(channels, STATES // 2))
    rows = [np.tile(one[half], (channels, 1)) for one in (-0.5 + 1j * frequency, back @ p, back @ b)]
    step = np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), channels))
    return (*(one.astype(np.complex64) for one in (*rows, c)), step.astype(np.float32))


def _system(poles: Array, left: Array, drive: Array, readout: Array, step: Array) -> engine.LowRankSystem:
    return engine.LowRankSystem(poles, left, left, drive, readout, step)


def _exact(arrays: tuple[np.ndarray, ...], length: int, truncated: bool) -> np.ndarray:
    """K of the first channel in float64, by full matrices and doubling."""
    poles, left, drive, readout = (np.asarray(one[0], complex) for one in arrays[:4])
    whole = [np.concatenate([one, one.conj()]) for one in (poles, left, drive, readout)]
    h, eye = float(arrays[4][0]), np.eye(STATES)
    a = np.diag(whole[0]) - np.outer(whole[1], whole[1].conj())
    step = np.linalg.solve(eye - h / 2 * a, eye + h / 2 * a)
    row, columns = whole[3], np.linalg.solve(eye - h / 2 * a, h * whole[2])[:, None]
    if truncated:
        row = np.linalg.solve((eye - np.linalg.matrix_power(step, length)).T, row)
    while columns.shape[1] < length:
        columns, step = np.concatenate([columns, step @ columns], axis=1), step @ step
    return (row @ columns[:, :length]).real


def cases(quick: bool) -> Iterator[Case]:
    """Yield forward and gradient at 784 and 16384 steps.

    Args:
        quick: 784 steps, 32 channels instead of 256.
    """
    channels = 32 if quick else 256
    for length in (784,) if quick else (784, 16384):
        yield from _at(length, channels, f"{channels} channels" if quick else "")


def _at(length: int, channels: int, declared: str) -> Iterator[Case]:
    """Both cases at one length."""
    few = channels if length < 4096 else 8  # the published form needs gigabytes beyond
    arrays = hippo(channels)
    part = tuple(one[:few] for one in arrays)
    sliced = f"{few} channels" if few < 256 else ""
    exact = {one: _exact(arrays, length, one)[None] for one in (True, False)}

    def published(poles: Array, left: Array, drive: Array, readout: Array, step: Array) -> Array:
        both = (jnp.concatenate([one, one.conj()], axis=-1) for one in (poles, left, drive, readout))
        return peers.published_dplr(*both, step, length)

    def ours(truncated: bool, **options: object) -> Callable:
        return lambda *arrays: engine.dplr_kernel(_system(*arrays), length, pairs=True, truncated=truncated, **options)

    def naive(*arrays: Array) -> Array:
        matrix, column, row = bilinear(_system(*arrays), True)

        def advance(x: Array, _: None) -> tuple[Array, Array]:
            return jnp.einsum("hij,hj->hi", matrix, x), (row * x).sum(-1)

        return jax.lax.scan(advance, column, None, length=length)[1].T

    def gradient(function: Callable) -> Callable:
        def loss(real: list[Array], imaginary: list[Array], step: Array) -> Array:
            return (function(*map(jax.lax.complex, real, imaginary), step) ** 2).sum()

        inner = jax.grad(loss, (0, 1, 2))
        return lambda *arrays: inner([one.real for one in arrays[:4]], [one.imag for one in arrays[:4]], arrays[4])

    rows = [
        ("published form, from C~", published, part, few, sliced, True),
        ("engine, from C~", ours(True), arrays, channels, declared, True),
        ("engine, from C", ours(False), arrays, channels, declared, False),
        ("engine, Cauchy", ours(True, method="cauchy"), arrays, channels, declared, True),
        ("engine, Cauchy, rematerialised", ours(True, method="cauchy", rematerialise=True), arrays, channels, declared,
         True),
        ("naive powers of the matrix, from C", naive, part, few, sliced, False),
    ]  # fmt: skip
    yield Case("forward", STATES, length, [
        program(name, function, given, units=units, declared=cut, exact=exact[truncated], compared=slice(1))
        for name, function, given, units, cut, truncated in rows
    ])  # fmt: skip
    yield Case("gradient", STATES, length, [
        program(name, gradient(function), given, units=units, declared=cut)
        for name, function, given, units, cut, _ in rows
    ])  # fmt: skip
