"""Targets read from a file: a column of samples of rho, or a series whose autocorrelation is rho."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stablessm.targets.errors import TargetError

if TYPE_CHECKING:
    import numpy as np

# Yearly mean sunspot numbers, 1700 to 2008, NOAA National Geophysical Data Center, public domain. The 3 kB are here
# rather than in a dependency, for the packages that ship them take 60 MB.
SUNSPOTS = Path(__file__).with_name("sunspots.csv")


@dataclass(frozen=True)
class SampledTarget:
    """A memory kernel known by its samples; the file is read when they are asked for.

    Its samples are those of the experiment, whatever the step size: sample k is rho(k step_size).

    Attributes:
        name: label.
        file: path of a CSV or .npy file of one column, or of several with names.
        column: which of them; empty for the only one.
        correlated: True where the file holds a series, and rho is its autocorrelation (`autocorrelation.py`).
        sha256: what the bytes of the file must hash to; empty where anything goes.
        horizon: number of samples by default; None for as many as there are.
        step_size: distance of the samples.
        description: what it is, for `stablessm list targets`.
        reference: where it comes from.
    """

    name: str
    file: str
    column: str = ""
    correlated: bool = False
    sha256: str = ""
    horizon: int | None = None
    step_size: float = 1.0
    description: str = ""
    reference: str = "user"

    @property
    def formula(self) -> str:
        """What it is, in words."""
        return self.description or f"{'autocorrelation' if self.correlated else 'samples'} of {Path(self.file).name}"

    def pinned(self) -> SampledTarget:
        """Return the same target held to the present content of its file.

        Raises:
            TargetError: the file cannot be used, or its content is not what it is held to.
        """
        from stablessm.targets.samples import read_samples

        found = read_samples(self.file, self.column or None).sha256
        if self.sha256 not in ("", found):
            raise TargetError(
                f"the file '{self.file}' has changed: its SHA-256 was {self.sha256[:12]}... and is {found[:12]}..."
            )
        return dataclasses.replace(self, sha256=found)

    def kernel(self, length: int | None = None, *, step_size: float | None = None) -> np.ndarray:
        """Return the first samples of rho, shape (length,), float64.

        Args:
            length: number of samples; `horizon` by default.
            step_size: distance of the samples; any, see above.

        Raises:
            TargetError: the file cannot be used, has changed, or holds fewer samples.
        """
        from stablessm.targets.samples import read_samples

        self.pinned()
        values = read_samples(self.file, self.column or None).values
        length = length or self.horizon or values.size
        if length > values.size:
            raise TargetError(
                f"the horizon is {length}, but '{self.file}' holds only {values.size} of its samples; lower the horizon"
            )
        if not self.correlated:
            return values[:length]
        from stablessm.targets.autocorrelation import autocorrelation

        try:
            return autocorrelation(values, length)
        except TargetError as error:
            raise TargetError(f"'{self.file}': {error}") from None

    def check(self, length: int, step_size: float) -> None:
        """Refuse samples from which nothing can be learnt, before anything runs.

        Raises:
            TargetError: see `kernel`; or the samples are all zero.
        """
        if not self.kernel(length).any():
            raise TargetError(f"the first {length} samples of '{self.file}' are zero, so that there is nothing to fit")
