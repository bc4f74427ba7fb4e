r"""Certificates as documents: Markdown for a repository, LaTeX for an appendix.

Both hold the same: a table of verdicts, a row for each map and link, then every statement with its grounds. The LaTeX
needs the package booktabs only.
"""

from __future__ import annotations

from collections.abc import Sequence

from stablessm.theory.certificate import Certificate

_RELATIONS = {
    "continuous": r"\lambda = -s",
    "one-minus": r"\lambda = 1 - s",
    "exponential": r"\lambda = e^{-s}",
}
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%",
    "$": r"\$", "#": r"\#", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "'": r"\textquotesingle{}",
}  # fmt: skip


def verdict_table(certificates: Sequence[Certificate]) -> str:
    """The verdicts as a Markdown table, a row for each map and link, with the counterexamples below it."""
    notes = [
        f"- {one.name}, {one.link}, {statement.id}: refuted at {statement.counterexample.to_json()}"
        for one in certificates
        for statement in one.statements
        if statement.verdict == "refuted" and statement.counterexample is not None
    ]
    return "\n".join(["# Verdicts", "", *_rows(certificates), "", "## Counterexamples", "", *notes, ""])


def markdown(certificates: Sequence[Certificate]) -> str:
    """The verdicts as a Markdown table, then the statements of each map with their grounds.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> from stablessm.theory import verify
        >>> markdown([verify(PARAMETERIZATIONS["exp"])]).splitlines()[4].split(" | ")[3]
        'proved'
    """
    lines = ["# Certificates", "", *_rows(certificates)]
    for one in certificates:
        lines += ["", f"## {one.name}, {one.link}", "", f"s(w) = `{one.formula}`{_values(one)}", ""]
        for statement in one.statements:
            lines.append(f"- **{statement.id}: {statement.verdict}** ({statement.method})")
            lines += [f"  - {'' if own is None else own + ': '}`{text}`" for own, text in statement.grounds()]
            lines += [f"    {place}. `{step}`" for place, (step, _) in enumerate(statement.derivation, 1)]
    return "\n".join([*lines, ""])


def latex(certificates: Sequence[Certificate]) -> str:
    """The verdicts as a LaTeX table, then the statements of each map with their grounds as a description list.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> from stablessm.theory import verify
        >>> r"$e^{w}$ & $\\lambda = -s$ & proved" in latex([verify(PARAMETERIZATIONS["exp"])])
        True
    """
    ids = [_plain(statement.id) for statement in certificates[0].statements]
    lines = [r"{\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\begin{{tabular}}{{ll{'l' * len(ids)}}}", r"\toprule"]
    lines += [" & ".join(["$s(w)$", "link", *map(str, range(1, len(ids) + 1))]) + r" \\", r"\midrule"]
    for one in certificates:
        verdicts = [statement.verdict for statement in one.statements]
        lines.append(" & ".join([f"${_formula(one)}$", f"${_RELATIONS[one.link]}$", *verdicts]) + r" \\")
    named = ", ".join(f"{place}: {own}" for place, own in enumerate(ids, 1))
    lines += [r"\bottomrule", r"\end{tabular}", "", named + ".}"]
    for one in certificates:
        lines += ["", rf"\paragraph{{{_plain(one.name)}}} $s(w) = {_formula(one)}$, ${_RELATIONS[one.link]}$", ""]
        lines[-2] += f"{_plain(_values(one))}."
        lines.append(r"\begin{description}")
        for statement in one.statements:
            lines.append(rf"\item[{_plain(statement.id)}] {statement.verdict} ({statement.method}).")
            for own, text in statement.grounds():
                lines.append(rf"  {'' if own is None else own + ': '}\texttt{{{_breaking(text)}}}.")
            if statement.derivation:
                lines.append(r"  \begin{enumerate}")
                lines += [rf"  \item {step}." for _, step in statement.derivation]
                lines.append(r"  \end{enumerate}")
        lines.append(r"\end{description}")
    return "\n".join([*lines, ""]).replace(r"\operatorname", r"\mathrm")  # which amsmath would be needed for


def _rows(certificates: Sequence[Certificate]) -> list[str]:
    ids = [statement.id for statement in certificates[0].statements]
    lines = ["| map | link | decay s(w) | " + " | ".join(ids) + " |", "|---" * (len(ids) + 3) + "|"]
    for one in certificates:
        verdicts = [statement.verdict for statement in one.statements]
        formula = one.formula.replace("|", "\\|")
        lines.append(f"| {one.name} | {one.link} | `{formula}` | " + " | ".join(verdicts) + " |")
    return lines


def _values(one: Certificate) -> str:
    return "".join(f", {name} = {value:g}" for name, value in one.constants)


def _plain(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _breaking(text: str) -> str:
    """Typewriter text that may break after an operator: a formula has no spaces to break at."""
    return "".join(_plain(one) + (r"\allowbreak{}" if one in "*/=()," else "") for one in text)


def _formula(one: Certificate) -> str:
    import sympy

    from stablessm.parameterizations.grammar import parse

    return sympy.latex(parse(one.formula))
