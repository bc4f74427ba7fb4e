"""The peers, written the way their users write them; and the float64 reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

# Sources: Smith et al., S5 (ICLR 2023) and Orvieto et al., LRU (ICML 2023) for the associative scan; Gu et al., S4D
# (NeurIPS 2022) and Gupta et al., DLR (2022) for the Vandermonde grid; Gu et al., S4 (ICLR 2022) for the DPLR kernel.


def _combine(one: tuple[Array, Array], two: tuple[Array, Array]) -> tuple[Array, Array]:
    return two[0] * one[0], two[0] * one[1] + two[1]


def associative_bank(a: Array, t: Array, w: Array, v: Array, u: Array) -> Array:
    """y of a bank by `jax.lax.associative_scan` over complex states, vmapped over channels and series."""
    step, weights = jnp.exp(jax.lax.complex(a, t)), jax.lax.complex(w, v)

    def channel(step: Array, weights: Array, u: Array) -> Array:
        steps = jnp.broadcast_to(step, (u.shape[0], step.shape[0]))
        driven = jnp.broadcast_to(u[:, None], steps.shape).astype(steps.dtype)
        return (jax.lax.associative_scan(_combine, (steps, driven))[1] @ weights).real

    return jax.vmap(jax.vmap(channel), in_axes=(None, None, 0))(step, weights, u)


def associative_mimo(a: Array, t: Array, b: Array, c: Array, u: Array) -> Array:
    """y of a MIMO layer, u of shape (batch, time, inputs), by the same scan; b and c complex."""
    step = jnp.exp(jax.lax.complex(a, t))

    def series(u: Array) -> Array:
        driven = jax.vmap(lambda x: b @ x.astype(b.dtype))(u)
        steps = jnp.broadcast_to(step, driven.shape)
        states = jax.lax.associative_scan(_combine, (steps, driven))[1]
        return jax.vmap(lambda x: (c @ x).real)(states)

    return jax.vmap(series)(u)


def grid_kernel(a: Array, t: Array, w: Array, v: Array, length: int) -> Array:
    """K from the whole table of powers, modes by time; poles (N,) shared or (H, N)."""
    table = jnp.exp(jax.lax.complex(a, t)[..., None] * jnp.arange(length))
    return jnp.einsum("...n,...nk->...k", jax.lax.complex(w, v), table).real


def grid_s4d(w: Array, frequency: Array, log_step: Array, b: Array, c: Array, length: int) -> Array:
    """K of S4D from its trained weights: Re lambda = -e^w, dt = e^log_step, B and C as two reals; pairs count twice."""
    poles = jax.lax.complex(-jnp.exp(w), frequency)
    log = poles * jnp.exp(log_step)[:, None]
    weights = jax.lax.complex(b[..., 0], b[..., 1]) * jax.lax.complex(c[..., 0], c[..., 1]) * jnp.expm1(log) / poles
    return 2 * jnp.einsum("hn,hnk->hk", weights, jnp.exp(log[..., None] * jnp.arange(length))).real


def grid_bank(a: Array, t: Array, w: Array, v: Array, u: Array) -> Array:
    """y by the grid kernel and an FFT convolution."""
    length = u.shape[-1]
    spectrum = jnp.fft.rfft(u, 2 * length) * jnp.fft.rfft(grid_kernel(a, t, w, v, length), 2 * length)
    return jnp.fft.irfft(spectrum, 2 * length)[..., :length]


def reference_bank(a: np.ndarray, t: np.ndarray, w: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """y in float64 by NumPy: powers from the exact products of half tables, FFT convolution."""
    a, t, w, v, u = (np.asarray(one, np.float64) for one in (a, t, w, v, u))
    length = u.shape[-1]
    size = max(1, round(length**0.5))
    log = a + 1j * t
    fine = np.exp(log[..., None] * np.arange(size))
    coarse = (w + 1j * v)[..., None] * np.exp(log[..., None] * (size * np.arange(-(-length // size))))
    kernel = np.einsum("...nq,...nr->...qr", coarse, fine, optimize=True).real
    kernel = kernel.reshape(*kernel.shape[:-2], -1)[..., :length]
    return np.fft.irfft(np.fft.rfft(u, 2 * length) * np.fft.rfft(kernel, 2 * length), 2 * length)[..., :length]


def compiled_loop() -> Callable[..., np.ndarray] | None:
    """Return the sequential loop compiled by numba, or None where numba is not installed."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(fastmath=True)
    def loop(lr, li, w, v, u):  # numba compiles plain loops over scalars best
        batch, channels, length = u.shape
        states = lr.shape[1]
        y = np.empty_like(u)
        p, q = np.zeros(states, np.float32), np.zeros(states, np.float32)
        for b in range(batch):
            for h in range(channels):
                p[:] = 0
                q[:] = 0
                for k in range(length):
                    x, total = u[b, h, k], np.float32(0)
                    for n in range(states):
                        real = lr[h, n] * p[n] - li[h, n] * q[n] + x
                        imaginary = lr[h, n] * q[n] + li[h, n] * p[n]
                        p[n], q[n] = real, imaginary
                        total += w[h, n] * real - v[h, n] * imaginary
                    y[b, h, k] = total
        return y

    return loop


def torch_banks() -> dict[str, Callable[..., Any]]:
    """Return the grid and the two-level form in PyTorch on one thread; nothing where it is not installed."""
    try:
        import torch
    except ImportError:
        return {}

    torch.set_num_threads(1)

    def grid(log: Any, weights: Any, length: int) -> Any:
        table = torch.exp(log[..., None] * torch.arange(length))
        return torch.einsum("hn,hnk->hk", weights, table).real

    def two_level(log: Any, weights: Any, length: int) -> Any:
        size = max(1, round(length**0.5))
        fine = torch.exp(log[..., None] * torch.arange(size))
        coarse = weights[..., None] * torch.exp(log[..., None] * (size * torch.arange(-(-length // size))))
        kernel = coarse.real.mT @ fine.real - coarse.imag.mT @ fine.imag
        return kernel.reshape(log.shape[0], -1)[:, :length]

    def bank(kernel: Callable) -> Callable[..., Any]:
        def prepared(*arrays: np.ndarray) -> Any:
            a, t, w, v, u = (torch.from_numpy(np.array(one, np.float32)) for one in arrays)

            def run() -> np.ndarray:
                length = u.shape[-1]
                response = torch.fft.rfft(kernel(torch.complex(a, t), torch.complex(w, v), length), 2 * length)
                return torch.fft.irfft(torch.fft.rfft(u, 2 * length) * response, 2 * length)[..., :length].numpy()

            return run

        return prepared

    return {"grid in PyTorch, 1 thread": bank(grid), "two tables in PyTorch, 1 thread": bank(two_level)}


def published_dplr(poles: Array, left: Array, drive: Array, readout: Array, step_size: Array, length: int) -> Array:
    """K of S4 from C~ by the Cauchy sums over all poles and all roots, with the quotient at each root as published."""
    roots = jnp.exp(-2j * jnp.pi * (jnp.arange(length) / length))

    def channel(poles: Array, left: Array, drive: Array, readout: Array, step_size: Array) -> Array:
        g, c = (2 / step_size) * ((1 - roots) / (1 + roots)), 2 / (1 + roots)

        def cauchy(terms: Array) -> Array:
            return jax.vmap(lambda g: (terms / (g - poles)).sum())(g)

        k00, k01 = cauchy(readout * drive), cauchy(readout * left)
        k10, k11 = cauchy(left.conj() * drive), cauchy(left.conj() * left)
        return jnp.fft.ifft(c * (k00 - k01 * (1 / (1 + k11)) * k10), length).real

    return jax.vmap(channel)(poles, left, drive, readout, step_size)
