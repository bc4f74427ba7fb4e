"""The formula language: text -> SymPy, by a whitelist.

A formula is the decay s(w) of a map. Its grammar is Python's arithmetic over the weight `w`, numbers, constants (every
other name) and the functions in `FUNCTIONS`; `^` equals `**`. Formulas of another variable, and with more functions
(memory kernels), say so where they are read. The text is parsed into Python's syntax tree and the tree
is rebuilt node by node; nothing is ever evaluated, so a formula can call nothing and import nothing.

`constant_names` needs the standard library only; `parse` imports SymPy when called.
"""

from __future__ import annotations

import ast
import threading
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.magnitudes import LARGEST, unbounded_number
from stablessm.parameterizations.numbers import quoted

if TYPE_CHECKING:
    import sympy

WEIGHT = "w"
CHOICE = "chosen_map"
"""Reserved: which map of a `Family` is meant."""
FUNCTIONS = ("exp", "log", "sqrt", "sinh", "cosh", "tanh", "sigmoid", "softplus", "relu", "abs", "min", "max", "erf")
KERNEL_FUNCTIONS = (*FUNCTIONS, "sin", "cos", "airy", "step")  # of a memory kernel: Ai, and 1 for x > 0, else 0
STATEMENT_FUNCTIONS = (*FUNCTIONS, "asinh")  # of what `verify` states about a map
_VARIADIC = ("min", "max")
_MAXIMUM_LENGTH = 1000
_MAXIMUM_EXPONENT = 64

# CPython 3.11 counts the depth of the tree it builds in one number for all threads: where a garbage collection hands
# over to another thread that parses too, both fail with a SystemError.
_PARSING = threading.RLock()


def syntax_tree(text: str, mode: str) -> Any:
    """Return Python's syntax tree of a text, read by one thread at a time.

    Args:
        text: an expression or a module.
        mode: "eval" or "exec".

    Raises:
        SyntaxError: it is neither.
    """
    with _PARSING:
        return ast.parse(text, mode=mode)


def _refuse(formula: str, reason: str) -> ParameterizationError:
    return ParameterizationError(f"the formula {formula!r} cannot be read: {reason}")


def _tree(formula: str, functions: tuple[str, ...] = FUNCTIONS) -> ast.expr:
    if not isinstance(formula, str) or not formula.strip():
        raise ParameterizationError(
            f"a formula must be a non-empty text such as '1/(a*w**2 + b)', but got {quoted(formula)}"
        )
    return _parsed(formula, functions)


@lru_cache(maxsize=1024)
def _parsed(formula: str, functions: tuple[str, ...]) -> ast.expr:
    if len(formula) > _MAXIMUM_LENGTH:
        raise ParameterizationError(f"a formula may have {_MAXIMUM_LENGTH} characters, but this one has {len(formula)}")
    text = formula.strip().replace("^", "**")
    try:
        tree = syntax_tree(text, "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refuse(formula, getattr(error, "msg", None) or "it is not an arithmetic expression") from None
    try:
        _check(tree, formula, functions)
        reason = unbounded_number(tree, text)
    except RecursionError:
        raise _refuse(formula, "it is nested too deeply") from None
    if reason:
        raise _refuse(formula, reason)
    return tree


def _check(node: ast.AST, formula: str, functions: tuple[str, ...]) -> None:
    match node:
        case ast.Constant(value=bool()):
            raise _refuse(formula, f"{node.value} is not a number")
        case ast.Constant(value=int() | float()):
            if not abs(node.value) < LARGEST:
                raise _refuse(formula, "a number in it is too large")
        case ast.Name(id=name):
            if name in functions:
                raise _refuse(formula, f"the function {name} needs an argument in parentheses")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, formula, functions)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow() as op, right=right):
            _check(left, formula, functions)
            _check(right, formula, functions)
            if isinstance(op, ast.Pow):
                _check_exponent(right, formula)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in functions:
                near = get_close_matches(name, functions, 1)
                hint = f"; did you mean {near[0]}" if near else ""
                raise _refuse(formula, f"{name!r} is not one of the functions {', '.join(functions)}{hint}")
            if (len(arguments) < 2) if name in _VARIADIC else (len(arguments) != 1):
                wanted = "two or more arguments" if name in _VARIADIC else "one argument"
                raise _refuse(formula, f"{name} takes {wanted}, but got {len(arguments)}")
            for argument in arguments:
                _check(argument, formula, functions)
        case _:
            text = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
            raise _refuse(
                formula, f"{text!r} is neither a number, a name, arithmetic (+ - * / **) nor a known function"
            )


def _check_exponent(node: ast.AST, formula: str) -> None:
    """Refuse towers of numbers such as 9**9**9, which would be evaluated exactly."""
    if not any(isinstance(part, ast.Name) for part in ast.walk(node)):
        for part in ast.walk(node):
            too_large = isinstance(part, ast.Constant) and abs(part.value) > _MAXIMUM_EXPONENT
            if too_large or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)):
                raise _refuse(formula, f"a numeric exponent must be a number of size at most {_MAXIMUM_EXPONENT}")


def constant_names(formula: str, variable: str = WEIGHT, functions: tuple[str, ...] = FUNCTIONS) -> tuple[str, ...]:
    """Return the names of the constants of a formula: all but the variable and the functions, in order of appearance.

    Args:
        formula: text of the grammar above.
        variable: the name of its variable.
        functions: the functions it may call.

    Raises:
        ParameterizationError: the formula does not follow the grammar.

    Example:
        >>> constant_names("1/(a*w^2 + b)")
        ('a', 'b')
    """
    tree = _tree(formula, functions)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [
        (node.lineno, node.col_offset, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in called
    ]
    return tuple(dict.fromkeys(name for _, _, name in sorted(names) if name != variable))


def symbols(names: tuple[str, ...]) -> dict[str, sympy.Symbol]:
    """Return the SymPy symbols of a formula: `w` real, every constant positive."""
    import sympy

    return {WEIGHT: sympy.Symbol(WEIGHT, real=True)} | {name: sympy.Symbol(name, positive=True) for name in names}


def parse(formula: str, variable: str = WEIGHT, functions: tuple[str, ...] = FUNCTIONS) -> sympy.Expr:
    """Parse a formula into a SymPy expression over the primitives of `primitives.py`.

    Args:
        formula: text of the grammar above; decimal numbers are kept exactly, as rationals.
        variable: the name of the real variable (`w`, or `s` for an inverse); other names are positive constants.
        functions: the functions it may call.

    Returns:
        The expression, with a real symbol for the variable and positive ones for the constants.

    Raises:
        ParameterizationError: the formula does not follow the grammar, or is undefined everywhere (1/0).
    """
    return _built(formula, variable, functions)[0]


def restrictions(formula: str, variable: str = WEIGHT) -> tuple[tuple[sympy.Expr, sympy.Expr | None], ...]:
    """What a formula, as it is written, demands of the variable to have a real value.

    SymPy simplifies while it builds: w/w becomes 1 and sqrt(w)^4 becomes w^2. The demands are therefore collected from
    the syntax tree, part by part.

    Returns:
        (base, exponent) for each power and quotient (1/x has the exponent -1), (argument, None) for each logarithm;
        those that hold the variable, innermost first.

    Raises:
        ParameterizationError: as `parse`.

    Example:
        >>> restrictions("w/w + log(w)")
        ((w, -1), (w, None))
    """
    return _built(formula, variable, FUNCTIONS)[1]


@lru_cache(maxsize=1024)
def _built(
    formula: str, variable: str, functions: tuple[str, ...]
) -> tuple[sympy.Expr, tuple[tuple[sympy.Expr, sympy.Expr | None], ...]]:
    """The expression of a formula and its restrictions."""
    import sympy

    from stablessm.parameterizations import primitives

    table = {
        "exp": sympy.exp, "log": sympy.log, "sqrt": sympy.sqrt, "sinh": sympy.sinh, "cosh": sympy.cosh,
        "tanh": sympy.tanh, "sigmoid": primitives.sigmoid, "softplus": primitives.softplus,
        "relu": lambda x: sympy.Max(x, 0), "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max, "erf": sympy.erf,
        "sin": sympy.sin, "cos": sympy.cos, "airy": sympy.airyai, "step": lambda x: sympy.Heaviside(x, 0),
        "asinh": sympy.asinh,
    }  # fmt: skip
    demands: dict[tuple[sympy.Expr, sympy.Expr | None], None] = {}

    def build(node: ast.AST) -> sympy.Expr:
        match node:
            case ast.Constant(value=int() as number):
                return sympy.Integer(number)
            case ast.Constant(value=number):
                return sympy.Rational(repr(number))
            case ast.Name(id=name):
                return sympy.Symbol(name, real=True) if name == variable else sympy.Symbol(name, positive=True)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -build(operand)
            case ast.UnaryOp(operand=operand):
                return build(operand)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                built = [build(argument) for argument in arguments]
                if name in ("log", "sqrt"):
                    demands[built[0], None if name == "log" else sympy.S.Half] = None
                return table[name](*built)
            case ast.BinOp(left=left, op=op, right=right):
                first, second = build(left), build(right)
                match op:
                    case ast.Add():
                        return first + second
                    case ast.Sub():
                        return first - second
                    case ast.Mult():
                        return first * second
                    case ast.Div():
                        demands[second, sympy.S.NegativeOne] = None
                        return first / second
                    case _:
                        demands[first, second] = None
                        return first**second
        raise _refuse(formula, "it is not an arithmetic expression")

    expression = build(_tree(formula, functions))
    if expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise _refuse(formula, "it divides by zero")
    if expression.has(sympy.I):
        raise _refuse(formula, "it is complex-valued everywhere")
    symbol = sympy.Symbol(variable, real=True)
    kept = [
        (base, exponent)
        for base, exponent in demands
        if base.has(symbol) and not (exponent is not None and exponent.is_Integer and exponent >= 0)
    ]
    return expression, tuple(kept)
