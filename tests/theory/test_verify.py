"""The certificate: schema, names of constants, time limits, and the command."""

import json
import subprocess
import sys
import threading
import time

import pytest
import typer
from typer.testing import CliRunner

from stablessm.cli.verify import verify as command
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory import Statement, document, verify
from stablessm.theory.budget import OutOfTime, secure, time_limit
from stablessm.theory.problem import problem_of
from stablessm.theory.verification import STATEMENTS, timed

IDS = ["stability", "modulus", "gradient_scale", "gradient_over_weight", "lipschitz", "curvature", "criterion"]


@pytest.fixture(scope="module")
def certificates():
    return [verify(PARAMETERIZATIONS[name]) for name in ("direct", "best", "relu", "clip")]


def check_schema(page):
    assert set(page) == {"schema", "maps"}
    assert page["schema"] == 1
    for entry in page["maps"]:
        assert list(entry) == ["name", "formula", "link", "constants", "statements"]
        assert [statement["id"] for statement in entry["statements"]] == IDS
        for statement in entry["statements"]:
            assert list(statement) == [
                "id",
                "verdict",
                "expression",
                "condition",
                "counterexample",
                "method",
                "seconds",
            ]
            assert statement["verdict"] in ("proved", "refuted", "undecided")
            assert statement["method"] in ("symbolic", "enclosure", "numeric")
            assert statement["expression"]
            example = statement["counterexample"]
            assert (example is not None) == (statement["verdict"] == "refuted")
            assert example is None or {"weight", "eigenvalue"} <= set(example) <= {"weight", "eigenvalue", "constants"}


def test_json_has_the_schema(certificates):
    check_schema(json.loads(json.dumps(document(certificates))))
    check_schema(certificates[0].to_json())
    with pytest.raises(KeyError, match="nonsense"):
        certificates[0]["nonsense"]


def _statements(one):
    return [{k: v for k, v in s.to_json().items() if k != "seconds"} for s in verify(one).statements]


@pytest.mark.parametrize(
    "formula, name, link, constants, renaming",
    [
        pytest.param("1/(q + zeta*w^2)", "best", "one-minus", {"q": 0.6, "zeta": 1.0}, {"a": "zeta", "b": "q"},
                     marks=pytest.mark.slow),
        ("1/(b*w^2 + a)", "best", "continuous", {"b": 1.0, "a": 0.5}, {"a": "b", "b": "a"}),
        ("log(1 + exp(w))", "softplus", "continuous", {}, {}),
        ("max(-w, eps)", "clip", "continuous", {"eps": 1e-4}, {"floor": "eps"}),
    ],
)  # fmt: skip
def test_a_formula_has_the_verdicts_of_the_built_in_under_any_names(formula, name, link, constants, renaming):
    import re

    given = {old: constants[new] for old, new in renaming.items()}
    own = json.dumps(_statements(PARAMETERIZATIONS[name].replace(link=link, constants=given)))
    renamed = re.sub(r"\b[a-z]+\b", lambda found: renaming.get(found.group(), found.group()), own)
    user = json.dumps(_statements(Parameterization.from_formula(formula, link=link, constants=constants)))
    for fixed in ("a w", "2 a"):  # the criterion's own constant is called a, whatever the map's are called
        renamed = renamed.replace(fixed.replace("a", renaming.get("a", "a")), fixed)
    assert _without_solution(user) == _without_solution(renamed)


def _without_solution(text):
    import re

    return (
        re.sub(r"f'/[^\"]*?has the solutions[^;]*; ", "", text).replace("with 2 a", "with").replace("with 2 b", "with")
    )


def test_every_verdict_names_what_was_tried():
    one = Parameterization.from_formula("exp(w) + w^2 - 3*w + erf(w)^2")
    for statement in verify(one, limit=3.0).statements:
        assert statement.verdict != "undecided" or "tried" in statement.expression


def test_time_limit_interrupts_and_restores():
    with pytest.raises(OutOfTime), time_limit(0.05):
        while True:
            pass
    time.sleep(0.02)
    problem = problem_of(PARAMETERIZATIONS["exp"].expression, "continuous", {})

    def endless(_):
        while True:
            pass

    statement = timed("stability", endless, problem, 0.05)
    assert (statement.verdict, "undecided (time)" in statement.expression) == ("undecided", True)


def test_what_is_proved_is_not_lost_to_numbers_that_take_too_long():
    problem = problem_of(PARAMETERIZATIONS["exp"].expression, "continuous", {})
    early = Statement("modulus", "proved", "bounded")

    def slow(_):
        secure(early)
        while True:
            pass

    assert timed("modulus", slow, problem, 0.05).expression == "bounded"


def test_an_interruption_that_a_bare_except_swallows_is_remembered():
    with time_limit(0.02) as passed:
        try:
            while True:
                pass
        except BaseException:
            swallowed = True
    assert swallowed
    assert passed.is_set()


def test_an_interruption_inside_a_destructor_is_repeated_and_not_printed(capsys):
    class Slow:
        def __del__(self):
            while not passed.is_set():
                pass

    with pytest.raises(OutOfTime), time_limit(0.02) as passed:
        one = Slow()
        del one  # Python drops what is raised in a destructor, and says so on stderr
        while True:
            pass
    assert capsys.readouterr().err == ""


def test_off_the_main_thread_it_runs_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(verify(PARAMETERIZATIONS["exp"])["stability"].verdict))
    thread.start()
    thread.join()
    assert found == ["proved"]


def test_a_failure_inside_a_proof_is_reported_not_hidden():
    def broken(_):
        raise TypeError("unorderable")

    problem = problem_of(PARAMETERIZATIONS["exp"].expression, "continuous", {})
    statement = timed("stability", broken, problem, 1.0)
    assert statement.verdict == "undecided"
    assert "TypeError unorderable" in statement.expression


def test_statements_are_those_of_the_contract():
    assert list(STATEMENTS) == IDS


app = typer.Typer()
app.command()(command)
run = CliRunner().invoke


def test_command_json_and_page():
    result = run(app, ["best", "--link", "one-minus", "--constant", "b=0.5", "--json"])
    assert result.exit_code == 0
    page = json.loads(result.stdout)
    check_schema(page)
    assert page["maps"][0]["statements"][0]["counterexample"] == {"weight": 0.0, "eigenvalue": -1.0}
    result = run(app, ["--formula", "1/(w^2+b)", "--constant", "b=0.6", "--link", "one-minus", "--strict"])
    assert result.exit_code == 0
    assert "proved" in result.stdout and "holds for: b > 1/2" in result.stdout
    assert run(app, ["exp", "--strict"]).exit_code == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["bset"], "'best'"),
        (["best", "--constant", "c=1"], "no constant 'c'"),
        (["best", "--constant", "b=-1"], "positive"),
        (["best", "--link", "contnuous"], "did you mean 'continuous'"),
        (["tanh", "--link", "continuous"], "one-minus"),
        (["--formula", "foo(w)"], "foo"),
    ],
)
def test_bad_input_is_a_sentence(arguments, words):
    result = run(app, arguments)
    assert isinstance(result.exception, ValueError)
    assert words in str(result.exception)


def test_constant_without_a_value_is_bad_input():
    result = run(app, ["best", "--constant", "b"])
    assert result.exit_code == 2


def test_the_command_module_is_light():
    code = "import sys, stablessm.cli.verify; assert not {'sympy', 'jax', 'numpy', 'mpmath'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_in_place_of_a_map_is_told_what_makes_one():
    with pytest.raises(TypeError, match=r"takes a parameterization, such as .* but got 'exp'"):
        verify("exp")
