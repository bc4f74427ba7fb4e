"""Mu-law companding: sound in few levels, fine near silence and coarse where it is loud.

F(x) = sgn(x) ln(1 + mu |x|) / ln(1 + mu) of x in [-1, 1], rounded to mu + 1 levels; the continuous law, not the
piecewise one of telephone exchanges.

References: ITU-T G.711 (1988); van den Oord et al., WaveNet (2016), section 2.2.
"""

from __future__ import annotations

import numpy as np

LEVELS = 256


def mu_law(sound: np.ndarray, levels: int = LEVELS) -> np.ndarray:
    """Return the level of each sample, int32 in 0 to levels - 1.

    Args:
        sound: values in [-1, 1]; what is beyond is cut.
        levels: their number, at least 2.

    Example:
        >>> mu_law(np.array([-1.0, 0.0, 1.0])).tolist()
        [0, 128, 255]
    """
    mu = levels - 1
    cut = np.clip(np.asarray(sound, np.float64), -1, 1)
    squeezed = np.sign(cut) * np.log1p(mu * np.abs(cut)) / np.log1p(mu)
    return np.floor((squeezed + 1) / 2 * mu + 0.5).astype(np.int32)


def from_mu_law(level: np.ndarray, levels: int = LEVELS) -> np.ndarray:
    """Return the value each level stands for, float32 in [-1, 1]; its level is that one again.

    Args:
        level: shape (...), integers in 0 to levels - 1.
        levels: as in `mu_law`.

    Example:
        >>> from_mu_law(np.array([0, 255])).tolist()
        [-1.0, 1.0]
    """
    mu = levels - 1
    squeezed = 2 * np.asarray(level, np.float64) / mu - 1
    return (np.sign(squeezed) * np.expm1(np.abs(squeezed) * np.log1p(mu)) / mu).astype(np.float32)
