"""Best approximations of a memory kernel by sums of m decaying exponentials: how well m modes can do at all.

NumPy and SciPy in float64 on the host; what comes out are numbers, which measurements build into their programs.
"""

from stablessm.approximation.given_rates import best_amplitudes as best_amplitudes
from stablessm.approximation.given_rates import nonnegative_amplitudes as nonnegative_amplitudes
from stablessm.approximation.ladder import EXACT as EXACT
from stablessm.approximation.ladder import best_fits as best_fits
from stablessm.approximation.modes import Modes as Modes
from stablessm.approximation.products import InnerProduct as InnerProduct
from stablessm.approximation.projection import variable_projection as variable_projection
from stablessm.approximation.rational import rational_fit as rational_fit
