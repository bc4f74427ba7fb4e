"""Training: one loop, optimisers by name, outcomes as data."""

from stablessm.training.optimizers import OPTIMIZERS as OPTIMIZERS
