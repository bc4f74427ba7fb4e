"""What varies from run to run and therefore stays out of a dataset: commit, dates, durations, versions, device."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stablessm.sweeps import places

_PACKAGES = ("stablessm", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "sympy", "xarray", "zarr", "h5netcdf")


def provenance(**rest: Any) -> dict[str, Any]:
    """Return the commit, the versions and the machine, with whatever else is given.

    Args:
        **rest: what JSON can hold: digest, seconds, cells, device, failures.
    """
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        **rest,
    }


def commit() -> str | None:
    """Return the commit of the checkout this package runs from, "-dirty" where files differ; None without one."""
    root = places.checkout()
    if root is None:
        return None
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}  # look, and leave the index of a busy checkout alone
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=root, capture_output=True, text=True, timeout=10, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
