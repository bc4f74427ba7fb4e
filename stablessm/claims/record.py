"""What a claim is: a published sentence, the datasets that bear on it, and a function of them that decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import xarray as xr

VERDICTS = ("confirmed", "confirmed_under_a_condition", "not_confirmed", "undecided", "not_measured")
CONFIRMED, CONDITIONAL, NOT_CONFIRMED, UNDECIDED, NOT_MEASURED = VERDICTS
CELLS = (
    "task", "model", "parameterization", "link", "discretisation", "target", "activation", "optimizer", "learning_rate",
    "width", "seed", "precision", "constant_a", "constant_b", "perturbed", "ball",
)  # fmt: skip


class Finding(NamedTuple):
    """What the data say of a claim.

    Attributes:
        verdict: one of `VERDICTS`.
        numbers: the numbers it rests on, as a sentence.
        condition: under which the claim holds, or what it comes from where it does not; empty where there is none.
    """

    verdict: str
    numbers: str
    condition: str = ""


class MissingEvidence(LookupError):
    """A dataset, or a part of one, that a claim is decided from is not there; the message says which."""


@dataclass(frozen=True)
class Claim:
    """A published claim.

    Attributes:
        key: its name.
        text: what it says, in our words.
        source: where it says so.
        reads: datasets it is decided from: "EXPERIMENT" for the raw one, "EXPERIMENT.ANALYSIS" for a reduced one.
        decision: "module:function" of the function from `Evidence` to `Finding` that decides.
    """

    key: str
    text: str
    source: str
    reads: tuple[str, ...]
    decision: str

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose datasets it reads."""
        return tuple(dict.fromkeys(one.partition(".")[0] for one in self.reads))


@dataclass(frozen=True)
class Evidence:
    """Datasets by name.

    Attributes:
        datasets: as `Claim.reads` names them; those that there are.
    """

    datasets: Mapping[str, xr.Dataset]

    def __getitem__(self, name: str) -> xr.Dataset:
        """Return a dataset.

        Raises:
            MissingEvidence: it is not there.
        """
        if name not in self.datasets:
            raise MissingEvidence(f"the dataset {name} is not there: stablessm reproduce {name.partition('.')[0]}")
        return self.datasets[name]

    def at(self, name: str, *along: str, **labels: object) -> xr.Dataset:
        """Return a dataset at some labels, along the axes that a claim looks at.

        Args:
            name: of the dataset.
            *along: axes of the experiment that stay, also where they have one value.
            **labels: axis -> label, which takes the axis away, or list of labels, which keeps it; floats are matched to
                a relative 1e-6.

        Raises:
            MissingEvidence: the dataset is not there, holds no such label, or varies along an axis that the claim knows
                nothing of.
        """
        found = self[name]
        for axis, wanted in labels.items():
            try:
                near = {"method": "nearest", "tolerance": 1e-6 * abs(wanted)} if isinstance(wanted, float) else {}
                found = found.sel({axis: wanted}, **near)
            except (KeyError, ValueError) as error:
                raise MissingEvidence(f"the dataset {name} holds no {axis} {wanted!r}") from error
        kept = {*along, *(axis for axis, wanted in labels.items() if isinstance(wanted, list))}
        for axis in (axis for axis in CELLS if axis in found.dims and axis not in kept):
            if found.sizes[axis] > 1:
                raise MissingEvidence(f"the dataset {name} holds several values of {axis}: the claim is about one")
            found = found.squeeze(axis, drop=True)
        return found


def decide(claim: Claim, datasets: Mapping[str, xr.Dataset]) -> Finding:
    """Return what the data say of a claim; "not_measured", and why, where they do not bear on it.

    Args:
        claim: the claim.
        datasets: those that there are.

    Example:
        >>> from stablessm.claims import CLAIMS
        >>> decide(CLAIMS["gradient_bound"], {}).verdict
        'not_measured'
    """
    module, _, function = claim.decision.partition(":")
    try:
        return getattr(import_module(module), function)(Evidence(datasets))
    except MissingEvidence as missing:
        return Finding(NOT_MEASURED, str(missing))
