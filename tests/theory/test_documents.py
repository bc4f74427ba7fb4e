"""Certificates as Markdown and LaTeX."""

import re
from dataclasses import replace

import pytest

from stablessm.cli import main
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory import verify
from stablessm.theory.documents import latex, markdown, verdict_table

LINKED = PARAMETERIZATIONS["best"].replace(link="one-minus", constants={"b": 0.5})


@pytest.fixture(scope="module")
def certificates():
    return [verify(PARAMETERIZATIONS["exp"]), verify(LINKED), verify(Parameterization.from_formula("abs(w)+c_1"))]


def test_markdown_has_a_row_for_each_map_and_the_grounds_of_each_statement(certificates):
    text = markdown(certificates)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(certificates)
    assert {line.count("|") for line in rows} == {11}
    assert text.count("- **") == 7 * len(certificates)
    assert "  - counter-example: `w = 0, eigenvalue -1`" in text
    assert "  - holds for: `b > 1/2`" in text
    assert verdict_table(certificates).splitlines()[2:4] == text.splitlines()[2:4]


def test_latex_is_balanced_and_escaped(certificates):
    text = latex(certificates)
    assert r"$\frac{1}{a w^{2} + b}$ & $\lambda = 1 - s$ & refuted & refuted & proved" in text
    bare = re.sub(r"\\[{}]", "", text)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    opened, closed = re.findall(r"\\begin{(\w+)}", text), re.findall(r"\\end{(\w+)}", text)
    assert sorted(opened) == sorted(closed)
    assert opened.count("description") == 3 and opened.count("enumerate") > 15 and opened.count("tabular") == 1
    assert not re.search(r"(?<!\\)[_^&#%]", re.sub(r"\$[^$]*\$", "", text).replace(" & ", ""))


def test_latex_needs_booktabs_alone_and_long_formulas_may_break(certificates):
    text = latex([replace(certificates[0], formula="softplus(w)")])
    assert r"$\mathrm{softplus}{\left(w \right)}$" in text and "operatorname" not in text
    words = re.findall(r"[^ ]+", " ".join(re.findall(r"\\texttt{(.*)}", text)).replace(r"\allowbreak{}", " "))
    assert max(len(word) for word in words if not word.startswith("\\")) < 40


def test_the_steps_that_lead_to_each_verdict_are_shown(certificates):
    text = latex(certificates)
    assert r"\item $s'(w) = - \frac{2 a w}{\left(a w^{2} + b\right)^{2}}$." in text
    assert r"\item it vanishes at $w = 0$ only." in text
    assert r"\item this map has $\tau '/w = 2 a$." in text
    assert "`s'(w) = -2*a*w/(a*w**2 + b)**2`" in markdown(certificates)
    for one in certificates:
        for statement in one.statements:
            assert statement.derivation, (one.name, statement.id)
            for step, formula in statement.derivation:
                assert formula.count("$") % 2 == 0 and "$" not in step and "{}" not in step
                assert not re.search(r"\bk\d|\bk_", step + formula)


def test_one_form_is_chosen(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "exp", "--latex", "--json"])
    assert stopped.value.code == 2
    assert "choose one of --json, --markdown and --latex, but got --json and --latex." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["verify", "--formula", "1+w^2", "--markdown"])
    assert capsys.readouterr().out.startswith("# Certificates\n\n| map | link |")
