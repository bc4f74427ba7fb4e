"""Certificates as a dataset: a row for each map and link, a column for each statement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from stablessm.theory.certificate import IDS, Certificate
from stablessm.theory.statement import VERDICTS, Statement


def as_dataset(certificates: Sequence[Certificate]) -> xr.Dataset:
    """Return certificates as a dataset with the dimensions `map` and `statement`.

    Args:
        certificates: at least one.

    Returns:
        By map `name`, `link`, `formula` and `constants`; by map and statement `verdict` (flags), `method`, and
        `grounds`, one text a line: what was found, the condition, the counter-example.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> from stablessm.theory import certified
        >>> as_dataset([certified(PARAMETERIZATIONS["exp"])])["grounds"].values[0, 0].split("\\n")[0]
        '0 < s < oo'
    """

    def words(
        dims: Sequence[str], values: Sequence, long_name: str
    ) -> tuple[Sequence[str], np.ndarray, dict[str, str]]:
        return dims, np.asarray(values, dtype=str), {"long_name": long_name, "units": "1"}

    every = [one.statements for one in certificates]
    return xr.Dataset(
        {
            "name": words(["map"], [one.name for one in certificates], "name of the map"),
            "link": words(["map"], [one.link for one in certificates], "how the decay becomes an eigenvalue"),
            "formula": words(["map"], [one.formula for one in certificates], "decay s(w)"),
            "constants": words(
                ["map"],
                [", ".join(f"{name} = {value:g}" for name, value in one.constants) for one in certificates],
                "values of its constants",
            ),
            "verdict": (
                ["map", "statement"],
                np.asarray([[VERDICTS.index(one.verdict) for one in row] for row in every], np.int8),
                {
                    "long_name": "what came of the statement",
                    "units": "1",
                    "flag_values": np.arange(len(VERDICTS), dtype=np.int8),
                    "flag_meanings": " ".join(VERDICTS),
                },
            ),
            "method": words(["map", "statement"], [[one.method for one in row] for row in every], "how it was decided"),
            "grounds": words(["map", "statement"], [[_grounds(one) for one in row] for row in every], "grounds"),
        },
        coords={
            "map": words(["map"], [f"{one.name}, {one.link}" for one in certificates], "map and link"),
            "statement": words(["statement"], IDS, "statement"),
        },
        attrs={"title": "What is proved and refuted about each map"},
    )


def _grounds(statement: Statement) -> str:
    return "\n".join(text if own is None else f"{own}: {text}" for own, text in statement.grounds())
