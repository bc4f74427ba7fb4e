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
