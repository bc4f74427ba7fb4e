"""Partial results of one measurement, from several machines, joined into one store and dataset."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stablessm import datasets
from stablessm.sweeps import stores
from stablessm.sweeps.assemble import assemble
from stablessm.sweeps.carry import Part, part_of_dataset, part_of_store
from stablessm.sweeps.declarations import load_spec, spec_from_json, stored_text
from stablessm.sweeps.entries import Entry
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.folders import check
from stablessm.sweeps.growth import grown, key, places_in
from stablessm.sweeps.layout import Layout, join_coordinates
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.provenance import provenance
from stablessm.sweeps.resume import variables
from stablessm.sweeps.spec import Spec, difference

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement


class Merged(NamedTuple):
    """What joining came to.

    Attributes:
        path: the netCDF file.
        cells: cells of the joined sweep.
        done: how many of them are done.
    """

    path: Path
    cells: int
    done: int


def merge(
    sources: Sequence[str | Path], *, out: str | Path, measurements: Mapping[str, Measurement] | None = None
) -> Merged:
    """Join stores (.zarr) and datasets (.nc) of one measurement with equal settings; what nobody did stays pending.

    Args:
        sources: two or more.
        out: folder of the results; what is there is not replaced.
        measurements: the registry; the package's own by default.

    Raises:
        StoreError: a source is damaged, in use or of another sweep, two of them hold different values of one cell, or
            there is a sweep of this name in the folder.
        DatasetError: a file is damaged or foreign.
        SpecError: a source that this version cannot read.
        WriteError: the disk refuses; nothing is left behind.
    """
    if measurements is None:
        from stablessm.measurements import MEASUREMENTS as measurements
    if len(sources) < 2:
        raise StoreError("merge joins two or more stores or datasets, but got one.")
    parts = [_part(Path(source), measurements) for source in sources]
    spec = joined([part.plan.spec for part in parts], [part.where for part in parts], measurements)
    where = check(out)
    path, folder = where.dataset(spec.name, spec.scale), where.store(spec.name, spec.scale)
    for there in (path, folder):
        if there.exists() or there.is_symlink():
            raise StoreError(f"'{there}' is there already; give another --out.")
    stored = variables(spec, measurements)
    layout = Layout(stored, join_coordinates([part.layout.coordinates for part in parts], stored))
    plan = grown(spec, [part.plan for part in parts])
    store = stores.create(folder, plan, layout, parts)
    assembled = assemble(plan, store, measurements[spec.measurement])
    assembled.save(path)
    made_by = {part.where: _provenance(Path(part.where)) for part in parts}
    datasets.save_provenance(path, provenance(digest=spec.digest, cells=plan.cells, merged=made_by))
    return Merged(path, plan.cells, assembled.done)


def joined(specs: Sequence[Spec], names: Sequence[str], measurements: Mapping[str, Measurement]) -> Spec:
    """Return the sweep that holds all of several.

    Numbers that every one of them has in ascending order are so in the whole; other values come in the order in which
    they are met. Work items are as large as the largest of theirs.

    Args:
        specs: the several.
        names: of their files, for a sentence.
        measurements: the registry.

    Raises:
        StoreError: they differ in more than the values of their axes.
    """
    first = specs[0]
    for other, name in zip(specs[1:], names[1:], strict=True):
        lines = [
            line for line in difference(first.document(), other.document()) if not line.startswith(("axes.", "chunk"))
        ]
        lines += [f"the axis {axis}" for axis in sorted(set(first.axes) ^ set(other.axes))]
        if lines:
            raise StoreError(f"'{names[0]}' and '{name}' are no parts of one sweep: they differ in {'; '.join(lines)}.")
    document = first.document()
    for axis in first.axes:
        values = {key(value): value for spec in specs for value in spec.axes[axis]}
        ascending = all(_is_ascending(spec.axes[axis]) for spec in specs)
        united = sorted(values.values()) if ascending else list(values.values())
        document["axes"][axis] = [one.table() if isinstance(one, Entry) else one for one in united]
    document["chunk"] = max(spec.chunk for spec in specs)
    spec = load_spec(document, measurements=measurements)
    assert all(places_in(one, spec) is not None for one in specs)
    return spec


def _is_ascending(values: Sequence[Any]) -> bool:
    numbers = all(isinstance(value, int | float) for value in values)
    return numbers and all(a < b for a, b in pairwise(values))


def _part(path: Path, measurements: Mapping[str, Measurement]) -> Part:
    spec = spec_from_json(stored_text(path), measurements=measurements)
    if os.path.isdir(path):
        store = stores.open_store(path, spec, variables(spec, measurements))
        with stores.locked(path):
            store.mend()
        return part_of_store(store)
    return part_of_dataset(str(path), datasets.load(path), Plan(spec), variables(spec, measurements))


def _provenance(path: Path) -> Any:
    try:
        return json.loads(path.with_suffix(".provenance.json").read_text())
    except (OSError, ValueError):
        return None
