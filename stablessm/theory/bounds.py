"""Is a quantity of the weight bounded, by what, and where does it blow up?

A quantity is given in smooth pieces. On an open piece it is continuous, so it is bounded there if and only if its
limits at the two ends are finite. Where one is infinite its growth is read off the logarithmic derivative: with
k = lim (w - p) q'/q it grows like |w - p|^k at a finite p, and likewise at infinity, where an infinite k is exponential
growth or faster, at the rate lim q'/q.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import sympy

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import enclose, value_at
from stablessm.calculus.exponentials import in_exponentials
from stablessm.calculus.limits import limit_at, normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.derivation import interval, note
from stablessm.theory.problem import Problem, S, W
from stablessm.theory.signs import constant_sign, inner_points
from stablessm.theory.tails import Tail, tail_of

LARGE = 10**6
"""A counter-example shows the quantity above this number."""

_GROWN = 2
"""Growth over the last weights from 1e20 on that counts as evidence of a slow blow-up, whose limit is proved."""

_NEAR = (*range(1, 13), 20, 40, 80, 150)
"""Powers of ten at which a quantity is looked at on its way to infinity; past the last, eigenvalues underflow."""

_INFINITE = (sympy.oo, -sympy.oo)


@dataclass(frozen=True)
class Quantity:
    """A smooth quantity on an open interval; its modulus is what is bounded.

    Attributes:
        lower: lower end.
        upper: upper end.
        expression: in elementary functions of w.
        form: the same in w, the decay S and the functions of `special.py`, where that is shorter; or None.
        decay: s(w), what S stands for in the form.
    """

    lower: sympy.Expr
    upper: sympy.Expr
    expression: sympy.Expr
    form: sympy.Expr | None = None
    decay: sympy.Expr | None = None

    @property
    def enclosable(self) -> sympy.Expr:
        """The expression of w without 0/0 where s -> 0."""
        return self.expression if self.form is None else self.form.subs(S, self.decay)

    def tail(self, point: sympy.Expr, side: str) -> Tail:
        """The limit at an end of the piece, and what the quantity grows like there.

        Raises:
            Undecided: it was not found.
        """
        if self.form is not None:
            with suppress(Undecided):
                return tail_of(self.form, self.decay, point, side)
        own = normal(self.expression)
        return Tail(limit_at(own, W, point, side), own)

    def split_at_zero(self) -> "list[Quantity]":
        """The quantity on both sides of w = 0, where it lies inside."""
        if constant_sign(self.lower) in (0, 1) or constant_sign(self.upper) in (0, -1):
            return [self]
        if constant_sign(self.lower) is None or constant_sign(self.upper) is None:
            raise Undecided(f"whether 0 lies in ({self.lower}, {self.upper})")
        ends = (self.lower, sympy.Integer(0), self.upper)
        return [replace(self, lower=ends[i], upper=ends[i + 1]) for i in (0, 1)]


@dataclass(frozen=True)
class BlowUp:
    """An end of a piece at which a quantity is infinite."""

    quantity: Quantity
    point: sympy.Expr
    side: str

    def words(self, problem: Problem) -> str:
        """Where, and how fast."""
        q, point = self.quantity.tail(self.point, self.side).leading, self.point
        finite = point not in _INFINITE
        approach = f"w -> {problem.text(point)}" + (self.side if finite else "")
        rate = normal(sympy.diff(q, W) / q)
        distance = f"abs({problem.text(W - point)})" if finite else "abs(w)"
        try:
            speed = None if finite else self._exponential_speed(q)
            if speed is not None:
                return f"like exp({problem.text(tidy(speed) * W)}), up to powers, as {approach}"
            order = limit_at(normal(rate * (W - point if finite else W)), W, point, self.side)
            if order == 0:
                return f"slower than any power of {distance}, as a logarithm does, as {approach}"
            if order not in _INFINITE:
                return f"like {distance}^({problem.text(tidy(order))}) as {approach}"
            speed = limit_at(rate, W, point, self.side)
        except Undecided:
            return f"as {approach}"
        if finite or speed in _INFINITE:
            return f"faster than any {'power' if finite else 'exponential'} as {approach}"
        return f"like exp({problem.text(tidy(speed) * W)}), up to powers, as {approach}"

    def _exponential_speed(self, q: sympy.Expr) -> sympy.Expr | None:
        """k where q grows like e^(k w) up to powers of w: k = r lim u q'/q, q or q w in u = e^(r w)."""
        u = sympy.Symbol("u", positive=True)
        for form in (q, q * W):
            powers = in_exponentials(normal(form), W, u)
            if powers is not None and W not in powers[0].free_symbols:
                order = normal(u * sympy.diff(powers[0], u) / powers[0])
                end = sympy.oo if self.point is sympy.oo else sympy.Integer(0)
                speed = limit_at(order, u, end, "+" if end == 0 else "-")
                return None if speed in (*_INFINITE, 0) else speed * powers[1]
        return None

    def weights(self, values: dict) -> list[sympy.Expr]:
        """Weights that approach the point from inside the piece."""
        if self.point in _INFINITE:
            steps = [sympy.Integer(n) for n in (3, 5, 10, 15, 20, 30, 50, 100, 200, 500)]
            steps += [sympy.Integer(10) ** k for k in _NEAR if k > 2]
            return [(-n if self.point < 0 else n) for n in steps]
        direction = 1 if self.side == "+" else -1
        return [
            self.point.subs(values) + direction * sympy.Rational(1, 10**k)
            for k in (*range(1, 13), 20, 40, 80, 160, 300)
        ]


@dataclass(frozen=True)
class Bound:
    """What is known of sup |q|.

    Attributes:
        blow_ups: where q is infinite; empty if q is bounded.
        values: the moduli among which the supremum is, with where: (modulus, weight, attained);
            the weight is None where q is constant on a piece. Empty if not found.
        constant: the modulus, where q is constant.
        limits: what that rests on: (quantity, end of its piece, side, limit).
    """

    blow_ups: tuple[BlowUp, ...]
    values: tuple[tuple[sympy.Expr, sympy.Expr | None, bool], ...] = ()
    constant: sympy.Expr | None = None
    limits: tuple[tuple[Quantity, sympy.Expr, str, sympy.Expr], ...] = ()


def limits_of(quantities: list[Quantity]) -> Bound:
    """Decide whether a quantity given in pieces is bounded.

    Raises:
        Undecided: a limit at an end of a piece was not found.
    """
    constant = _constant(quantities)
    if constant is not None:
        return Bound((), ((constant, sympy.Integer(0), True),), constant)
    blow_ups, limits = [], []
    for q in quantities:
        if q.form is None:
            q = replace(q, expression=normal(q.expression))
        if q.expression == 0:
            continue
        for point, side in ((q.lower, "+"), (q.upper, "-")):
            value = q.tail(point, side).limit
            limits.append((q, point, side, value))
            if value in _INFINITE:
                blow_ups.append(BlowUp(q, point, side))
    return Bound(tuple(blow_ups), limits=tuple(limits))


def _constant(quantities: list[Quantity]) -> sympy.Expr | None:
    """The modulus of a quantity that is constant, the same on all pieces."""
    if not quantities or any(_moves(q) for q in quantities):
        return None
    pieces = [normal(q.expression) for q in quantities]
    if any(W in piece.free_symbols for piece in pieces):
        return None
    moduli = [modulus_of(piece) for piece in pieces]
    return moduli[0] if all(constant_sign(one - moduli[0]) == 0 for one in moduli) else None


def _moves(q: Quantity) -> bool:
    """Whether enclosures at two weights show that a quantity is not constant; normal forms of long ones are slow."""
    for values in trials((q.expression.free_symbols | q.lower.free_symbols | q.upper.free_symbols) - {W}, 1):
        seen = []
        for weight in inner_points(q.lower, q.upper):
            try:
                seen.append(enclose(q.enclosable, values | {W: weight.subs(values)}))
            except ArithmeticError:
                continue
        if any(one.b < other.a for one in seen for other in seen):
            return True
    return False


def modulus_of(value: sympy.Expr) -> sympy.Expr:
    """|value|, without the bars where its sign is known."""
    sign = constant_sign(value)
    return sympy.Abs(value) if sign is None else sign * value


def witness_of(
    bound: Bound, values: dict, usable: Callable[[sympy.Expr], bool] = lambda weight: True, large: int = LARGE
) -> tuple[sympy.Expr, object] | None:
    """A weight at which the quantity is above a large number, checked by interval arithmetic, and the value there.

    A logarithm never gets there: where none is found, the farthest weight to which the size went on growing. Weights
    that are not usable come last.
    """
    slow, unusable = None, None
    for blow_up in bound.blow_ups:
        seen = []
        for weight in blow_up.weights(values):
            try:
                size = abs(value_at(blow_up.quantity.enclosable, values | {W: weight}))
            except ArithmeticError:
                continue
            if not usable(weight):
                unusable = unusable or ((weight, size) if size > large else None)
                continue
            if size > large:
                return weight, size
            seen.append((size, weight))
        last = [size for size, _ in seen[-4:]]
        if slow is None and len(last) == 4 and last == sorted(set(last)) and last[-1] > _GROWN * last[0]:
            slow = seen[-1]
    return (slow[1], slow[0]) if slow else unusable


def note_bound(case: Problem, name: str, bound: Bound) -> None:
    """Note the quantity, its limits at the ends of the pieces, and its values at the zeros of its slope."""
    if bound.constant is not None:
        note(case, f"${name} = {{}}$ for every $w$", bound.constant)
    for quantity in dict.fromkeys(quantity for quantity, _, _, _ in bound.limits):
        where, ends = interval(case, quantity.lower, quantity.upper)
        note(case, f"up to its sign, ${name.rstrip(',')}$ is ${{}}${where}", quantity.expression, *ends)
        for own, point, side, limit in bound.limits:
            if own == quantity:
                way = "" if point in _INFINITE else " from above" if side == "+" else " from below"
                note(case, f"it tends to ${{}}$ as $w -> {{}}${way}", limit, point)
    for value, point, attained in bound.values:
        if attained and point is not None and bound.constant is None:
            note(case, "its slope vanishes at $w = {}$, where its size is ${}$", point, value)


def in_words(problem: Problem, name: str, bound: Bound) -> str:
    """The finding as text."""
    if bound.constant is not None:
        return f"{name} = {problem.text(bound.constant)} for every w"
    if bound.blow_ups:
        growth = list(dict.fromkeys(blow_up.words(problem) for blow_up in bound.blow_ups))
        return f"{name} is unbounded: it grows " + ", and ".join(growth)
    if not bound.values:
        return f"{name} is bounded; its supremum was not found in closed form"
    levels = [problem.text(value) for value, _, _ in bound.values]
    least = levels[0] if len(levels) == 1 else f"max({', '.join(levels)})"
    where = [
        f"{'at w =' if attained else 'as w ->'} {problem.text(point)}"
        for _, point, attained in bound.values
        if point is not None
    ]
    return ", ".join([f"sup of {name} = {least}", " or ".join(dict.fromkeys(where))][: 1 + bool(where)])
