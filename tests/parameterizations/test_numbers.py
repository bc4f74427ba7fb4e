"""Numbers as a user gives them, and formulas read by several threads at once."""

import gc
import sys
import threading

import numpy as np
import pytest

from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.grammar import constant_names
from stablessm.parameterizations.numbers import finite, quoted

MAP = Parameterization.from_formula
DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.int8(3), np.array(3.0)])
def test_a_finite_number_is_its_float(value):
    assert finite(value) == 3.0 and type(finite(value)) is float


@pytest.mark.parametrize("value", [True, np.bool_(True), 10**400, -(10**400), float("nan"), np.inf, "3", None, [3], 3j])
def test_anything_else_is_no_finite_number(value):
    assert finite(value) is None


def test_every_value_can_be_quoted():
    assert quoted("a") == "'a'" and len(quoted(10**400)) == 80
    assert quoted(10**9000) == "an integer of 29898 bits"
    assert quoted([10**9000]) == "a list" and quoted(DEEP) == "a list nested too deeply"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: MAP([1]), "must be a non-empty text such as '1/(a*w**2 + b)', but got [1]"),
        (lambda: MAP(None), "but got None"),
        (lambda: MAP("exp(w)", name=3), "the name of a map must be a text, but got 3"),
        (lambda: MAP("b*exp(w)", constants=[1]), "must be a mapping from names to numbers"),
        (lambda: MAP("b*exp(w)", constants={1: 1}), "must be a mapping from names to numbers"),
        (lambda: MAP("b*exp(w)", constants={"b": 10**400}), "positive finite number, but got 1"),
        (lambda: MAP("b*exp(w)", constants={"b": [1]}), "positive finite number, but got [1]"),
        (lambda: MAP("b*exp(w)", constants={"b": 1}).weight(0.1, b=10**400), "but got 1000"),
    ],
)  # fmt: skip
def test_a_wrong_type_or_size_is_one_sentence(act, message):
    with pytest.raises(ParameterizationError) as caught:
        act()
    assert message in str(caught.value)


def test_numbers_of_equal_value_make_equal_maps():
    one, other = (MAP("b*exp(w)", constants={"b": b}) for b in (2, np.float64(2)))
    assert one == other and hash(one) == hash(other) and type(one.constants["b"]) is float


@pytest.fixture
def busy_collector():
    """Collections that let another thread run, as a callback that calls foreign code does."""
    switch, threshold = sys.getswitchinterval(), gc.get_threshold()

    def hand_over(*_):
        threading.Event().wait(1e-5)

    gc.callbacks.append(hand_over)
    sys.setswitchinterval(1e-5)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(switch)
    gc.callbacks.remove(hand_over)


def test_threads_read_formulas_side_by_side(busy_collector):
    failures = []

    def read(thread):
        try:
            for count in range(25):
                text = "+".join(f"c{place}*(w+{place}.{count}{thread})" for place in range(20))
                assert constant_names(text)[0] == "c0"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
