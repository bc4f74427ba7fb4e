r"""What the state of HiPPO-LegS remembers: the input so far as Legendre coefficients.

*Scaled*, dx/dt = (A x + B u)/t, the state is at every t the projection of all that was, all times weighing alike:

    x_n(t) = 1/t int_0^t u(s) sqrt(2n+1) P_n(2s/t - 1) ds,    u(s) ~ sum_n x_n sqrt(2n+1) P_n(2s/t - 1).

*Fixed*, dx/dt = (A x + B u)/T, as S4 starts, the past is seen through z = e^{-(t-s)/T}, the last T closely and what is
older hardly at all: the kernel of state n is sqrt(2n+1) e^{-a} P_n(2 e^{-a} - 1) at the age a = (t - s)/T, and

    u(s) ~ sum_n x_n sqrt(2n+1) P_n(2 e^{-a} - 1).

Both are exact here for an input that is held over each step: in ln t the scaled system is a fixed one.

References: Gu et al., HiPPO (NeurIPS 2020), section 3 and appendix D.3; How to train your HiPPO (ICLR 2023).
"""

from __future__ import annotations

import numpy as np

from stablessm.layers.hippo import legs
from stablessm.s4.discretisation import System, zero_order_hold


def basis(states: int, places: np.ndarray) -> np.ndarray:
    """Return sqrt(2n+1) P_n(2z - 1) for n < states, orthonormal on [0, 1], shape (states, places).

    Args:
        states: N, at least 1.
        places: z in [0, 1].

    Example:
        >>> basis(2, np.array([0.0, 1.0])).round(6).tolist()
        [[1.0, 1.0], [-1.732051, 1.732051]]
    """
    values = np.polynomial.legendre.legvander(2 * np.asarray(places) - 1, states - 1)
    return (values * np.sqrt(2 * np.arange(states) + 1)).T


def scaled_states(inputs: np.ndarray, states: int) -> np.ndarray:
    """Return the state of the scaled system after each step, shape (steps, states).

    Args:
        inputs: u over each step of one length, shape (steps,).
        states: N, at least 1.
    """
    matrix, drive = legs(states)
    found = np.zeros((len(inputs), states))
    for k, value in enumerate(inputs):
        if k == 0:  # the time so far has no extent: one value is all there is, a polynomial of degree 0
            found[0, 0] = value
            continue
        one = zero_order_hold(System(matrix, drive, drive), np.log1p(1 / k))
        found[k] = one.matrix @ found[k - 1] + one.drive * value
    return found


def fixed_states(inputs: np.ndarray, states: int, window: float) -> np.ndarray:
    """Return the state of the fixed system after each step, shape (steps, states).

    Args:
        inputs: u over each step, shape (steps,).
        states: N, at least 1.
        window: T, in steps.
    """
    matrix, drive = legs(states)
    one = zero_order_hold(System(matrix, drive, drive), 1 / window)
    found = np.zeros((len(inputs), states))
    for k, value in enumerate(inputs):
        found[k] = one.matrix @ found[k - 1] + one.drive * value if k else one.drive * value
    return found


def scaled_places(times: np.ndarray, now: float) -> np.ndarray:
    """Return z = s/t of each time s up to now, t.

    Args:
        times: s in [0, t].
        now: t > 0.
    """
    return np.asarray(times) / now


def fixed_places(times: np.ndarray, now: float, window: float) -> np.ndarray:
    """Return z = e^{-(t - s)/T} of each time s up to now, t.

    Args:
        times: s, at most t.
        now: t.
        window: T, in the same units.
    """
    return np.exp((np.asarray(times) - now) / window)


def reconstruction(state: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return what a state says the input was at each place z, shape (places,).

    Args:
        state: x, shape (states,).
        places: z in [0, 1], from `scaled_places` or `fixed_places`.
    """
    return np.asarray(state) @ basis(len(state), places)
