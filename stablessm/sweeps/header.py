"""The header of a store, `sweep.json`: which sweep it is of and how it is laid out, checked whole when it is read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from stablessm.measurements.base import Variable
from stablessm.sweeps.disk import is_refusal, named
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.layout import Layout
from stablessm.sweeps.plan import Plan

FORMAT = 1
HEADER = "sweep.json"


class Header(BaseModel):
    """What `sweep.json` of a store says.

    Attributes:
        format: of the store.
        spec: `Spec.document()` of its sweep.
        digest: `Spec.digest` of it.
        variables: the tables of its variables.
        coordinates: of each inner dimension, the NumPy dtype and the values.
        earlier: `Plan.earlier` of it.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal[1]
    spec: dict[str, Any]
    digest: str
    variables: dict[str, Any]
    coordinates: dict[str, list[Any]]
    earlier: list[dict[str, list[int]]] = []


def header_of(plan: Plan, layout: Layout) -> Header:
    """Return the header of a sweep's store."""
    spec = plan.spec
    return Header(
        format=FORMAT,
        spec=spec.document(),
        digest=spec.digest,
        variables=tables_of(layout.variables),
        coordinates={name: [str(v.dtype), v.tolist()] for name, v in layout.coordinates.items()},
        earlier=[{name: list(places) for name, places in grid.items()} for grid in plan.earlier],
    )


def layout_of(header: Header, variables: Mapping[str, Variable]) -> Layout:
    """Return the layout that a header describes.

    Args:
        header: of a store.
        variables: the variables it names.

    Raises:
        ValueError: coordinates that are no lists of values.
    """
    coordinates = {name: np.asarray(values, kind) for name, (kind, values) in header.coordinates.items()}
    for name, values in coordinates.items():
        if values.ndim != 1:
            raise ValueError(f"the coordinate {name} is no list of values")
    return Layout(variables, coordinates)


def tables_of(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Return the variables as JSON holds them."""
    return json.loads(json.dumps({name: dataclasses.asdict(one) for name, one in variables.items()}))


def read_header(path: Path) -> Header:
    """Return what `sweep.json` of a store says.

    Raises:
        StoreError: the folder is damaged or foreign, or may not be read.
    """
    try:
        return Header.model_validate(json.loads((path / HEADER).read_text()))
    except (OSError, ValueError, RecursionError) as error:  # pydantic's own error is a ValueError
        if is_refusal(error):
            with named(path):
                raise
        raise StoreError(
            f"'{path}' is damaged or no store of stablessm; it is not overwritten, move it away first."
        ) from None
