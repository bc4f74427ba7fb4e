"""Packages that some formats need and that are not installed with stablessm itself."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from stablessm.data.registry import DataError


def needed(module: str, purpose: str) -> ModuleType:
    """Return a module of the extra `data`.

    Args:
        module: its name.
        purpose: what needs it, for the sentence.

    Raises:
        DataError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = {"PIL.Image": "pillow"}.get(module, module.partition(".")[0])
        raise DataError(f'{purpose} need the package {package}: pip install "stablessm[data]"') from None
