"""The image of a formula: its ends are exact where a scan of weights would stop short, overflow or round."""

import pytest

from stablessm import Parameterization

IMAGES = {
    "log(1+exp(w))*0.9": "(0, inf)",  # exp overflows at 710, where the value is 639
    "log(2+w^2)": "[0.6931471806, inf)",  # 175 at the largest float32
    "log(2+exp(w))": "(0.6931471806, inf)",
    "exp(w)/(3+exp(w))": "(0, 1)",
    "1+tanh(w)": "(0, 2)",  # rounds to 2 from w = 19 on
    "exp(-exp(-w))": "(0, 1)",  # underflows to 0
    "min(exp(w), 0.9)": "(0, 0.9]",
    "max(w-3, 0)*max(-w, 0) + 1": "[1, 1]",
    "2^w": "(0, inf)",
    "-log(abs(w))": "(-inf, inf)",
    "exp(log(w)) + 1": "(1, inf)",
    "w/w": "[1, 1]",
    "1/(1-w)": "(-inf, inf)",  # the pole lies between two weights of the scan
    "w*exp(-w)": "(-inf, 0.3678794412]",
    "1/(w^2 + c)": "(0, 4]",
}


@pytest.mark.parametrize("formula", IMAGES)
def test_the_image_of_a_formula(formula):
    constants = {"c": 0.25} if "c)" in formula else {}
    assert str(Parameterization.from_formula(formula, constants=constants).image) == IMAGES[formula]


def test_a_decay_beyond_the_overflow_of_a_part_has_a_weight():
    softplus = Parameterization.from_formula("0.9*log(1+exp(w))")
    assert softplus.weight(9000.0) == pytest.approx(10000.0)
