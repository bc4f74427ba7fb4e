"""The device a sweep computes on, its precision and the compilation cache; nothing happens at import."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stablessm.sweeps.errors import SweepError, unknown

if TYPE_CHECKING:
    import jax

DEVICES = ("auto", "cpu", "gpu")


def choose_device(name: str) -> jax.Device:
    """Return the first of `choose_devices`."""
    return choose_devices(name)[0]


def choose_devices(name: str) -> tuple[jax.Device, ...]:
    """Return the devices to compute on, all of one kind.

    Args:
        name: "cpu", "gpu", or "auto" for JAX's own choice.

    Raises:
        SweepError: another name, or a device this machine has not.
    """
    if name not in DEVICES:
        raise SweepError(f"--device: {unknown('device', name, DEVICES)}.")
    import jax

    if name == "auto":
        return tuple(jax.local_devices())
    try:
        return tuple(jax.local_devices(backend=name))
    except RuntimeError:
        raise SweepError(f"--device {name}: JAX finds no {name} on this machine; choose auto or cpu.") from None


@contextlib.contextmanager
def computing(device: jax.Device, precision: str) -> Iterator[None]:
    """Trace, compile and run on `device` at a precision, in the calling thread only.

    Args:
        device: what `choose_device` returned.
        precision: "float32" or "float64".
    """
    import jax

    with jax.default_device(device), jax.enable_x64(precision == "float64"):
        yield


def enable_compilation_cache() -> None:
    """Keep compiled programs on disk for the next process, unless the user has set a folder of their own.

    JAX_COMPILATION_CACHE_DIR and XDG_CACHE_HOME decide the folder. A folder that cannot be written costs nothing but
    the cache: JAX then compiles anew.
    """
    import jax

    if jax.config.jax_compilation_cache_dir is None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "stablessm" / "jax"))
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def forget_programs() -> None:
    """Let go of every compiled program, so that a process that runs one sweep after another does not grow.

    They stay in the compilation cache on disk. What the compiler has freed goes back to the system, where its C library
    can be asked for that. Does nothing where JAX has not been loaded.
    """
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        with contextlib.suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).malloc_trim(0)
