r"""Where the eigenvalues of a linear RNN start: two that are drawn, and the structured starts of HiPPO.

| name | decays r_n per unit time | angles a sample, where eigenvalues are complex |
|---|---|---|
| log_uniform | log-uniform between `slowest_decay` and `fastest_decay` | uniform in (0, pi) |
| uniform | uniform between them | uniform in (0, pi) |
| legs | real: (n + 1)/T, as HiPPO-LegS has -1, -2, ...; complex: 1/(2 T) | omega_n/T, of its normal part |
| lin, inv | 1/(2 T) | of S4D-Lin and S4D-Inv, over T |

T is the horizon that is fitted: HiPPO's systems remember a window of length 1 on their own clock, and this is it.
The structured starts draw nothing; seeds differ in the other weights.

References: Gu et al., HiPPO (NeurIPS 2020); Gu et al., S4D (NeurIPS 2022); Orvieto et al., LRU (ICML 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jax import Array

    from stablessm.measurements.settings import KernelFitSettings

INITIALIZATIONS: Mapping[str, str] = MappingProxyType(
    {
        "log_uniform": "decays log-uniform between the slowest and the fastest",
        "uniform": "decays uniform between the slowest and the fastest",
        "legs": "HiPPO-LegS over the horizon: its eigenvalues, or where they are complex those of its normal part",
        "lin": "S4D-Lin over the horizon, complex",
        "inv": "S4D-Inv over the horizon, complex",
    }
)
DRAWN = ("log_uniform", "uniform")
COMPLEX_ONLY = ("lin", "inv")


def drawn_decays(name: str, key: Array, width: int, settings: KernelFitSettings) -> Array:
    """Return the decays of a start that is drawn, shape (width,).

    Args:
        name: one of `DRAWN`.
        key: PRNG key.
        width: number of modes.
        settings: the slowest and the fastest decay.
    """
    from stablessm.measurements.draws import log_uniform, uniform

    low, high = settings.slowest_decay, settings.fastest_decay
    if name == "log_uniform":
        return log_uniform(key, (width,), low, high)
    return low + (high - low) * uniform(key, (width,))


def structured_modes(name: str, width: int, settings: KernelFitSettings) -> tuple[Array, Array | None]:
    """Return decays per unit time and angles a sample of a start that is not drawn, each of shape (width,).

    Args:
        name: "legs", "lin" or "inv".
        width: number of modes.
        settings: the horizon, the step size and whether eigenvalues are complex.

    Returns:
        (decays, angles): angles are None where eigenvalues are real.

    Raises:
        ValueError: "lin" or "inv" for real eigenvalues.

    Example:
        >>> from stablessm.measurements.settings import KernelFitSettings
        >>> structured_modes("legs", 3, KernelFitSettings(horizon=10))[0].tolist()
        [0.10000000149011612, 0.20000000298023224, 0.30000001192092896]
    """
    import jax.numpy as jnp
    import numpy as np

    from stablessm.layers.hippo import diagonal_eigenvalues

    dtype, window = jnp.result_type(float), settings.horizon * settings.step_size
    if not settings.has_phases:
        if name in COMPLEX_ONLY:
            raise ValueError(f"the initialization '{name}' has complex eigenvalues; set complex = true, or take 'legs'")
        return jnp.asarray((np.arange(width) + 1) / window, dtype), None
    values = diagonal_eigenvalues(name, 2 * width)
    return jnp.asarray(-values.real / window, dtype), jnp.asarray(values.imag / settings.horizon, dtype)


def decay_range(name: str, width: int, settings: KernelFitSettings) -> tuple[float, float]:
    """Return the smallest and the largest decay a start can have, per unit time.

    Args:
        name: of the initialization.
        width: number of modes.
        settings: as for the others.
    """
    if name in DRAWN:
        return settings.slowest_decay, settings.fastest_decay
    decays = structured_modes(name, width, settings)[0]
    return float(decays.min()), float(decays.max())
