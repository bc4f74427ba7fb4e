"""Real data from local files and installed packages."""

from stablessm.data.registry import DATA_SETS as DATA_SETS
from stablessm.data.registry import DataError as DataError
