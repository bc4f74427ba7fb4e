"""Pluggable maps w -> lambda: the record, its formula language and the built-in catalogue."""

from stablessm.parameterizations.catalogue import PARAMETERIZATIONS as PARAMETERIZATIONS
from stablessm.parameterizations.errors import ParameterizationError as ParameterizationError
from stablessm.parameterizations.family import Family as Family
from stablessm.parameterizations.image import Interval as Interval
from stablessm.parameterizations.record import Parameterization as Parameterization
