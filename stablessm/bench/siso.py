"""Benchmarks `siso` and `shift`: banks of complex modes, forward and gradient, per series and per kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.bench import peers
from stablessm.bench.base import Case
from stablessm.bench.programs import absent, plain, program, weighed

BATCH, CHANNELS, STATES = 8, 64, 64
Bank = Callable[..., Array]


def problem(channels: int, states: int, length: int, batch: int) -> tuple[np.ndarray, ...]:
    """(log modulus, phase, Re w, Im w, u): S4D's start, Re lambda = -1/2, Im = pi n, step in [1e-3, 1e-1]; float32."""
    rng = np.random.default_rng(0)
    step = np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), (channels, 1)))
    arrays = (
        np.broadcast_to(-0.5 * step, (channels, states)),
        np.pi * np.arange(states) * step,
        *(rng.normal(size=(channels, states)) for _ in range(2)),
        rng.normal(size=(batch, channels, length)),
    )
    return tuple(np.ascontiguousarray(one, np.float32) for one in arrays)


def ours(method: str) -> Bank:
    """Return the engine's bank by a method, as a function of the arrays of `problem`."""

    def bank(a: Array, t: Array, w: Array, v: Array, u: Array) -> Array:
        return engine.filter_bank(engine.poles(a, t), jax.lax.complex(w, v), u, method=method)[0]

    return bank


def slopes(bank: Bank) -> Bank:
    """Return the gradient of the sum of squared outputs in every array."""
    return jax.grad(lambda *arrays: (bank(*arrays) ** 2).sum(), tuple(range(5)))


def cases(quick: bool) -> Iterator[Case]:
    """Yield forward and gradient at 4096 and 16384 steps; the associative scan runs on a slice where it needs too much.

    Args:
        quick: 4096 steps, 2 series of 8 channels.
    """
    batch, channels = (2, 8) if quick else (BATCH, CHANNELS)
    for length in (4096,) if quick else (4096, 16384):
        arrays = problem(channels, STATES, length, batch)
        shown = f"{batch} x {channels} series" if quick else ""
        part = (*(one[:4] for one in arrays[:4]), arrays[4][:1, :4])  # 4 series
        batched = (*part[:4], arrays[4][:, :4])  # where the series of a channel share work
        exact, exact_part = peers.reference_bank(*arrays), peers.reference_bank(*part)
        many, few, slice_ = batch * channels, 4, "1 x 4 series"
        forward = [
            program("associative scan (S5, LRU)", peers.associative_bank, part, units=few, exact=exact_part,
                    declared=slice_),
            program("Vandermonde grid (S4D, DLR)", peers.grid_bank, arrays, units=many, exact=exact, declared=shown),
            plain("NumPy, float64", lambda part=batched: peers.reference_bank(*part), units=4 * batch,
                  declared=f"{batch} x 4 series"),
        ]  # fmt: skip
        loop, torch = peers.compiled_loop(), peers.torch_banks()
        if loop is None:
            forward.append(absent("compiled loop (numba)"))
        else:
            step = np.exp(arrays[0].astype(float) + 1j * arrays[1].astype(float))
            inputs = [np.ascontiguousarray(one, np.float32) for one in (step.real, step.imag, *arrays[2:])]
            forward.append(
                plain("compiled loop (numba)", lambda i=inputs, f=loop: f(*i), units=many, exact=exact, declared=shown)
            )
        forward += [
            plain(name, bank(*batched), units=4 * batch, exact=exact[:, :4], declared=f"{batch} x 4 series")
            for name, bank in torch.items()
        ] or [absent("PyTorch, 1 thread")]
        forward += [
            program(f"engine: {method}", ours(method), arrays, units=many, exact=exact, declared=shown)
            for method in ("convolution", "chunked")
        ]
        yield Case("forward", STATES, length, forward)
        yield Case("gradient", STATES, length, [
            program("associative scan (S5, LRU)", slopes(peers.associative_bank), part, units=few, declared=slice_),
            program("Vandermonde grid (S4D, DLR)", slopes(peers.grid_bank), arrays, units=many, declared=shown),
            *(program(f"engine: {method}", slopes(ours(method)), arrays, units=many, declared=shown)
              for method in ("convolution", "chunked")),
        ])  # fmt: skip


def shift_cases(quick: bool) -> Iterator[Case]:
    """Yield the kernels of DLR's Shift task, forward and gradient, and the memory of a training step at growing N.

    The grid is written both ways: for every channel on its own (as S4D does, whose channels have poles of their own),
    and once for all channels that share poles.

    Args:
        quick: 2 channels instead of 8, 8192 steps and 1024 modes.
    """
    channels, states, length = (2, 1024, 8192) if quick else (8, 4096, 65536)
    declared = f"{channels} channels, {states} modes, {length} steps" if quick else ""
    rng = np.random.default_rng(0)
    a, t = np.full(states, -5e-6, np.float32), (2 * np.pi * np.arange(states) / states).astype(np.float32)
    w, v = (np.float32(rng.normal(size=(channels, states)) / states) for _ in range(2))
    exact = _exact_kernel(a, t, w, v, length)

    def kernel(a: Array, t: Array, w: Array, v: Array) -> Array:
        return engine.kernel(engine.poles(a, t), jax.lax.complex(w, v), length)

    def grid(a: Array, t: Array, w: Array, v: Array) -> Array:
        return peers.grid_kernel(a, t, w, v, length)

    def gradient(function: Callable) -> Callable:
        return jax.grad(lambda *arrays: (function(*arrays) ** 2).sum(), (0, 1, 2, 3))

    single = tuple(np.ascontiguousarray(one) for one in (a[None], t[None], w[:1], v[:1]))
    arrays, one_channel = (a, t, w, v), f"1 channel{declared and ', '}{declared and declared.split(', ', 1)[1]}"
    rows = [
        ("Vandermonde grid of each channel (S4D)", grid, single, 1, one_channel),
        ("Vandermonde grid, shared (DLR)", grid, arrays, channels, declared),
        ("engine: two tables", kernel, arrays, channels, declared),
    ]
    yield Case("forward", states, length, [
        program(name, function, given, units=units, exact=exact[:units], declared=cut)
        for name, function, given, units, cut in rows
    ])  # fmt: skip
    yield Case("gradient", states, length, [
        program(name, gradient(function), given, units=units, declared=cut)
        for name, function, given, units, cut in rows
    ])  # fmt: skip
    for modes in (64, 512, 4096):
        yield _memory(modes, length)


def _memory(states: int, length: int) -> Case:
    """Temporary memory of the gradient of one channel: by the states of every step, and by the kernel."""
    shapes = [jax.ShapeDtypeStruct(one, np.float32) for one in (*[(1, states)] * 4, (1, 1, length))]
    banks = {"associative scan (S5, LRU)": peers.associative_bank, "engine: scan": ours("scan"),
             "engine: convolution": ours("convolution"), "engine: chunked": ours("chunked")}  # fmt: skip
    return Case("memory of the gradient", states, length, [
        weighed(name, slopes(bank), tuple(shapes), units=1) for name, bank in banks.items()
    ])  # fmt: skip


def _exact_kernel(a: np.ndarray, t: np.ndarray, w: np.ndarray, v: np.ndarray, length: int) -> np.ndarray:
    size = 1 << (length.bit_length() // 2)
    log = a.astype(float) + 1j * t.astype(float)
    fine, coarse = (np.exp(log * k[:, None]) for k in (np.arange(size), size * np.arange(length // size)))
    weights = (w + 1j * v).astype(complex)
    return np.concatenate([((weights * one) @ fine.T).real for one in coarse], axis=-1)
