"""The map s(w) = 1/cosh(w): bounded like best, with a tail that falls like that of exp."""

from stablessm import Parameterization

SECH = Parameterization.from_formula("1/cosh(w)", name="sech")
