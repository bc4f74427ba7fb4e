"""`stablessm doctor`: what this installation stands on, and whether the laws hold on this machine."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder


def doctor(
    data: DataFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say what is installed, which devices and data sets are there, and try the laws; 1 where one does not hold.

    Examples:

        stablessm doctor

        stablessm doctor --json
    """
    use_data_folder(data)
    found = _installed()
    if not as_json:
        _print(found)
    laws = []
    for one in _laws():
        laws.append(one)
        if not as_json:
            state = "holds" if one["holds"] else "DOES NOT HOLD"
            typer.echo(
                f"  {state}: {one['name']} (error {one['error']}, allowed {one['allowed']:g}, {one['seconds']} s)"
            )
    if as_json:
        typer.echo(json.dumps({"schema": 1, **found, "laws": laws}, indent=1, ensure_ascii=False))
    broken = [one["name"] for one in laws if not one["holds"]]
    if broken:
        typer.echo(f"Error: {len(broken)} of {len(laws)} laws do not hold here: {'; '.join(broken)}.", err=True)
        raise typer.Exit(1)


def _installed() -> dict[str, Any]:
    import os
    import platform

    import jax

    from stablessm import __version__
    from stablessm.data.catalogue import DATA_SETS
    from stablessm.data.places import look
    from stablessm.doctor import devices, extras, packages
    from stablessm.sweeps.device import enable_compilation_cache

    enable_compilation_cache()
    places = {one.name: one.source or (look(one) if one.layouts else None) for one in DATA_SETS.values()}
    return {
        "stablessm": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "packages": {one.name: one.found for one in packages()},
        "optional": {one.name: {"found": one.found, "serves": one.serves} for one in extras()},
        "devices": {one.name: one.found for one in devices()},
        "precision": "float64" if jax.config.jax_enable_x64 else "float32",
        "compiled_programs": jax.config.jax_compilation_cache_dir,
        "data_sets": {
            name: place if isinstance(place, str) or place is None else str(place.place)
            for name, place in places.items()
        },
    }


def _laws() -> Any:
    from stablessm.doctor import LAWS, Held

    for law in LAWS:
        begun, wrong = time.perf_counter(), ""
        try:
            held = law.measure()
        except Exception as error:  # whatever is broken here is what was asked for
            held, wrong = Held(float("inf"), 0.0), f"{type(error).__name__}: {error}"
        if held.error - held.error != 0:  # JSON has no word for it
            wrong = wrong or "not finite"
        yield {
            "name": law.name,
            "holds": held.holds,
            "error": wrong or float(f"{held.error:.2g}"),
            "allowed": held.allowed,
            "seconds": round(time.perf_counter() - begun, 1),
        }


def _print(found: dict[str, Any]) -> None:
    there = {name: one["found"] for name, one in found["optional"].items() if one["found"]}
    away = {name: one["serves"] for name, one in found["optional"].items() if not one["found"]}
    sets = [name for name, place in found["data_sets"].items() if place]
    lacking = [name for name, place in found["data_sets"].items() if not place]
    lines = [
        f"stablessm {found['stablessm']}, Python {found['python']}, {found['platform']}, {found['cores']} cores",
        f"packages: {_listed(found['packages'])}",
        f"optional: {_listed(there) or 'none'}",
        *(f"  not there: {name}; {serves}" for name, serves in away.items()),
        f"devices: {_listed(found['devices'])}; {found['precision']} (JAX_ENABLE_X64=1 for float64)",
        f"compiled programs are kept in {found['compiled_programs']}",
        f"data sets found: {', '.join(sets)}",
        f"  not found: {', '.join(lacking) or 'none'} (stablessm data says where they belong)",
        "laws, tried here and now:",
    ]
    typer.echo("\n".join(lines))


def _listed(found: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {value or 'MISSING'}" for name, value in found.items())
