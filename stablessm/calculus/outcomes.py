"""What a computation of this package can end in, other than a value.

A proof step either succeeds or says that it could not decide; it never guesses. The three exceptions below are the only
ways in which the steps of this package fail, and each one ends up in a verdict.
"""


class Undecided(Exception):
    """A step could not be closed; the message says what was tried."""


class Undefined(ArithmeticError):
    """An expression has no finite real value at a point, e.g. log(-1) or 1/0."""


class Unresolved(ArithmeticError):
    """An interval is too wide, or a number too large, to tell whether the value exists."""


# What SymPy raises where it finds no value, and what breaks on its way there. NotImplementedError is SymPy's word for
# "I have no rule for this limit": an answer of the library, and nothing that is unfinished here. Whoever catches these
# goes on with another method, and ends as `Undecided` where none is left. RuntimeError, its parent, would catch more:
# an interruption that comes while a class is made arrives as one.
SYMPY_GAVE_UP = (NotImplementedError, ValueError, TypeError, AttributeError, RecursionError, ArithmeticError)
