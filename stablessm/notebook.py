"""Tables for notebooks: what `_repr_html_` of a map, a certificate and a network returns. Plain HTML, no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML; nothing in a cell is read as HTML.

    Args:
        title: above it.
        head: names of the columns.
        rows: cells, shown by `str`.

    Example:
        >>> table("t", ["a"], [["1 < 2"]])
        '<table><caption>t</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """

    def line(cells: Sequence[object], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
