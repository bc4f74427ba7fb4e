"""Certificates on disk: read where they are whole and of this version, proved anew otherwise."""

import json
import os
import subprocess
import sys

import pytest

from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory import certified, verification
from stablessm.theory.stability import stability
from stablessm.theory.statement import Statement

EXP = PARAMETERIZATIONS["exp"]


@pytest.fixture
def kept(tmp_path):
    return certified(EXP, folder=tmp_path), next(tmp_path.iterdir())


def _unseconded(certificate):
    return [{k: v for k, v in one.to_json().items() if k != "seconds"} for one in certificate.statements]


def test_what_was_proved_is_read_and_not_proved_again(kept, tmp_path, monkeypatch):
    first, _ = kept
    monkeypatch.setattr(verification, "timed", lambda *_: pytest.fail("proved again"))
    assert _unseconded(certified(EXP, folder=tmp_path)) == _unseconded(first)
    assert certified(EXP, folder=tmp_path)["criterion"].counterexample == first["criterion"].counterexample


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "", lambda text: text[: len(text) // 2], lambda text: "[]", lambda text: '{"format": 1}',
        lambda text: text.replace('"format": 1', '"format": 0'), lambda text: text.replace('"proved"', '"true"'),
        lambda text: text.replace('"name": "', '"name": "0'), lambda text: text.replace('"expression"', '"x"'),
    ],
)  # fmt: skip
def test_a_damaged_file_or_one_of_another_version_is_ignored_and_replaced(kept, tmp_path, damage):
    first, file = kept
    whole = file.read_text()
    file.write_text(damage(whole))
    assert _unseconded(certified(EXP, folder=tmp_path)) == _unseconded(first)
    assert json.loads(file.read_text()).keys() == json.loads(whole).keys()
    assert [one.name for one in tmp_path.iterdir()] == [file.name]


def test_other_sources_constants_or_links_are_other_files(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "STATEMENTS", {"stability": stability})
    certified(EXP.replace(link="one-minus"), folder=tmp_path)
    certified(Parameterization.from_formula("1+c*0+w^2", constants={"c": 1.0}), folder=tmp_path)
    certified(Parameterization.from_formula("1+c*0+w^2", constants={"c": 2.0}), folder=tmp_path)
    monkeypatch.setattr("stablessm.theory.cache._foundation", lambda: "other proofs")
    certified(EXP, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5


def test_what_a_time_limit_left_open_is_not_kept(tmp_path, monkeypatch):
    late = Statement("modulus", "undecided", "undecided (time): tried for 1 s")
    real = verification.timed
    monkeypatch.setattr(verification, "timed", lambda one, *rest: late if one == "modulus" else real(one, *rest))
    assert certified(EXP, folder=tmp_path)["modulus"] == late
    monkeypatch.setattr(verification, "timed", real)
    assert certified(EXP, folder=tmp_path)["modulus"].verdict == "proved"


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path):
    (tmp_path / "file").write_text("")
    assert certified(EXP, folder=tmp_path / "file" / "below")["stability"].verdict == "proved"


def test_a_second_certificate_needs_no_sympy(kept, tmp_path):
    code = (
        "import sys; from pathlib import Path; from stablessm.parameterizations import PARAMETERIZATIONS as P;"
        "from stablessm.theory import certified; certified(P['exp'], folder=Path(sys.argv[1]));"
        "assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=os.environ)


def test_maps_of_a_file_have_a_page_each(call, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(verification, "STATEMENTS", {"stability": stability})
    mine = '{formula = "w^2+c", constants = {c = 2.0}, link = "exponential", label = "mine"}'
    (tmp_path / "maps.toml").write_text(f'maps = ["exp", {mine}, {{name = "exp", label = "again"}}]')
    code, out, _ = call("verify", "--maps", "maps.toml", "--json")
    assert code == 0
    found = [(one["name"], one["link"], one["constants"]) for one in json.loads(out)["maps"]]
    assert found == [("exp", "continuous", {}), ("mine", "exponential", {"c": 2.0}), ("again", "continuous", {})]
    (tmp_path / "run.toml").write_text('measurement = "maps"\n[axes]\nparameterization = ["exp"]\n')
    assert "exp" in call("verify", "--maps", "run.toml", "--markdown")[1]


def test_axes_of_a_declaration_are_crossed_with_its_maps(call, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(verification, "STATEMENTS", {"stability": stability})
    axes = 'parameterization = ["exp", "best"]\nlink = ["continuous", "exponential"]\nconstant_b = [0.6, 0.7]'
    (tmp_path / "run.toml").write_text(f'measurement = "maps"\n[axes]\n{axes}\n')
    found = json.loads(call("verify", "--maps", "run.toml", "--json")[1])["maps"]
    assert [(one["name"], one["link"], one["constants"].get("b")) for one in found] == [
        *(("exp", link, None) for link in ("continuous", "exponential")),
        *(("best", link, b) for link in ("continuous", "exponential") for b in (0.6, 0.7)),
    ]
    for option in (("--link", "all"), ("--constant", "b=2")):
        code, out, err = call("verify", "--maps", "run.toml", *option)
        assert (code, out) == (2, "") and "give one of the two" in err


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "takes a file with maps = [...]"), ("maps = []", "at least one map"), ("maps = [", "is not TOML"),
        ('maps = ["ecp"]', "'exp'"), ('maps = [{formula = "w^"}]', "cannot be read"), ("maps = [3]", "a name or a"),
        ('maps = [{name = "exp", formula = "w"}]', "either a name or a formula"),
        ('maps = [{name = "tanh", link = "continuous"}]', "one-minus"),
        ('[axes]\nparameterization = ["tanh"]\nlink = ["continuous"]', "one-minus"),
        ('[axes]\nparameterization = ["exp"]\nlink = ["contnuous"]', "'continuous'"),
        ('[axes]\nparameterization = ["exp"]\nconstant_c = [1.0]', "constant_a"),
    ],
)  # fmt: skip
def test_a_file_of_maps_that_cannot_be_read_is_a_sentence(call, tmp_path, text, words):
    (tmp_path / "maps.toml").write_text(text)
    code, out, err = call("verify", "--maps", "maps.toml")
    assert (code, out) == (2, "")
    assert words in err and err.count("\n") == 1


def test_a_link_is_given_once(call, tmp_path):
    (tmp_path / "maps.toml").write_text('maps = [{formula = "exp(w)", link = "one-minus"}]')
    assert "give one of the two" in call("verify", "--maps", "maps.toml", "--link", "exponential")[2]
    assert "there is no --maps file 'none.toml'" in call("verify", "--maps", "none.toml")[2]
