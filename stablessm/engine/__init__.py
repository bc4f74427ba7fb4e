"""Numerics of diagonal linear recurrences: powers, kernels, convolutions, recurrences (see README.md here)."""

from stablessm.engine.accuracy import error_estimate as error_estimate
from stablessm.engine.bank import filter_bank as filter_bank
from stablessm.engine.bank import last_state as last_state
from stablessm.engine.choice import choose as choose
from stablessm.engine.convolution import convolve as convolve
from stablessm.engine.convolution import short_convolve as short_convolve
from stablessm.engine.dplr import LowRankSystem as LowRankSystem
from stablessm.engine.dplr import dplr_kernel as dplr_kernel
from stablessm.engine.low_rank import LowRankStep as LowRankStep
from stablessm.engine.low_rank import low_rank_last_state as low_rank_last_state
from stablessm.engine.low_rank import low_rank_step as low_rank_step
from stablessm.engine.low_rank import state_response as state_response
from stablessm.engine.poles import Poles as Poles
from stablessm.engine.poles import poles as poles
from stablessm.engine.poles import product as product
from stablessm.engine.poles import signed_poles as signed_poles
from stablessm.engine.powers import first_bad_step as first_bad_step
from stablessm.engine.powers import powers as powers
from stablessm.engine.recurrence import recur as recur
from stablessm.engine.vandermonde import kernel as kernel
from stablessm.engine.varying import recur_varying as recur_varying
