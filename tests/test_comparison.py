"""Two datasets against each other: equal, close, apart, and nothing in common."""

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.comparison import compare
from stablessm.datasets import DatasetError

WORDS = "converged step_limit diverged"


def made(loss, outcome=(0, 1, 2), rates=(0.1, 1.0, 10.0)):
    about = {"long_name": "x", "units": "1"}
    flags = {"flag_values": np.arange(3, dtype=np.int8), "flag_meanings": WORDS, **about}
    return xr.Dataset(
        {"loss": ("learning_rate", np.float32(loss), about), "outcome": ("learning_rate", np.int8(outcome), flags)},
        coords={"learning_rate": ("learning_rate", np.asarray(rates), about)},
    )


def row(one, two, name="loss", **more):
    return next(row for row in compare(one, two, **more) if row.name == name)


def test_what_is_equal_close_and_apart():
    first = made([1.0, 2.0, 5.0])
    assert row(first, first) == ("loss", 2, 2, 0.0, 0)
    close = row(first, made([1.0, 2.001, 9.0]))
    assert (close.equal, close.beyond) == (1, 0) and close.relative == pytest.approx(5e-4, rel=1e-2)
    assert row(first, made([1.0, 2.1, 5.0])).beyond == 1
    assert row(first, made([1.0, 2.1, 5.0]), relative=0.1).beyond == 0
    assert row(first, made([1.0, np.nan, 5.0])).beyond == 1 and row(first, made([1.0, np.inf, 5.0])).beyond == 1


def test_unstable_cells_count_by_their_outcome_alone():
    first, second = made([1.0, 2.0, 5.0]), made([1.0, 2.0, 7.0], outcome=(0, 2, 2))
    assert row(first, second).values == 1
    assert row(first, second, "outcome") == ("outcome", 3, 2, 0.0, 1)


def test_only_shared_coordinates_are_compared():
    wider = made([1.0, 2.0, 3.0], rates=(0.1, 1.0, 100.0))
    assert row(made([1.0, 2.0, 5.0]), wider).values == 2
    with pytest.raises(DatasetError, match="share no value of 'learning_rate'"):
        compare(wider, made([1, 2, 3], rates=(7.0, 8.0, 9.0)))
    with pytest.raises(DatasetError, match="share no variable"):
        compare(wider, wider[[]])
    with pytest.raises(DatasetError, match="no variable of equal axes: only one of them has 'seed'"):
        compare(wider, wider.expand_dims(seed=2))


def test_the_command_says_it_and_exits_with_it(call, tmp_path):
    one, two = tmp_path / "one.nc", tmp_path / "two.nc"
    datasets.save(made([1.0, 2.0, 5.0]), one)
    other = made([1.0, 2.5, 5.0])
    datasets.save(other.assign(first_bad_step=other.loss.astype(np.int32)), two)
    code, out, _ = call("diff", one, one)
    assert code == 0 and "all within the tolerance" in out
    code, out, _ = call("diff", one, two)
    assert code == 1 and "beyond the tolerance: loss" in out
    assert "not compared, for want of equal axes or of a counterpart: first_bad_step\n" in out
    for words in ((one, tmp_path / "none.nc"), (one, two, "--relative", "nan"), (one,)):
        code, _, err = call("diff", *words)
        assert code == 2 and err.startswith("Error: ") and err.count("\n") == 1
