"""`stablessm run gradient_ratio --weights FILE.npz`: the measurement on weights and gradients of the user's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from stablessm.sweeps.spec import Spec


def measure_weights(spec: Spec, given: Sequence[str], *, fresh: bool, out: Path | None) -> None:
    """Write the dataset of the user's own weights where that of the experiment goes; analyse and draw take it there.

    Args:
        spec: an experiment of the measurement `gradient_ratio`.
        given: "FILE.npz" or "LABEL=FILE.npz" each; a label given again is another run of it.
        fresh: True to replace another dataset there.
        out: folder of the results.

    Raises:
        BadParameter: another measurement.
        WeightsError: a file that cannot be used.
        StoreError: another dataset is there.
        DatasetError: a file there is damaged or foreign.
    """
    from stablessm import datasets
    from stablessm.cli.pipeline import writing
    from stablessm.measurements.own_weights import ratios_of, read_weights
    from stablessm.sweeps import stores
    from stablessm.sweeps.errors import StoreError
    from stablessm.sweeps.places import places

    if spec.measurement != "gradient_ratio":
        raise typer.BadParameter(
            f"--weights goes with the measurement 'gradient_ratio', but {spec.name!r} is of {spec.measurement!r}"
        )
    runs: dict[str, list[object]] = {}
    files = []
    for one in given:
        label, path = _split(one)
        runs.setdefault(label, []).append(read_weights(path))
        files.append({"label": label, "file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    found = ratios_of(runs)
    found.attrs["weights"] = files
    where = places(out)
    path, folder = where.dataset(spec.name, spec.scale), where.store(spec.name, spec.scale)
    datasets.refuse_foreign(path)
    if path.exists() and not fresh:
        if datasets.load(path).attrs.get("weights") == files:
            typer.echo(f"{path} is complete already; nothing to run (--fresh runs it again)")
            return
        raise StoreError(f"'{path}' holds something else: give --fresh to replace it, or --out for another folder.")
    if folder.exists():
        stores.remove(folder)
    with writing():
        datasets.save(found, path)
    path.with_suffix(".provenance.json").unlink(missing_ok=True)
    typer.echo(f"saved {path}")


def _split(text: str) -> tuple[str, Path]:
    """Return label and path; without a label, the file's name is one."""
    label, equals, path = text.partition("=")
    if not equals or "/" in label:
        return Path(text).stem, Path(text)
    if not label.strip() or not path.strip():
        raise typer.BadParameter(f"--weights expects FILE.npz or LABEL=FILE.npz, but got {text!r}")
    return label.strip(), Path(path.strip())
