r"""The program of the measurement `certificates`.

Nothing is derived here. g(beta) and the suprema are read from the text of the statements of `verify`, in the grammar it
was written in; the gradient scale, its quotient with the weight and the largest stable step are the expressions whose
closed form or bound the statements state (`theory.gradient.scale_of`, `theory.quantities.expression_of`), at the weight
of each memory length. All of it is evaluated in 30 digits when the program is built, so that a figure of the dataset
shows what is proved, on any device, to the last bit of its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import mpmath
import numpy as np
import sympy
from jax import Array

from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided
from stablessm.measurements.base import Program
from stablessm.measurements.certificates import MODULI, STATEMENTS, VERDICTS, CertificateSettings
from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.domain import exact_constants
from stablessm.parameterizations.grammar import STATEMENT_FUNCTIONS, parse
from stablessm.parameterizations.primitives import elementary
from stablessm.theory.cache import certified
from stablessm.theory.domain import Cell
from stablessm.theory.gradient import scale_cells, scale_of
from stablessm.theory.problem import Problem, W, problem_of
from stablessm.theory.quantities import expression_of
from stablessm.theory.statement import Statement

_DIGITS = 30
_K, _BY_SLOPE = sympy.Symbol("K", positive=True), ", K the supremum"
_NEWTON = 6
_CURVES = ("gradient_scale", "gradient_over_weight", "stable_step")
_SUPREMA = {"modulus_slope": "modulus", "largest_gradient_over_weight": "gradient_over_weight",
            "lipschitz_constant": "lipschitz", "smallest_stable_step": "curvature"}  # fmt: skip
_SUPREMUM = (  # the upper end of an enclosure, or a closed form
    re.compile(r"sup of [^=]+ lies in \[\S+, (\S+)\].*"),
    re.compile(r"sup of [^=]+ = ([^=]+?)(?:, (?:at|as) w .*)?"),
    re.compile(r"[^=]+ = ([^=]+) for every w"),
)
_MEANING = re.compile(r", tau = [^,]+,")


def certificates(static: Mapping[str, Any], settings: CertificateSettings) -> Program:
    """Program of `certificates`: everything is known when it is built."""
    found = certificate_of(static["parameterization"], settings)
    coordinates = {
        "statement": np.asarray(STATEMENTS),
        "beta": betas(settings),
        "memory_length": np.geomspace(settings.shortest_memory, settings.longest_memory, settings.points),
    }

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        return {
            name: jnp.asarray(value, jnp.int8 if value.dtype.kind == "i" else jnp.result_type(float))
            for name, value in found.items()
        }

    return Program(coordinates, lambda seed: (), measure)


def betas(settings: CertificateSettings) -> np.ndarray:
    """Return the sizes of perturbation."""
    return np.geomspace(settings.smallest_beta, settings.greatest_beta, settings.points)


def certificate_of(parameterization: Parameterization, settings: CertificateSettings) -> dict[str, np.ndarray]:
    """Return the verdicts, curves and suprema of a map, by the names of the measurement's variables.

    Args:
        parameterization: the map, every constant with a value.
        settings: the grids.
    """
    values = exact_constants(parameterization)
    problem = problem_of(
        parameterization.expression,
        parameterization.link,
        parameterization.constants,
        parameterization.restrictions,
    )
    certificate = certified(parameterization)
    statements = {one: certificate[one] for one in STATEMENTS}
    lengths = np.geomspace(settings.shortest_memory, settings.longest_memory, settings.points)
    suprema = {name: _supremum(statements[one], values) for name, one in _SUPREMA.items()}
    kind, modulus = _modulus(statements["modulus"], betas(settings), values, suprema["modulus_slope"])
    suprema["smallest_stable_step"] = 1 / suprema["smallest_stable_step"]  # the statement bounds 1/step
    return {
        "verdict": np.asarray([VERDICTS.index(statements[one].verdict) for one in STATEMENTS]),
        "modulus_kind": np.asarray(MODULI.index(kind)),
        "modulus": modulus,
        **dict(zip(_CURVES, _over_memory(parameterization, problem.specialised(), lengths), strict=True)),
        **{name: np.asarray(value) for name, value in suprema.items()},
    }


def _modulus(
    statement: Statement, betas: np.ndarray, values: Mapping[sympy.Symbol, Any], slope: float
) -> tuple[str, np.ndarray]:
    """What is known of g, and g: infinite where none exists, NaN where neither a form nor a slope is stated."""
    if statement.verdict == "refuted":
        return "none", np.full(betas.shape, np.inf)
    for part in statement.expression.split("; "):
        stated = re.fullmatch(r"g\(beta\) (=|<=) (.+?)(?: for (.+), where lambda >= 0)?", part)
        by_slope = bool(stated) and stated[2].endswith(_BY_SLOPE)
        known = values | ({_K: sympy.Rational(repr(slope))} if by_slope and np.isfinite(slope) else {})
        text = stated[2].removesuffix(_BY_SLOPE) if stated else ""
        expression = stated and _holds(stated[3], values) and _read(text, "beta", known)
        if isinstance(expression, sympy.Expr) and len(expression.free_symbols) == 1:
            function = sympy.lambdify(sympy.Symbol("beta", real=True), expression, "mpmath")
            with mpmath.workdps(_DIGITS):
                curve = np.asarray([float(function(mpmath.mpf(beta))) for beta in betas])
            return "least" if stated[1] == "=" else "bound", curve
    return "open", np.full(betas.shape, np.nan)


def _holds(condition: str | None, values: Mapping[sympy.Symbol, Any]) -> bool:
    """Whether a condition such as "b >= 1" holds at the constants' values; none always does, an unread one never."""
    for part in condition.split(" and ") if condition else ():
        sides = re.fullmatch(r"(.+?) (>=|>) (.+)", part)
        high, low = (sides and _read(sides[side], "beta", values) for side in (1, 3))
        if high is None or low is None or not (high > low or (sides[2] == ">=" and high == low)):
            return False
    return True


def _supremum(statement: Statement, values: Mapping[sympy.Symbol, Any]) -> float:
    """The supremum that a statement states, or its upper bound; infinite where it is refuted, NaN where none is."""
    if statement.verdict == "refuted":
        return np.inf
    for part in statement.expression.split("; "):
        for form in _SUPREMUM:
            stated = form.fullmatch(_MEANING.sub("", part))
            level = stated and _read(stated[1], "beta", values)
            if isinstance(level, sympy.Expr):
                return float(level.evalf(_DIGITS))
    return np.nan


def _read(text: str, variable: str, values: Mapping[sympy.Symbol, Any]) -> sympy.Expr | None:
    """An expression of a statement with the constants' values put in; None where the text is no formula."""
    try:
        return elementary(parse(text, variable, STATEMENT_FUNCTIONS)).subs(values)
    except ParameterizationError:
        return None


def _over_memory(parameterization: Parameterization, problem: Problem, lengths: np.ndarray) -> np.ndarray:
    """Gradient scale, its quotient with the weight and largest stable step at each memory length, lambda >= 0.

    NaN where the map does not reach, or no smooth piece of it was found.
    """
    found = np.full((len(_CURVES), len(lengths)), np.nan)
    try:
        cells = [cell for cell in scale_cells(problem) if cell.branch != "2-s"]
    except Undecided:
        return found
    curves = [[sympy.lambdify(W, one, "mpmath") for one in _expressions(problem, cell)] for cell in cells]
    ends = [(float(cell.lower), float(cell.upper)) for cell in cells]
    with mpmath.workdps(_DIGITS):
        for place, weight in enumerate(_weights(parameterization, problem, lengths)):
            for functions, (lower, upper) in zip(curves, ends, strict=True):
                if weight is not None and lower < weight < upper:
                    found[:, place] = [_size(function, weight) for function in functions]
    with np.errstate(divide="ignore"):
        found[-1] = 1 / found[-1]
    return found


def _expressions(problem: Problem, cell: Cell) -> tuple[sympy.Expr, ...]:
    """Gradient scale, its quotient with the weight and 1/step on a cell, up to sign."""
    scale = scale_of(cell)
    return scale, normal(scale / W), normal(expression_of("curvature", cell, problem.link))


def _size(function: Callable[[Any], Any], weight: Any) -> float:
    try:
        return float(abs(function(weight)))
    except ZeroDivisionError:
        return np.inf


def _weights(parameterization: Parameterization, problem: Problem, lengths: np.ndarray) -> list[Any]:
    """The weight of each memory length, to 30 digits; None where it is not reached.

    From the closed inverse where the map has one, else from the map's search, made exact by Newton's method.
    """
    exponential, image = parameterization.link == "exponential", parameterization.image
    most = 1.0 if parameterization.link == "one-minus" else np.inf  # lambda >= 0
    decays = [(-mpmath.log1p(-1 / mpmath.mpf(one)) if one > 1 else mpmath.inf) if exponential else 1 / mpmath.mpf(one)
              for one in lengths]  # fmt: skip
    reached = [float(decay) in image and 0 < decay <= most for decay in decays]
    formula = dict(parameterization.inverses).get(parameterization.link)
    if formula is not None:
        values = exact_constants(parameterization)
        inverse = sympy.lambdify(
            sympy.Symbol("s", real=True), elementary(parse(formula, variable="s")).subs(values), "mpmath"
        )
        return [inverse(decay) if there else None for decay, there in zip(decays, reached, strict=True)]
    own, slope = (sympy.lambdify(W, one, "mpmath") for one in (problem.decay, sympy.diff(problem.decay, W)))
    return [_near(parameterization, own, slope, decay) if there else None
            for decay, there in zip(decays, reached, strict=True)]  # fmt: skip


def _near(parameterization: Parameterization, decay: Any, slope: Any, wanted: Any) -> Any:
    try:
        weight = mpmath.mpf(float(parameterization.weight(float(wanted))))
    except ParameterizationError:  # not on the branch that the map's search goes over
        return None
    for _ in range(_NEWTON):
        change = slope(weight)
        weight = weight - (decay(weight) - wanted) / change if change else weight
    return weight if abs(decay(weight) - wanted) <= abs(wanted) * mpmath.mpf(10) ** -12 else None
