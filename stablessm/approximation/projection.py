"""The best decays: variable projection over their logarithms.

For given decays the best amplitudes are linear least squares, so the error is a function of the decays alone, the norm
of r(x) = (1 - P(x)) rho with P the projection onto the modes with s = e^x. Golub and Pereyra's derivative of it: with
Phi = Q R the sampled modes, D their derivatives and a the amplitudes,

    dr/dx_i = -(1 - Q Q') D_i a_i - Q R^{-T} e_i (D_i' r).

The residual keeps its accuracy down to rounding of the target itself, where the squared error from inner products is
lost ten digits earlier. A best fit to a completely monotone target has positive amplitudes only (Braess, Nonlinear
Approximation Theory, 1986), which is not asked for here but comes out.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from stablessm.approximation.given_rates import best_amplitudes, columns
from stablessm.approximation.modes import Modes
from stablessm.approximation.products import AnyTarget, InnerProduct

_RANK = 1e-14
_EXPONENT = 52.0  # decays stay within e^-52 .. e^52: slower or faster ones are constants or nothing at the nodes


def variable_projection(
    product: InnerProduct, target: AnyTarget, decay: np.ndarray, *, evaluations: int = 200, tolerance: float = 1e-6
) -> Modes:
    """Return the best fit near a start.

    Args:
        product: which errors count.
        target: rho.
        decay: s > 0 to start from, shape (modes,).
        evaluations: most evaluations of the residual.
        tolerance: relative change of the squared error at which to stop.

    Example:
        >>> from stablessm.targets import TARGETS
        >>> variable_projection(InnerProduct("continuous"), TARGETS["exponential"], np.array([0.3])).decay.round(6)
        array([1.])
    """
    times, _, _ = product.samples(target)
    known: dict[bytes, tuple[np.ndarray, ...]] = {}  # the derivative is asked for where the residual was

    def factored(x: np.ndarray) -> tuple[np.ndarray, ...]:
        if x.tobytes() not in known:
            matrix, _, wanted = columns(product, target, np.exp(np.clip(x, -_EXPONENT, _EXPONENT)))
            orthogonal, triangular = np.linalg.qr(matrix)
            known.clear()
            rest = wanted - orthogonal @ (orthogonal.T @ wanted)
            known[x.tobytes()] = matrix, wanted, orthogonal, triangular, rest
        return known[x.tobytes()]

    start = np.log(np.sort(decay))
    scale = max(np.linalg.norm(factored(start)[-1]), np.finfo(float).tiny)  # so that tolerances are relative

    def residual(x: np.ndarray) -> np.ndarray:
        return factored(x)[-1] / scale

    def derivative(x: np.ndarray) -> np.ndarray:
        matrix, wanted, orthogonal, triangular, rest = factored(x)
        amplitude = np.linalg.lstsq(triangular, orthogonal.T @ wanted, rcond=_RANK)[0]
        slopes = -np.multiply.outer(times, np.exp(np.clip(x, -_EXPONENT, _EXPONENT))) * matrix
        outside = slopes - orthogonal @ (orthogonal.T @ slopes)
        inside = orthogonal @ np.linalg.lstsq(triangular.T, np.diag(slopes.T @ rest), rcond=_RANK)[0]
        return -(outside * amplitude + inside) / scale

    found = least_squares(
        residual, start, derivative, method="lm", ftol=tolerance, xtol=1e-8, gtol=1e-14, max_nfev=evaluations
    )
    return best_amplitudes(product, target, np.exp(np.clip(found.x, -_EXPONENT, _EXPONENT)))
