"""Limits: rules that hold for all constants, and the check of a symbolic engine by enclosures."""

import pytest
import sympy
from sympy import Rational

from stablessm.calculus.approach import contradicts
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.exponentials import in_exponentials, natural
from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.orders import limit_by_orders
from stablessm.calculus.outcomes import Undecided
from stablessm.calculus.special import DECREASING, FAR, NEAR, Chi, Phi, Psi
from stablessm.theory.pieces import Piece
from stablessm.theory.problem import S, W
from stablessm.theory.ranges import extremes_of
from stablessm.theory.tails import tail_of
from stablessm.theory.zeros import zeros_on

p, q = sympy.symbols("p q", positive=True)
oo = sympy.oo


@pytest.mark.parametrize(
    "expression, point, side, expected",
    [
        (W**p, 0, "+", 0), (W ** (p + 1) / W, 0, "+", 0), (W ** (-p), 0, "+", oo), (W ** (p - 2), 0, "+", None),
        (p * W ** (p - 1) / W + 2, 0, "+", None), ((2 * W**p + 1) / (3 * W**p + W ** (p / 2)), oo, "-", "2/3"),
        (W**p + W**2, oo, "-", oo), (W**p - W**2, oo, "-", None), (sympy.exp(-(W**p)), oo, "-", 0),
        (W**p * sympy.exp(W**p), 0, "+", 0), (sympy.log(W) / W**p, 0, "+", -oo), (sympy.log(1 + W**p), 0, "+", 0),
        ((-W) ** p, 0, "-", 0), ((q - 1) * W, oo, "-", None),
    ],
)  # fmt: skip
def test_rules_of_orders(expression, point, side, expected):
    found = limit_by_orders(expression, W, sympy.sympify(point), side)
    assert found == (None if expected is None else sympy.sympify(expected))


@pytest.mark.parametrize(
    "expression, point, claim, false",
    [
        (2**W, -oo, 0, oo), (sympy.log(W), oo, oo, 3), (1 / sympy.log(W), oo, 0, 1),
        (sympy.log(sympy.log(W)), oo, oo, 5),
        (sympy.tanh(W), oo, 1, 0), ((sympy.exp(W) - 1) / W, 0, 1, 2), (W ** (p - 2), oo, oo, 0),
    ],
)  # fmt: skip
def test_enclosures_speak_against_false_limits_only(expression, point, claim, false):
    values = {p: sympy.Integer(3)} if expression.has(p) else None
    point, claim, false = map(sympy.sympify, (point, claim, false))
    assert contradicts(expression, W, point, "+", claim, values) is False
    assert contradicts(expression, W, point, "+", false, values) is True


def test_a_false_answer_of_the_engine_is_not_passed_on(monkeypatch):
    monkeypatch.setattr(sympy, "limit", lambda *_: sympy.oo)
    with pytest.raises(Undecided):
        limit_at(sympy.erf(W) * sympy.log(2 + W**2) / W, W, sympy.oo, "-")


def test_an_unsigned_power_of_zero_is_no_value():
    with pytest.raises(Undecided):
        limit_at(sympy.tanh(W) * W ** (p - 2), W, sympy.Integer(0), "+")


@pytest.mark.parametrize(
    "form, decay, point, limit",
    [
        (W / S * Phi(S), sympy.exp(W), oo, 0), (sympy.exp(W) / S * Phi(S), sympy.exp(W), oo, 0),
        (sympy.exp(W) / S * Phi(S), sympy.exp(W), -oo, 1), (W**2 * S**2 * Psi(S), 1 / W, oo, 1),
        (Chi(S), 2 + 1 / W, oo, "4*8*(exp(2) + exp(-2))/(exp(2) - exp(-2))**3"),
        ((Psi(S) - Phi(S)) / S, 1 / W, oo, "1/2"), ((Psi(S) - Phi(S)) / S**2, 1 / W, oo, None),
    ],
)  # fmt: skip
def test_limits_by_way_of_the_decay(form, decay, point, limit):
    if limit is None:
        with pytest.raises(Undecided):
            tail_of(sympy.expand(form), decay, point, "-")
    else:
        assert sympy.simplify(tail_of(sympy.expand(form), decay, point, "-").limit - sympy.sympify(limit)) == 0


def test_an_exponential_of_an_exponential_is_not_taken_for_a_power():
    assert limit_at(sympy.exp(W - sympy.exp(W)), W, oo, "-") == 0


@pytest.mark.parametrize("function", DECREASING)
def test_functions_of_the_decay_lie_between_their_series_and_meet_their_values_far_out(function):
    for s in ("1e-30", "1e-3", "1e-2"):
        power, scale = NEAR[function]
        value, near = (enclose(form, {}) for form in (function(Rational(s)), 1 - scale * Rational(s) ** power))
        assert value.b <= 1 and abs(value - near).b <= 2 * float(s) ** (power + 1) + 1e-29
    ratio = enclose(function(Rational(90)) / FAR[function](Rational(90)), {})
    assert abs(ratio - 1).b < 1e-30


def test_rates_that_are_commensurable_share_a_base():
    u = sympy.Symbol("u", positive=True)
    form, rate = in_exponentials(natural(8**W + sympy.Rational(1, 2) ** W, W), W, u)
    assert (form, rate) == (u**3 + 1 / u, sympy.log(2))
    form, rate = in_exponentials(natural(2**W + 3**W, W), W, u)
    assert form.has(W)


def test_equal_ends_of_a_monotone_piece_are_a_contradiction(monkeypatch):
    monkeypatch.setattr("stablessm.theory.ranges.limit_at", lambda *_: sympy.oo)
    with pytest.raises(Undecided, match="monotone"):
        extremes_of(sympy.exp(W), (Piece(-oo, oo, sympy.exp(W)),), W)


def test_a_value_outside_the_ends_is_a_contradiction(monkeypatch):
    monkeypatch.setattr("stablessm.theory.ranges.limit_at", lambda _, __, end, ___: sympy.Integer(2 if end > 0 else 1))
    with pytest.raises(Undecided, match="values"):
        extremes_of(sympy.exp(W), (Piece(-oo, oo, sympy.exp(W)),), W)


def test_large_multiples_in_exponents_are_not_written_out():
    large = sympy.exp(10**8 * W)
    assert normal((large**2 - 1) / (large - 1)) == large + 1
    assert in_exponentials(large + sympy.exp(W), W, sympy.Symbol("u", positive=True)) is None
    assert sympy.expand(normal(large - sympy.exp(W))) == large - sympy.exp(W)


@pytest.mark.parametrize(
    "expression, zeros",
    [
        (sympy.sqrt(1 + W**2) - 2, (-sympy.sqrt(3), sympy.sqrt(3))),
        (sympy.log(1 + sympy.exp(W)) ** 2 - 2, (sympy.log(sympy.exp(sympy.sqrt(2)) - 1),)),
        (2 - sympy.log(2 + W) ** -3, (sympy.exp(Rational(1, 2) ** Rational(1, 3)) - 2,)),
        (sympy.sqrt(1 + W**4) - Rational(1, 2), ()),
    ],
)
def test_levels_of_powers_are_found(expression, zeros):
    found = zeros_on(expression, W, sympy.Integer(-1 if expression.has(sympy.log(2 + W)) else -9), sympy.Integer(9))
    assert len(found) == len(zeros)
    assert all(abs(sympy.N(one - other, 30)) < 1e-25 for one, other in zip(found, zeros, strict=True))
