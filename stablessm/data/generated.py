"""The sets that are made and not read: recall, and the atomic tasks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.data.registry import DataSet

ATOMIC: Mapping[str, str] = MappingProxyType(
    {
        "shift": "a series and its copies, each later than the one before",
        "cumsum": "the running sum of a series, over the root of the number of its terms",
        "cummax": "the largest value of a series so far",
        "reverse": "a series backwards, behind it",
        "sort": "a series behind it again, what is nearest to its first value first",
        "select": "marked values of a series in their order, behind it",
        "select_fixed": "values at the same places of a series always, behind it",
        "mips": "of the values so far the one whose key fits the query best",
        "context_shift": "a series moved by as much as its first two values say",
        "solve": "the solution of linear equations",
        "solve_fixed": "the solution of linear equations with the same matrix always",
    }
)

GENERATED = (
    DataSet(
        "recall",
        "recall",
        "associative recall: pairs of keys and values, then a key; any length",
        licence="generated",
        citation="Ba et al., Using fast weights to attend to the recent past (2016); Fu et al., H3 (2023)",
        source="this package",
    ),
    *(
        DataSet(
            name,
            "atomic",
            summary,
            licence="generated",
            citation="Gupta, Mehta and Berant, DLR (2022)",
            source="this package",
        )
        for name, summary in ATOMIC.items()
    ),
)
