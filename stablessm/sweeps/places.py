"""Where things live: the bundled declarations, and the folders that results go to. Nothing here imports anything heavy.

In a checkout the declarations are `experiments/*.toml` beside the package and results go to the folders beside them; in
an installed package they are in `stablessm/_bundled/`, and results go to `./results` or to the folder the user names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
KINDS = {"experiments": ".toml", "analysis": ".py", "figures": ".py"}


@dataclass(frozen=True)
class Places:
    """The three folders of results.

    Attributes:
        raw: datasets and stores of sweeps.
        analysis: datasets that analyses return.
        figures: rendered figures.
    """

    raw: Path
    analysis: Path
    figures: Path

    def dataset(self, name: str, scale: str = "quick") -> Path:
        """Return the file of an experiment's raw dataset."""
        return self.raw / f"{stem(name, scale)}.nc"

    def store(self, name: str, scale: str = "quick") -> Path:
        """Return the folder of an experiment's running store."""
        return self.raw / f"{stem(name, scale)}.zarr"


def stem(name: str, scale: str) -> str:
    """Return NAME for the quick scale and NAME-full for the full one."""
    return name if scale == "quick" else f"{name}-{scale}"


def checkout() -> Path | None:
    """Return the root of the checkout this package runs from, or None in an installed package."""
    root = PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "experiments").is_dir() else None


def bundled(kind: str) -> Path:
    """Return the folder of the bundled "experiments", "analysis" or "figures"."""
    root = checkout()
    return (root if root is not None else PACKAGE / "_bundled") / kind


def names(kind: str) -> tuple[str, ...]:
    """Return the names of the bundled experiments, analyses or figures, sorted.

    Args:
        kind: a key of `KINDS`.
    """
    return tuple(sorted(p.stem for p in bundled(kind).glob(f"*{KINDS[kind]}") if not p.name.startswith(("_", "."))))


def places(out: str | Path | None = None) -> Places:
    """Return the folders that results go to; nothing is created.

    Args:
        out: the folder the user named; None for the default of the current folder.
    """
    if out is not None:
        return _under(Path(out))
    root = checkout()
    if root is not None and Path.cwd().resolve().is_relative_to(root):
        return Places(root / "experiments" / "results", root / "analysis" / "results", root / "figures" / "rendered")
    return _under(Path("results"))


def _under(folder: Path) -> Places:
    return Places(folder / "raw", folder / "analysis", folder / "figures")
