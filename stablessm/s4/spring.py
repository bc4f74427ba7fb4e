r"""A mass on a spring: m y'' = u - b y' - k y, as a system of the states y and y'.

Units are those one likes: seconds, metres and kilograms, say. The published picture has m = 1, k = 40, b = 5.
"""

from __future__ import annotations

import numpy as np

from stablessm.s4.discretisation import System


def spring(*, stiffness: float = 40.0, damping: float = 5.0, mass: float = 1.0) -> System:
    """Return the system whose input is a force and whose output is the position.

    Args:
        stiffness: k, force per distance.
        damping: b, force per speed.
        mass: m > 0.

    Example:
        >>> spring().matrix.tolist()
        [[0.0, 1.0], [-40.0, -5.0]]

    References: Rush and Karamcheti, The Annotated S4.
    """
    matrix = np.array([[0.0, 1.0], [-stiffness / mass, -damping / mass]])
    return System(matrix, np.array([0.0, 1 / mass]), np.array([1.0, 0.0]))


def pulses(time: np.ndarray, *, frequency: float = 10.0, threshold: float = 0.5) -> np.ndarray:
    """Return a force that pushes where a sine is above a threshold, and is 0 elsewhere.

    Args:
        time: shape (steps,).
        frequency: of the sine, radians per unit time.
        threshold: between -1 and 1.
    """
    wave = np.sin(frequency * np.asarray(time))
    return np.where(wave > threshold, wave, 0.0)
