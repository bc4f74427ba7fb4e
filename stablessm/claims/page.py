"""The page of claims: Markdown to read, and a dataset for the report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from stablessm.claims.catalogue import CLAIMS
from stablessm.claims.record import VERDICTS, Finding


def as_markdown(findings: Mapping[str, Finding], scale: str) -> str:
    """Return the page, a row for each claim.

    Args:
        findings: key of a claim -> what the data say.
        scale: of the experiments it rests on.
    """
    lines = [
        "# Published claims, and what is measured here",
        "",
        f"Decided from the stored datasets at the scale `{scale}`; ranges are over seeds.",
        "",
        "| claim | source | verdict | numbers | from |",
        "|---|---|---|---|---|",
    ]
    for key, finding in findings.items():
        claim = CLAIMS[key]
        verdict = finding.verdict.replace("_", " ")
        if finding.condition:
            verdict += f": {finding.condition}"
        cells = (claim.text, claim.source, verdict, finding.numbers, ", ".join(f"`{one}`" for one in claim.reads))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])


def as_dataset(findings: Mapping[str, Finding], scale: str) -> xr.Dataset:
    """Return the same as a dataset with the dimension `claim`.

    Args:
        findings: key of a claim -> what the data say.
        scale: of the experiments it rests on.
    """
    claims = [CLAIMS[key] for key in findings]

    def words(values: list[str], long_name: str) -> tuple[str, np.ndarray, dict[str, str]]:
        return "claim", np.asarray(values, dtype=str), {"long_name": long_name, "units": "1"}

    return xr.Dataset(
        {
            "verdict": (
                "claim",
                np.asarray([VERDICTS.index(one.verdict) for one in findings.values()], np.int8),
                {
                    "long_name": "what the data say of the claim",
                    "units": "1",
                    "flag_values": np.arange(len(VERDICTS), dtype=np.int8),
                    "flag_meanings": " ".join(VERDICTS),
                },
            ),
            "text": words([one.text for one in claims], "what is claimed"),
            "source": words([one.source for one in claims], "where it is claimed"),
            "numbers": words([one.numbers for one in findings.values()], "numbers the verdict rests on"),
            "condition": words([one.condition for one in findings.values()], "condition, or where it comes from"),
            "reads": words([", ".join(one.reads) for one in claims], "datasets it is decided from"),
        },
        coords={"claim": words(list(findings), "claim")},
        attrs={"title": "Published claims, and what is measured here", "scale": scale},
    )
