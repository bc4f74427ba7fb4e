"""What an installation stands on: versions, what optional packages are there, devices."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_OF_DEVELOPERS = ("test",)
_PROGRAMS = {"ffmpeg": "writes figures that move as MP4 (GIF needs nothing)", "npm": "fetches some data sets"}


class Part(NamedTuple):
    """Something an installation may have.

    Attributes:
        name: of a package, a program or a device.
        found: its version or place; None where it is not there.
        serves: what it is for, or how to get it.
    """

    name: str
    found: str | None
    serves: str


def packages() -> list[Part]:
    """Return the packages that stablessm needs, with their versions."""
    return [Part(name, _version(name), "") for name, extra in _required() if extra is None]


def extras() -> list[Part]:
    """Return the packages and programs that it makes use of where they are there."""
    found = [
        Part(name, _version(name), f'pip install "stablessm[{extra}]"')
        for name, extra in _required()
        if extra is not None and extra not in _OF_DEVELOPERS
    ]
    return found + [Part(name, shutil.which(name), serves) for name, serves in _PROGRAMS.items()]


def devices() -> list[Part]:
    """Return the devices JAX computes on, the one it takes by default first."""
    import jax

    return [Part(f"{one.platform}:{one.id}", one.device_kind, "") for one in jax.local_devices()]


def _required() -> list[tuple[str, str | None]]:
    """(package, extra that asks for it), each once for every extra."""
    asked = []
    for line in requires("stablessm") or []:
        name, extra = _NAME.match(line), _EXTRA.search(line)
        if name:
            asked.append((name[0], extra[1] if extra else None))
    return list(dict.fromkeys(asked))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
