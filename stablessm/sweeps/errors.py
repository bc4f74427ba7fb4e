"""The errors of a sweep, each one finished sentence, and the helper that says where and what would have been legal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from stablessm.parameterizations.numbers import printable, quoted


class SpecError(ValueError):
    """A declaration that cannot be run; the sentence names the file, the key, what it got and what is allowed."""


class PlaceError(ValueError):
    """A folder or file that cannot be where the user wants it; the sentence names the option and the path."""


class StoreError(ValueError):
    """A store that is damaged, foreign, in use, or of another declaration; the sentence names the folder."""


class SweepError(ValueError):
    """A sweep whose results break a law it asserts, or a device it cannot have."""


class TooLarge(SweepError):
    """What does not fit into the memory; the sentence says how large it is and what to make smaller."""


class ExecutorError(RuntimeError):
    """An executor that is gone in the middle of a sweep; what is done is kept."""


class WriteError(OSError):
    """A result that could not be written, for want of space or permission; what was there before is intact."""


@dataclass(frozen=True)
class Where:
    """A place in a declaration.

    Attributes:
        source: the file's name, or the option ("--set") that gave it.
        key: dotted key inside it.
        folder: where relative paths in it start.
    """

    source: str
    key: str = ""
    folder: str = ""

    def at(self, *parts: str) -> Where:
        """Return the place of a key below this one."""
        return Where(self.source, ".".join([*([self.key] if self.key else []), *parts]), self.folder)

    def error(self, message: str) -> SpecError:
        """Return a `SpecError` saying `message` about this place, on one line whatever the user's names hold."""
        source, key = printable(self.source), printable(self.key)
        if source.startswith("--"):
            return SpecError(f"{source} {key}".rstrip() + f": {message}.")
        return SpecError(f"'{source}'" + (f", key '{key}'" if key else "") + f": {message}.")

    def unknown(self, kind: str, name: object, legal: Iterable[str]) -> SpecError:
        """Return a `SpecError` for a name that is not among the legal ones, with the nearest of them."""
        return self.error(unknown(kind, name, legal))


def unknown(kind: str, name: object, legal: Iterable[str]) -> str:
    """Say that `name` is no known `kind`, name the nearest legal one, and list them all.

    Args:
        kind: what the name should have been, "measurement" say.
        name: what was given.
        legal: the legal names.

    Returns:
        One clause without its full stop.
    """
    names = [str(entry) for entry in legal]
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; the nearest is '{close[0]}'" if close else ""
    listing = ", ".join(names) if names else "none"
    return f"unknown {kind} {quoted(name)}{hint} (known: {listing})"


def another_sweep(path: object, lines: Iterable[str]) -> StoreError:
    """Return the error of a sweep that is in the way of another one.

    Args:
        path: of its store or dataset.
        lines: what keeps the two apart, as `spec.difference` says it.
    """
    lines = list(lines)
    leave = "leave --chunk out to go on with it, " if all(one.startswith("chunk:") for one in lines) else ""
    return StoreError(
        f"'{path}' holds a different sweep ({'; '.join(lines)}): "
        f"{leave}give --fresh to replace it, or --out for another folder."
    )


def first_line(error: BaseException) -> str:
    """Return the kind of an exception and the first line of its text, at most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__


def ours(error: BaseException) -> bool:
    """Whether an exception is a finished sentence of this package about what the user gave."""
    return isinstance(error, ValueError) and type(error).__module__.startswith("stablessm.")
