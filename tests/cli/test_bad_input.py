"""Bad input of every kind is one sentence, exit code 2, nothing written; so is an interruption, with 130."""

import pytest

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.run import run_sweep


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["run", "lr_stability", "--set", "parameterization=best(b=1,b=2)"], "'b' is given twice in 'b=1,b=2'"),
        (["run", "lr_stability", "--set", "parameterization=exp(w),exp( w )"], "but got the map 'exp( w )' twice"),
        (["run", "lr_stability", "--set", "parameterization=w^2+1,1+w*w"], "but got the map '1+w*w' twice"),
        (["run", "lr_stability", "--set", "learning_rate=1" + "0" * 400], "(0, 1000], but got 1000"),
        (["run", "lr_stability", "--set", "learning_rate=1" + "0" * 5000], "(0, 1000], but got '1000"),
        (["run", "lr_stability", "--set", "learning_rate=1e400"], "(0, 1000], but got '1e400'"),
        (["run", "lr_stability", "--set", "parameterization=best(b=1" + "0" * 400 + ")"], "positive finite number"),
        (["run", "lr_stability", "--set", "steps=" + "[" * 3000], "--set steps"),
        (["run", "lr_stability", "--set", "target=exp(-t),exp( -t )"], "twice"),
        (["run", "lr_stability", "--set", "target=polynomial(p=1,p=2)"], "'p' is given twice in 'p=1,p=2'"),
        (["run", "lr_stability", "--set", "target=polynomial(p=1" + "0" * 400 + ")"], "positive finite number"),
        (["verify", "best", "--constant", "b=1,b=2"], "--constant b is given twice"),
        (["verify", "best", "--constant", "b=1e400"], "a positive finite number, but got 'b=1e400'"),
        (["run", "maps", "--out", ""], "a folder must have a name"),
        (["train", "digts"], "the nearest is 'digits'"),
        (["train", "digits", "--layer", "s4e"], "--layer: unknown layer 's4e'; the nearest is 's4'"),
        (["train", "digits", "--steps", "0"], "--steps: it must be greater than or equal to 1"),
        (["train", "digits", "--parameterization", "exq"], "unknown map 'exq'"),
        (["train", "digits", "--set", "model.widht=3"], "the nearest is 'width'"),
        (["train", "digits", "--set", "pool=0"], "pool"),
        (["train", "digits", "--set", "states=5", "--dry-run"], "`states` must be even"),
        (["train", "none.toml"], "there is no declaration 'none.toml'"),
        (["evaluate", "none.checkpoint"], "cannot be read"),
        (["verify", ","], "there is no parameterization ''"),
        (["verify", "exp,,exp"], "there is no parameterization ''"),
    ],
)
def test_a_word_that_cannot_be_meant(refused, arguments, fragment):
    assert fragment in refused(*arguments)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("parameterization = [{name='best', constants={b=1" + "0" * 400 + "}}]", "'b' of 'best' must be a positive"),
        ("parameterization = [{name='best', constants={b=0x1" + "0" * 9000 + "}}]", "but got an integer of"),
        ("learning_rate = [1" + "0" * 5000 + "]", "is not TOML"),
        ("learning_rate = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
        ("a = " + "[" * 100 + "]" * 100, "unknown axis 'a'"),
    ],
)
def test_a_declaration_that_cannot_be_read(refused, tmp_path, text, fragment):
    (tmp_path / "mine.toml").write_text(f"measurement = 'lr_stability'\n[axes]\n{text}\n")
    assert fragment in refused("run", "mine.toml", "--out", "o")


def test_a_name_given_twice_in_a_declaration():
    document = {"measurement": "maps", "axes": {"parameterization": ["exp"]}, "figures": ["maps", "maps"]}
    with pytest.raises(SpecError, match="each figure may occur once, but got 'maps' twice"):
        load_spec(document)


@pytest.mark.parametrize("source", [None, 3, [], b"maps"])
def test_an_experiment_of_another_type(source):
    with pytest.raises(SpecError, match="an experiment must be a bundled name"):
        run_sweep(source)


@pytest.mark.parametrize(("overrides", "fragment"), [("points=4", "a list of texts KEY=VALUE, but got 'points=4'"),
                                                     (3, "but got 3"), ([3], "VALUE, but got 3")])  # fmt: skip
def test_overrides_of_another_type(overrides, fragment):
    with pytest.raises(SpecError, match=fragment):
        load_spec("maps", overrides=overrides)


def test_the_same_map_twice_is_verified_once(call):
    code, out, _ = call("verify", "exp", "exp", "--formula", "2+w^2", "--formula", "2 + w*w", "--json")
    assert code == 0 and out.count('"name"') == 2


def test_an_interruption_says_so(call, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    def interrupt_a_class(*_, **__):
        class Interrupted:
            def __set_name__(self, *_):
                raise KeyboardInterrupt

        type("Made", (), {"field": Interrupted()})

    for stop in (interrupt, interrupt_a_class):
        monkeypatch.setattr("stablessm.sweeps.run.execute", stop)
        assert call("run", "maps")[::2] == (130, "Error: interrupted.\n")


def test_a_sweep_larger_than_any_memory(refused):
    sizes = ["width=4096", "horizon=1000000", "batch=1000000", "loss=gram", "parameterization=exp", "optimizer=adam"]
    error = refused("run", "lr_stability", *(word for size in sizes for word in ("--set", size)), "--out", "o")
    assert "one work item of 20 cells needs at least 4.01 PB of memory" in error
