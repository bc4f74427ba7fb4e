"""Comparisons of maps as text, Markdown, LaTeX (booktabs) and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stablessm.design.table import Comparison

_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
            ">": r"\textgreater{}", "|": r"\textbar{}", "'": r"\textquotesingle{}",
            **{one: "\\" + one for one in "&%$#_{}"}}  # fmt: skip


def text(tables: Sequence[Comparison]) -> str:
    """Return the tables for a terminal: a row for each criterion, a column for each map, the best marked by a star.

    Example:
        >>> from stablessm.design.table import Criterion
        >>> one = Comparison("continuous", ("exp",), ("exp(w)",), ({"stability": "proved"},),
        ...                  (Criterion("g_slope", "slope of the modulus g at 0", (1.0,)),), ("It is alone.",))
        >>> text([one]).splitlines()[3].split()[-2:]
        ['1', '*']
    """
    return "\n\n".join(_aligned(one) for one in tables)


def markdown(tables: Sequence[Comparison]) -> str:
    """Return the tables as Markdown, the best in bold."""
    blocks = []
    for one in tables:
        head, *body = _rows(one, "**{}**")
        lines = [f"## Maps under the link {one.link}", "", _piped(head), "|---" * len(head) + "|", *map(_piped, body)]
        blocks.append("\n".join([*lines, "", *(f"- {sentence}" for sentence in one.summary)]))
    return "\n\n".join(blocks)


def latex(tables: Sequence[Comparison]) -> str:
    """Return the tables as LaTeX, the best in bold; needs the package booktabs."""
    blocks = []
    for one in tables:
        head, *body = [[_plain(cell) for cell in row] for row in _rows(one, "{}")]
        firsts = [set(criterion.first()) for criterion in one.criteria]
        bold = [
            [cell if place == 0 or place - 1 not in best else rf"\textbf{{{cell}}}" for place, cell in enumerate(row)]
            for row, best in zip(body[-len(firsts) :], firsts, strict=True)
        ]
        rows = [*body[: -len(firsts)], *bold]
        blocks.append("\n".join([
            f"% link {one.link}", rf"\begin{{tabular}}{{l{'r' * len(one.maps)}}}", r"\toprule",
            " & ".join(head) + r" \\", r"\midrule", *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule", r"\end{tabular}", "",
            *(_plain(sentence) for sentence in one.summary),
        ]))  # fmt: skip
    return "\n\n".join(blocks)


def document(tables: Sequence[Comparison]) -> dict[str, object]:
    """Return the tables for `json.dumps`: an infinite number is the text "inf", what is not known null."""
    return {
        "schema": 1,
        "tables": [
            {
                "link": one.link,
                "maps": [
                    {"name": name, "formula": formula, "verdicts": verdicts}
                    for name, formula, verdicts in zip(one.maps, one.formulas, one.verdicts, strict=True)
                ],
                "criteria": [
                    {
                        "name": criterion.name,
                        "meaning": criterion.meaning,
                        "better": "less" if criterion.sense > 0 else "more",
                        "values": dict(zip(one.maps, map(_number, criterion.values), strict=True)),
                        "best": [one.maps[place] for place in criterion.first()],
                    }
                    for criterion in one.criteria
                ],
                "summary": list(one.summary),
            }
            for one in tables
        ],
    }


def _rows(one: Comparison, best: str) -> list[list[str]]:
    """Heading, a row for each kind of verdict, a row for each criterion."""
    rows = [["", *one.maps]]
    rows += (
        [[kind.replace("_", " "), *(own[kind] for own in one.verdicts)] for kind in one.verdicts[0]] if one.maps else []
    )
    for criterion in one.criteria:
        first = criterion.first()
        bounded = criterion.open or (False,) * len(one.maps)
        cells = ["finite" if b else _shown(value) for value, b in zip(criterion.values, bounded, strict=True)]
        rows.append([criterion.meaning, *(best.format(c) if p in first else c for p, c in enumerate(cells))])
    return rows


def _aligned(one: Comparison) -> str:
    rows = _rows(one, "{} *")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: list[str]) -> str:
        numbers = (cell if cell.endswith("*") else f"{cell}  " for cell in row[1:])
        return "  ".join(
            [row[0].ljust(widths[0]), *(c.rjust(w + 2) for c, w in zip(numbers, widths[1:], strict=True))]
        ).rstrip()

    lines = [f"link {one.link}; * the best in its row", *map(line, rows), "", *one.summary]
    return "\n".join(lines)


def _piped(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _plain(words: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in words)


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def _number(value: float) -> float | str | None:
    return None if math.isnan(value) else float(f"{value:.8g}") if math.isfinite(value) else "inf"
