"""Kernels of diagonal plus low-rank systems A = Lambda - P Q*, discretised by the bilinear rule with step h.

K_l = Re C Abar^l Bbar with Abar = (2/h - A)^-1 (2/h + A) and Bbar = 2 (2/h - A)^-1 B. Two ways to it:

*Cauchy.* The generating function at the roots of unity z = e^(-i phi). With s, c = sin, cos(phi / 2) and
(1 - z)/(1 + z) = i s / c, the usual sums k(v) = sum_n v_n / (g - lambda_n) are c m(v), where for a pair of conjugate
poles (in units of 2/h)

    m(v) = (2 Re(v) i s - 2 Re(v conj lambda) c) / (|lambda|^2 c^2 - s^2 - 2 i Re(lambda) s c),

    K^(z) = e^(i phi / 2) (m00 - c m01 m10 / (1 + c m11)):

everything is multiplied through by (1 + z), so that nothing happens at z = -1; half the pairs and half the roots are
enough; and the sums over poles are one real product. It needs C~ = C (I - Abar^L), not C.

*Dense.* Abar as a real matrix (Woodbury: no matrix is inverted) and two tables of vectors, Abar^r Bbar and C Abar^(qT),
filled by doubling. It takes C itself, for any length.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Complex, Float

from stablessm.engine.length import whole

METHODS = ("auto", "cauchy", "dense")
_EXACT = jax.lax.Precision.HIGHEST
_BLOCK = 2**22  # bytes of Cauchy tables at a time


class LowRankSystem(NamedTuple):
    """A continuous-time system, in the basis where its normal part is diagonal; channels on the leading axis.

    Attributes:
        eigenvalues: Lambda, shape (channels, states).
        left: P.
        right: Q, unconjugated; P itself where the two are tied.
        drive: B.
        readout: C, unconjugated: y = Re C x.
        step_size: h, shape (channels,).
    """

    eigenvalues: Complex[Array, "channels states"]
    left: Complex[Array, "channels states"]
    right: Complex[Array, "channels states"]
    drive: Complex[Array, "channels states"]
    readout: Complex[Array, "channels states"]
    step_size: Float[Array, " channels"]


def dplr_kernel(
    system: LowRankSystem,
    length: int,
    *,
    pairs: bool,
    truncated: bool = False,
    method: str = "auto",
    rematerialise: bool = False,
) -> Float[Array, "channels {length}"]:
    """Return the kernel of a diagonal plus low-rank system; infinite where that of an unstable one overflows.

    Args:
        system: the arrays; real arrays are taken as complex.
        length: L, at least 0.
        pairs: whether each state stands for itself and its conjugate, with conjugate P, Q, B and C.
        truncated: whether `readout` is C~ = C (I - Abar^L), tied to this length, instead of C.
        method: "cauchy", "dense", or "auto": cauchy for C~ below 4096 steps, dense otherwise, for then C need not be
            converted (which costs the powers of Abar that the dense form is made of).
        rematerialise: recompute the tables in the backward pass instead of keeping them.

    Raises:
        ValueError: an unknown method, or a length that is none.

    Example:
        >>> one = LowRankSystem(*(jnp.full((1, 1), v) for v in (-0.5, 0.5**0.5, 0.5**0.5, 1.0, 1.0)), jnp.full(1, 0.5))
        >>> dplr_kernel(one, 3, pairs=False).round(4).tolist()
        [[0.4000000059604645, 0.23999999463558197, 0.14399999380111694]]
    """
    if method not in METHODS:
        raise ValueError(f"`method` of a kernel must be one of {', '.join(METHODS)}, but got {method!r}")
    length = whole(length)
    kind = jnp.result_type(system.step_size.dtype, jnp.complex64)
    system = LowRankSystem(*(one.astype(kind) for one in system[:-1]), system.step_size)
    if length == 0 or system.eigenvalues.size == 0:
        return jnp.zeros((system.eigenvalues.shape[0], length), system.step_size.dtype)
    if method == "auto":
        method = "cauchy" if truncated and length < 4096 else "dense"

    def compute(system: LowRankSystem) -> Array:
        if method == "dense":
            return _dense(system, length, pairs, truncated)
        if not truncated:
            matrix, _, row = bilinear(system, pairs)
            system = system._replace(
                readout=_complex_row(row - _times_power(row[:, None], matrix, length)[:, 0], pairs)
            )
        return _cauchy(system, length) if not pairs else _cauchy_pairs(system, length)

    kernel = (jax.checkpoint(compute) if rematerialise else compute)(system)
    return jnp.where(jnp.isnan(kernel), jnp.inf, kernel)  # what overflowed on the way is a difference of infinities


def bilinear(system: LowRankSystem, pairs: bool) -> tuple[Array, Array, Array]:
    """Return Abar (H, 2N, 2N), Bbar (H, 2N) and the readout (H, 2N) on real and imaginary parts one after the other.

    Abar = -1 + (4/h) R with R = (2/h - A)^-1 = D - D P (1 + Q* D P)^-1 Q* D, D = 1 / (2/h - Lambda): diagonal plus rank
    one again. For pairs the inner products run over both members: twice the real part.
    """
    inverse = 1 / (2 / system.step_size[:, None] - system.eigenvalues)
    scale = (4 / system.step_size)[:, None]
    left, right = inverse * system.left, inverse * system.right.conj()

    def inner(row: Array, column: Array) -> Array:
        total = (row * column).sum(-1, keepdims=True)
        return 2 * total.real if pairs else total

    left = left / (1 + inner(system.right.conj(), left))
    drive = 2 * (inverse * system.drive - left * inner(right, system.drive))
    diagonal = scale * inverse - 1
    eye = jnp.eye(diagonal.shape[-1], dtype=system.step_size.dtype)
    real, imaginary = diagonal.real[..., None] * eye, diagonal.imag[..., None] * eye
    if pairs:
        column = jnp.concatenate([left.real, left.imag], axis=-1) * scale
        row = 2 * jnp.concatenate([right.real, -right.imag], axis=-1)
        update = column[..., :, None] * row[..., None, :]
    else:
        outer = scale[..., None] * left[..., :, None] * right[..., None, :]
        update = _block(outer.real, outer.imag)
    factor = 2 if pairs else 1
    readout = factor * jnp.concatenate([system.readout.real, -system.readout.imag], axis=-1)
    return _block(real, imaginary) - update, jnp.concatenate([drive.real, drive.imag], axis=-1), readout


def _block(real: Array, imaginary: Array) -> Array:
    top = jnp.concatenate([real, -imaginary], axis=-1)
    return jnp.concatenate([top, jnp.concatenate([imaginary, real], axis=-1)], axis=-2)


def _complex_row(row: Array, pairs: bool) -> Array:
    """The complex readout that a real row of `bilinear` stands for."""
    real, imaginary = jnp.split(row / (2 if pairs else 1), 2, axis=-1)
    return jax.lax.complex(real, -imaginary)


def _multiply(one: Array, two: Array) -> Array:
    return jnp.matmul(one, two, precision=_EXACT)


def _times_power(row: Array, matrix: Array, exponent: int) -> Array:
    """rows M^exponent, by the bits of the exponent."""
    while exponent:
        row = _multiply(row, matrix) if exponent & 1 else row
        exponent >>= 1
        matrix = _multiply(matrix, matrix) if exponent else matrix
    return row


def _dense(system: LowRankSystem, length: int, pairs: bool, truncated: bool) -> Array:
    matrix, column, row = bilinear(system, pairs)
    if truncated:  # C = C~ (I - Abar^L)^-1
        eye = jnp.eye(matrix.shape[-1], dtype=row.dtype)
        left = eye - _times_power(jnp.broadcast_to(eye, matrix.shape), matrix, length)
        row = jnp.linalg.solve(left.mT, row[..., None])[..., 0]
    columns, fine = column[..., None], 1
    while fine * fine < length:
        columns, fine = jnp.concatenate([columns, _multiply(matrix, columns)], axis=-1), 2 * fine
        matrix = _multiply(matrix, matrix)
    rows, coarse = row[..., None, :], 1
    while coarse * fine < length:
        rows, coarse = jnp.concatenate([rows, _multiply(rows, matrix)], axis=-2), 2 * coarse
        matrix = _multiply(matrix, matrix) if coarse * fine < length else matrix
    return _multiply(rows, columns).reshape(row.shape[0], -1)[:, :length]


def _half_angles(length: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    half = np.pi * np.arange(length // 2 + 1) / length
    return np.sin(half).astype(dtype), np.cos(half).astype(dtype)


def _cauchy_pairs(system: LowRankSystem, length: int) -> Array:
    """Half the pairs, half the roots, as one real product; a few channels at a time."""
    sine, cosine = (jnp.asarray(one)[:, None] for one in _half_angles(length, system.step_size.dtype))

    def channel(one: LowRankSystem) -> Array:
        half_step = one.step_size / 2
        poles = half_step * one.eigenvalues
        products = [
            one.readout * one.drive, one.readout * one.left, one.right.conj() * one.drive, one.right.conj() * one.left
        ]  # fmt: skip
        terms = jnp.stack(products)  # (4, N)
        plain, turned = 2 * half_step * terms.real, 2 * half_step * (terms * poles.conj()).real
        upper = jnp.abs(poles) ** 2 * cosine**2 - sine**2
        lower = -2 * poles.real * sine * cosine
        square = 1 / (upper**2 + lower**2)
        weights = jnp.concatenate([plain, turned]).T  # (N, 8)
        sums = [jnp.matmul(table * square, weights, precision=_EXACT) for table in (upper, lower)]  # (roots, 8)
        (a, d), (b, e) = ((one[:, :4], one[:, 4:]) for one in sums)
        m = jax.lax.complex(sine * b - cosine * d, sine * a + cosine * e)
        root = jax.lax.complex(cosine, sine)[:, 0]
        return root * (m[:, 0] - cosine[:, 0] * m[:, 1] * m[:, 2] / (1 + cosine[:, 0] * m[:, 3]))

    size = 2 * system.eigenvalues.shape[-1] * sine.size * system.step_size.dtype.itemsize
    group = max(1, min(system.step_size.size, _BLOCK // size))
    return jnp.fft.irfft(jax.lax.map(channel, system, batch_size=group), length)


def _cauchy(system: LowRankSystem, length: int) -> Array:
    """All roots and all poles in complex numbers, for systems that do not come in pairs."""
    half = np.pi * np.arange(length) / length
    sine, cosine = (jnp.asarray(one, system.step_size.dtype) for one in (np.sin(half), np.cos(half)))

    def channel(one: LowRankSystem) -> Array:
        half_step = one.step_size / 2
        poles = half_step * one.eigenvalues
        inverse = half_step / (1j * sine[:, None] - cosine[:, None] * poles)
        m00, m01, m10, m11 = (
            inverse @ (row * column)
            for row in (one.readout, one.right.conj()) for column in (one.drive, one.left)
        )  # fmt: skip
        return jax.lax.complex(cosine, sine) * (m00 - cosine * m01 * m10 / (1 + cosine * m11))

    return jnp.fft.ifft(jax.vmap(channel)(system)).real
