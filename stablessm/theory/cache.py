"""Certificates kept on disk: what was proved once is read the next time.

A file holds the statements about one formula under one link with given constants, as JSON. It is named by a digest of
these and of everything a verdict rests on: the sources of the proofs, SymPy, mpmath, NumPy and SciPy. A file that
cannot be read, is damaged, or belongs to something else counts as absent, and a folder that cannot be written costs
nothing but the cache. What a time limit left undecided is not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from stablessm.parameterizations import Parameterization
from stablessm.theory.certificate import Certificate
from stablessm.theory.statement import Statement

FORMAT = 1
"""Version of the files."""

_SOURCES = ("theory", "calculus", "parameterizations")
_ENGINES = ("sympy", "mpmath", "numpy", "scipy")


def certified(
    parameterization: Parameterization, *, limit: float | None = None, folder: Path | None = None
) -> Certificate:
    """The certificate of a map: `verify`, but for the statements that were proved before.

    Args:
        parameterization: the map.
        limit: seconds of processor time for each statement; that of `verify` by default.
        folder: where certificates are kept; `stablessm/verify` in XDG_CACHE_HOME or ~/.cache by default.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> certified(PARAMETERIZATIONS["exp"])["modulus"].verdict
        'proved'
    """
    place = _place(parameterization, folder)
    known = _read(place) if place else {}
    from_disk = _certificate(parameterization, known)
    if from_disk is not None:
        return from_disk
    from stablessm.theory.verification import TIME_LIMIT, verify

    found = verify(parameterization, limit=TIME_LIMIT if limit is None else limit, known=known)
    if place:
        kept = {one.id: one for one in found.statements if "undecided (time)" not in one.expression}
        if kept != known:
            _write(place, kept)
    return found


def default_folder() -> Path | None:
    """Where certificates are kept, beside the programs that sweeps compile; None for a user without a home."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(home) if home else Path.home() / ".cache") / "stablessm" / "verify"
    except RuntimeError:
        return None


def _certificate(one: Parameterization, known: dict[str, Statement]) -> Certificate | None:
    """The certificate, if every statement of it is known."""
    from stablessm.theory.certificate import IDS

    if set(known) != set(IDS):
        return None
    return Certificate(
        name=one.name,
        formula=one.formula,
        link=one.link,
        constants=tuple(sorted(one.constants.items())),
        statements=tuple(known[identity] for identity in IDS),
    )


def _place(one: Parameterization, folder: Path | None) -> Path | None:
    folder = default_folder() if folder is None else folder
    if folder is None:
        return None
    content = json.dumps([FORMAT, _foundation(), one.formula, one.link, sorted(one.constants.items())])
    return folder / f"{hashlib.sha256(content.encode()).hexdigest()[:40]}.json"


@lru_cache(maxsize=1)
def _foundation() -> str:
    """A digest of the sources and the versions that verdicts rest on."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for name in _SOURCES:
        for source in sorted((package / name).glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for name in _ENGINES:
        with suppress(PackageNotFoundError):
            digest.update(f"{name}=={version(name)}".encode())
    return digest.hexdigest()


def _read(place: Path) -> dict[str, Statement]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        if found["format"] != FORMAT or found["name"] != place.stem:
            return {}
        statements = [Statement.from_json(one) for one in found["statements"]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return {one.id: one for one in statements}


def _stored(one: Statement) -> dict:
    return one.to_json() | {"derivation": one.derivation}


def _write(place: Path, statements: dict[str, Statement]) -> None:
    content = {"format": FORMAT, "name": place.stem, "statements": [_stored(one) for one in statements.values()]}
    beside = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_text(json.dumps(content), encoding="utf-8")
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
