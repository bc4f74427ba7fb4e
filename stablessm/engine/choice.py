"""The one place where algorithms are chosen: by number of modes, length, gradient or not, and platform.

Every chosen method can be overridden by name (`method=`). The rule rests on paired measurements (README.md here).
"""

from __future__ import annotations

CHOICES = ("scan", "chunked", "convolution")


def choose(states: int, length: int, *, gradient: bool, platform: str) -> str:
    """Return how a bank of `states` modes a channel is best run over `length` steps.

    | platform | choice |
    |---|---|
    | cpu, forward | "chunked" below 32 modes, and below 90 from 4096 steps on; else "convolution" |
    | cpu, gradient | "chunked" up to 16 modes; else "convolution" |
    | others | "convolution" from 64 modes on; "chunked" for fewer |

    Args:
        states: N, modes a channel.
        length: L, steps.
        gradient: whether derivatives are taken.
        platform: "cpu", "gpu" or "tpu", as `jax.default_backend()` says.

    Returns:
        A method of `filter_bank`.

    Raises:
        ValueError: sizes that are not positive (states) or negative (length).

    Example:
        >>> choose(64, 16384, gradient=False, platform="cpu")
        'chunked'
    """
    if states < 1 or length < 0:
        raise ValueError(f"`states` must be at least 1 and `length` at least 0, but got {states} and {length}")
    if platform != "cpu":
        return "convolution" if states >= 64 else "chunked"
    if gradient:
        return "chunked" if states <= 16 else "convolution"
    return "chunked" if states < 32 or (states < 90 and length >= 4096) else "convolution"


def choose_recurrence(states: int, length: int, *, platform: str | None = None) -> str:
    """Return how states are best run where they are wanted themselves: a method of `recur`."""
    if platform is None:
        import jax

        platform = jax.default_backend()
    return "scan" if platform == "cpu" else "associative"
