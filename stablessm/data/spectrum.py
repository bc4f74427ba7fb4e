"""Long-time average spectra of recordings, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SEGMENT = 256  # samples, 32 ms at 8 kHz
BANDS = 16
_LOWEST = 100.0  # Hz: below it a voice has nothing
_FLOOR = 1e-6  # of the largest band


def average_spectrum(sounds: Iterable[np.ndarray], rate: int, segment: int = SEGMENT) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean power over all segments of all sounds: half overlapping, Hann-windowed.

    Args:
        sounds: values, shape (time,) each; the last segment of each is filled up with zeros.
        rate: samples a second.
        segment: samples of a segment.

    Returns:
        (frequency in Hz, power in squared units of the sounds per Hz), both of shape (segment / 2 + 1,).

    Raises:
        ValueError: there is no sample.

    References: Welch, The use of fast Fourier transform for the estimation of power spectra (1967).
    """
    window = np.hanning(segment + 1)[:-1]
    parts = [_segments(np.asarray(sound, np.float64), segment) for sound in sounds if len(sound)]
    if not parts:
        raise ValueError("a spectrum needs at least one sample")
    whole = np.concatenate(parts)
    power = np.square(np.abs(np.fft.rfft(whole * window, axis=1))).mean(0)
    power[1:-1] *= 2  # both signs of a frequency
    return np.fft.rfftfreq(segment, 1 / rate), power / (rate * np.square(window).sum())


def spectral_distance(frequency: np.ndarray, one: np.ndarray, two: np.ndarray) -> float:
    """Return the root mean square difference of two spectra in dB, over bands of equal width in log frequency.

    Both are brought to the same total power first: loudness is no part of it.

    Args:
        frequency: in Hz.
        one: power at each, shape (frequencies,).
        two: likewise.

    Example:
        >>> frequency = np.linspace(0, 4000, 129)
        >>> spectral_distance(frequency, np.ones(129), 7 * np.ones(129))
        0.0
    """
    edges = np.geomspace(_LOWEST, frequency[-1], BANDS + 1)
    bands = np.searchsorted(edges, frequency, "right") - 1
    bands[-1] = BANDS - 1
    there = [band for band in range(BANDS) if (bands == band).any()]

    def levels(power: np.ndarray) -> np.ndarray:
        shares = np.array([power[bands == band].mean() for band in there])
        return 10 * np.log10(np.maximum(shares / max(shares.sum(), 1e-300), _FLOOR))

    difference = levels(np.asarray(one, np.float64)) - levels(np.asarray(two, np.float64))
    return float(np.sqrt(np.mean(difference**2)))


def _segments(sound: np.ndarray, segment: int) -> np.ndarray:
    hop = segment // 2
    count = max(1, -(-(len(sound) - segment) // hop) + 1)
    padded = np.pad(sound, (0, max(0, (count - 1) * hop + segment - len(sound))))
    return np.stack([padded[start * hop : start * hop + segment] for start in range(count)])
