"""Statement `stability`: is every eigenvalue the map can produce stable?

With the decay s(w) the eigenvalue is -s, 1 - s or exp(-s). It is stable exactly where s > 0, and under the link 1 - s
where 0 < s < 2. The range of s is known from finitely many extremes (ranges.py), hence

    stable for all w  <=>  v > 0 for every attained extreme v,  v >= 0 for every limit that is only approached,

and likewise with 2 - v. Each of these is a condition on the constants. Touching the boundary is a failure: there lambda
is 0 or has modulus 1 and the memory does not decay. Approaching it as w grows is not: that is how a map reaches long
memory.
"""

from dataclasses import dataclass

import sympy

from stablessm.calculus.approach import TRIAL_VALUES, contradicts, trials
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided, Undefined
from stablessm.theory.conditions import Requirement, failing_values, open_ones
from stablessm.theory.derivation import interval, note
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import Problem, W
from stablessm.theory.ranges import Extreme, extremes_of
from stablessm.theory.restrictions import undefined_at
from stablessm.theory.signs import constant_sign, inner_points
from stablessm.theory.statement import CounterExample, Statement
from stablessm.theory.witness import counterexample_at
from stablessm.theory.zeros import zeros_on

_WEIGHTS = [sympy.Rational(0)] + [
    sign * sympy.Rational(p, q)
    for p, q in [(1, 1), (2, 1), (1, 2), (3, 1), (5, 1), (1, 10), (3, 2), (10, 1), (20, 1), (50, 1), (1, 100), (300, 1)]
    for sign in (1, -1)
]
"""Weights tried for a counter-example, the simplest first."""


@dataclass(frozen=True)
class Range:
    """The range of the decay over all real weights.

    Attributes:
        extremes: the values that bound it.
        gaps: weights at which the decay has no real value, one per gap.
        requirements: what stability demands of the constants.
    """

    extremes: tuple[Extreme, ...]
    gaps: tuple[sympy.Expr, ...]
    requirements: tuple[Requirement, ...]


def range_of(problem: Problem) -> Range:
    """The range of the decay, for all values of the constants that are symbols.

    Raises:
        Undecided: some extreme was not found.
    """
    pieces = pieces_of(problem.decay, W, restrictions=problem.restrictions)
    extremes = tuple(extremes_of(problem.decay, pieces, W))
    requirements = []
    for extreme in extremes:
        requirements.append(Requirement(extreme.value, extreme.attained))
        if problem.link == "one-minus":
            requirements.append(Requirement(2 - extreme.value, extreme.attained))
    return Range(extremes, _gaps_between(problem, pieces), tuple(requirements))


def gaps_of(problem: Problem) -> tuple[sympy.Expr, ...]:
    """Weights at which the decay as it is written has no real value, one for each gap.

    Raises:
        Undecided: an end of a gap was not found.
    """
    return _gaps_between(problem, pieces_of(problem.decay, W, restrictions=problem.restrictions))


def _gaps_between(problem, pieces):
    gaps = [inner_points(p.lower, p.upper)[1] for p in pieces if p.expression is None]
    return (*gaps, *(p.upper for p in pieces[:-1] if p.upper not in gaps and _undefined(problem, p.upper)))


def _undefined(problem, point) -> bool:
    if undefined_at(problem, point, {}):
        return True
    return all(_raises_undefined(problem, point, values) for values in trials(set(problem.constants), 3))


def _raises_undefined(problem, point, values) -> bool:
    try:
        enclose(problem.decay, values | {W: point.subs(values)})
    except Undefined:
        return True
    except ArithmeticError:
        return False
    return False


def stability(problem: Problem) -> Statement:
    """Decide whether the map is stable for every weight, with the condition on its constants."""
    values = dict(problem.values)
    tried = []
    for attempt in dict.fromkeys((problem, problem.specialised())):
        try:
            found = range_of(attempt)
        except Undecided as reason:
            tried.append(str(reason))
            continue
        if not _survives(attempt, found, values):
            tried.append("the range of s in general; at these constants the numbers are different")
            continue
        return _decided(problem, attempt, found)
    for trial in trials(set(problem.specialised().constants), len(TRIAL_VALUES)):
        chosen = values | trial
        witness = unstable_weight(problem, chosen)
        if witness is not None:
            example = counterexample_at(problem, witness, chosen)
            return Statement("stability", "refuted", failure_text(example), None, example, "numeric")
    return Statement("stability", "undecided", problem.rename("tried: " + "; ".join(tried)))


def _survives(attempt, found, given) -> bool:
    """Whether enclosures at the given constants speak against none of the limits."""
    values = {symbol: given.get(symbol, sympy.Integer(1)) for symbol in attempt.constants}
    return not any(
        extreme.side and contradicts(attempt.decay, W, extreme.weight, extreme.side, extreme.value, values)
        for extreme in found.extremes
    )


def _note_range(problem, attempt, found):
    link = {"continuous": "-s", "one-minus": "1 - s", "exponential": "e^(-s)"}[problem.link]
    note(attempt, "$s(w) = {}$, and $lambda = {}$", attempt.decay, link.replace("^(-s)", "^{-s}"))
    for piece in pieces_of(attempt.decay, W, restrictions=attempt.restrictions):
        if piece.expression is None:
            note(attempt, "the formula has no real value for ${} < w < {}$", piece.lower, piece.upper)
            continue
        where, ends = interval(attempt, piece.lower, piece.upper)
        slope = normal(sympy.diff(piece.expression, W))
        zeros = zeros_on(slope, W, piece.lower, piece.upper) if slope != 0 else ()
        note(attempt, f"$s'(w) = {{}}${where}", slope, *ends)
        if slope != 0:
            listed = ", ".join(["$w = {}$"] * len(zeros))
            note(attempt, f"it vanishes at {listed} only" if zeros else "it has no zero there", *zeros)
    for extreme in found.extremes:
        sign = "=" if extreme.attained else "->"
        word = "at" if extreme.attained else "as"
        note(attempt, f"$s {sign} {{}}$ {word} $w {sign} {{}}$", extreme.value, extreme.weight)
    note(attempt, "between neighbouring ones $s$ is monotone, so that these values bound its range")
    demand = "$0 < s < 2$" if problem.link == "one-minus" else "$s > 0$"
    note(attempt, f"$lambda$ is stable exactly where {demand}")


def _decided(problem, attempt, found):
    _note_range(problem, attempt, found)
    values = {symbol: value for symbol, value in problem.values if symbol in attempt.constants}
    everything = dict(problem.values)
    needed = None if found.gaps else open_ones(list(found.requirements))
    condition = _condition(problem, attempt, needed)
    shown = _describe(problem, found)
    if needed is not None:
        held = [requirement.holds(values) for requirement in needed]
        if all(held):
            return Statement("stability", "proved", shown, condition)
        if False not in held:
            free = tuple(symbol for symbol in attempt.constants if symbol not in values)
            everything = failing_values(needed, everything, free)
            if everything is None:
                return Statement(
                    "stability", "undecided", f"{shown}; tried: constants that break the condition", condition
                )
    else:
        everything |= {symbol: sympy.Integer(1) for symbol in problem.constants if symbol not in everything}
    points = [e.weight for e in found.extremes if e.weight.is_finite is not False and e.attained]
    witness = unstable_weight(problem, everything, points + list(found.gaps))
    if witness is None:
        return Statement("stability", "undecided", f"{shown}; tried: a weight that breaks the condition", condition)
    example = counterexample_at(problem, witness, everything)
    return Statement("stability", "refuted", f"{shown}; {failure_text(example)}", condition, example)


def unstable_weight(problem: Problem, values: dict, points: tuple = ()) -> sympy.Expr | None:
    """A weight at which the eigenvalue is certainly not stable; None if none was found.

    Unstable ones first, for what lies on the boundary by exact arithmetic may round to either side of it; then those on
    the boundary, then those where the formula is not real.
    """
    decay, boundary, gap = problem.decay.subs(values), None, None
    for weight in [*_WEIGHTS, *points]:
        point = weight.subs(values)
        try:
            if undefined_at(problem, point, values):
                raise Undefined(f"the formula at {point}")
            if any(node.base.is_negative for node in decay.atoms(sympy.Pow)) and decay.subs(W, point).is_real:
                continue  # (-2)^w is real at whole numbers
            enclose(decay, {W: point})
        except Undefined:
            gap = point if gap is None else gap
            continue
        except ArithmeticError:
            continue
        value = decay.subs(W, point)
        signs = [constant_sign(value), *([constant_sign(2 - value)] if problem.link == "one-minus" else [])]
        if -1 in signs:
            return point
        if 0 in signs and boundary is None:
            boundary = point
    return gap if boundary is None else boundary


def failure_text(example: CounterExample) -> str:
    """The counter-example in words."""
    found = "no real eigenvalue" if example.eigenvalue is None else f"eigenvalue {example.eigenvalue:.6g}"
    return f"{found} at w = {example.weight:.6g}"


def _condition(problem, attempt, needed):
    if needed is None:
        return "never"
    if needed:
        return problem.rename(" and ".join(sympy.sstr(requirement.relation()) for requirement in needed))
    if attempt.constants:
        return problem.rename("all " + ", ".join(f"{symbol} > 0" for symbol in attempt.constants))
    return None


def _describe(problem, found) -> str:
    """The range in words: values attained, with where, and values approached."""
    parts: dict[str, list[str]] = {}
    for extreme in found.extremes:
        if extreme.span:
            lower, upper = (problem.text(end) for end in extreme.span)
            parts[f"s = {problem.text(extreme.value)} for {lower} < w < {upper}"] = []
            continue
        verb = "=" if extreme.attained else "->"
        parts.setdefault(f"s {verb} {problem.text(extreme.value)}", []).append(problem.text(extreme.weight))
    low, high = _ends(found.extremes)
    shown = f"{problem.text(low[0])} {low[1]} s {high[1]} {problem.text(high[0])}" if low and high else "range of s"
    where = []
    for value, weights in parts.items():
        at, verb = ("as", "->") if "->" in value else ("at", "=")
        where.append(f"{value} {at} w {verb} {', '.join(weights)}" if weights else value)
    gaps = [f"s is not defined at w = {problem.text(gap)}" for gap in found.gaps]
    return "; ".join([shown, *where, *gaps])


def _ends(extremes):
    """The least and the greatest value with "<=" where it is attained, where the constants let them be compared."""
    ends = []
    for direction in (1, -1):
        best = None
        for extreme in extremes:
            difference = 1 if best is None else constant_sign(direction * (best.value - extreme.value))
            if best is not None and best.value == extreme.value:
                difference = 0
            if difference is None:
                return None, None
            if difference > 0 or (difference == 0 and extreme.attained):
                best = extreme
        ends.append((best.value, "<=" if best.attained else "<") if best else None)
    return ends
