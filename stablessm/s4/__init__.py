"""The mathematics of S4 in small NumPy functions, complex128, as the page beside them (README.md) tells it.

They are for reading, for the page's pictures and as what the engine is held against; layers compute by the engine.
"""

from stablessm.s4.discretisation import System as System
from stablessm.s4.discretisation import bilinear as bilinear
from stablessm.s4.discretisation import zero_order_hold as zero_order_hold
from stablessm.s4.generating import by_definition as by_definition
from stablessm.s4.generating import by_diagonal as by_diagonal
from stablessm.s4.generating import by_inverse as by_inverse
from stablessm.s4.generating import by_low_rank as by_low_rank
from stablessm.s4.generating import kernel_from as kernel_from
from stablessm.s4.generating import readout as readout
from stablessm.s4.generating import roots_of_unity as roots_of_unity
from stablessm.s4.generating import truncated_readout as truncated_readout
from stablessm.s4.low_rank import LowRank as LowRank
from stablessm.s4.low_rank import discrete as discrete
from stablessm.s4.low_rank import factored_step as factored_step
from stablessm.s4.low_rank import hippo as hippo
from stablessm.s4.low_rank import woodbury as woodbury
from stablessm.s4.recurrence import convolution as convolution
from stablessm.s4.recurrence import kernel as kernel
from stablessm.s4.recurrence import recurrence as recurrence
