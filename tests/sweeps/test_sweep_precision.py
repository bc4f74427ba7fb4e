"""Numbers that float64 holds and the sweep's precision does not."""

import numpy as np
import pytest

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.precision import rounded

SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


@pytest.mark.parametrize("value", [0.1, -0.1, 1e-50, 1e-40, 1e38, 3e38, 0.0, SMALLEST, LARGEST])
def test_rounded_is_what_float32_holds(value):
    assert rounded(value, "float32") == float(np.float32(value)) and rounded(value, "float64") == value


def test_too_large_is_infinite():
    assert rounded(1e50, "float32") == np.inf and rounded(-1e50, "float32") == -np.inf


CASES = [
    ("lr_stability", "learning_rate=1e-50", "--set learning_rate: the learning rate 1e-50 is too close to 0 for"),
    ("lr_stability", "learning_rate=1e-40", "learning rate 1e-40 is too close to 0"),  # subnormal
    ("lr_stability", "learning_rate=0.1,0.10000000001", "0.1 and 0.10000000001 are one number in float32"),
    ("lr_stability", "learning_rate=log(1e-320,1,3)", "the learning rate 1e-320 is too close to 0"),
    ("lr_stability", "slowest_decay=1e-300", "--set slowest_decay: the slowest_decay 1e-300 is too close to 0"),
    ("lr_stability", "step_size=1e-300", "the step_size 1e-300 is too close to 0"),
    ("maps", "constant_b=1e50,1e-50", "the constant b 1e+50 is too large for float32"),
    ("maps", "parameterization=best(b=1e-50)", "the constant b of 'best' 1e-50 is too close to 0"),
    ("maps", "parameterization=best(b=0.1),best(b=0.10000000001,label=other)", "are one in float32"),
    ("gradient_scale", "fastest_decay=1e300", "the fastest_decay 1e+300 is too large for float32"),
    ("gradient_scale", "extent=1e-60", "--set extent: it must be greater than or equal to 0.000001"),
    ("lr_stability", "target=1e30*exp(-t)", "is 1e+30, whose square is too large for float32"),
    ("lr_stability", "target=1e-30*exp(-t)", "is 1e-30, whose square is too close to 0 for float32"),
    ("largest_rate", "highest_rate=0.000100000000001", "in float32, the precision of this sweep, lowest_rate must be"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "fragment"), CASES)
def test_a_number_that_is_lost_is_refused(name, text, fragment):
    with pytest.raises(SpecError) as caught:
        load_spec(name, overrides=[text])
    assert fragment in str(caught.value)


@pytest.mark.parametrize("place", [0, 1, 2, 4, 5, 7, 8, 9, 11, 12, 13])
def test_float64_holds_more(place):
    name, text, _ = CASES[place]
    assert load_spec(name, overrides=[text, "precision=float64"])
    with pytest.raises(SpecError, match="float32"):
        load_spec(name, overrides=[text, "precision=float64,float32"])


def test_a_number_that_float64_itself_only_half_holds():
    with pytest.raises(SpecError, match=r"learning rate 1e-320 is too close to 0 for float64.*1.8e\+308\.$"):
        load_spec("lr_stability", overrides=["learning_rate=1e-320", "precision=float64"])


def test_a_grid_between_ends_far_apart_is_finite():
    spec = load_spec("maps", overrides=["constant_b=log(1e-300,1e300,5)", "precision=float64"])
    assert spec.axes["constant_b"] == (1e-300, 1e-150, 1.0, 1e150, 1e300)
