"""Target memory kernels rho(t), as data: what a linear functional remembers of its past.

A target is a closed form (`Target`), a column of samples in a file, or the measured autocorrelation of a real series
(`SampledTarget`). Importing the package imports no array library.
"""

from stablessm.targets.catalogue import TARGETS as TARGETS
from stablessm.targets.catalogue import target_of as target_of
from stablessm.targets.errors import TargetError as TargetError
from stablessm.targets.record import Target as Target
from stablessm.targets.sampled import SampledTarget as SampledTarget
