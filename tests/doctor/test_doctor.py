"""What the doctor says: every law holds here, and one that does not is told, with exit code 1."""

import json

import pytest

from stablessm import doctor
from stablessm.cli import main


@pytest.mark.parametrize("law", doctor.LAWS, ids=lambda law: law.name)
def test_holds(law):
    held = law.measure()
    assert held.holds and 0 <= held.error <= held.allowed


def test_a_law_that_does_not_hold_is_told(monkeypatch, capsys):
    def broken():
        raise OSError("no such disk")

    laws = [
        doctor.Law("three is four", lambda: doctor.Held(1.0, 0.5)),
        doctor.Law("what is nan is not told to hold", lambda: doctor.Held(float("nan"), 1.0)),
        doctor.Law("the disk is there", broken),
        doctor.Law("one is one", lambda: doctor.Held(0.0, 0.0)),
    ]
    monkeypatch.setattr(doctor, "LAWS", laws)
    with pytest.raises(SystemExit) as ending:
        main(["doctor", "--json"])
    told, error = capsys.readouterr()
    found = json.loads(told)
    assert ending.value.code == 1 and "3 of 4 laws do not hold here: three is four" in error
    assert [one["holds"] for one in found["laws"]] == [False, False, False, True]
    assert [one["error"] for one in found["laws"]] == [1.0, "not finite", "OSError: no such disk", 0.0]
    assert found["packages"]["jax"]
    assert found["data_sets"]["digits"] == "scikit-learn" and "cpu:0" in found["devices"]
