"""Real data from local files and installed packages, and what is generated; loaders import NumPy when they are used."""

from typing import Any as _Any

from stablessm.data.catalogue import DATA_SETS as DATA_SETS
from stablessm.data.registry import DataError as DataError
from stablessm.data.registry import DataSet as DataSet


def __getattr__(name: str) -> _Any:
    if name == "load":
        from stablessm.data.loading import load

        return load
    raise AttributeError(f"module 'stablessm.data' has no attribute {name!r}")
