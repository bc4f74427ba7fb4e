"""How a layer of each kind is built from the same few arguments (see `registry`)."""

from __future__ import annotations

from typing import Any

from jax import Array
from jax.typing import ArrayLike

from stablessm.layers.linear_rnn import LinearRNN
from stablessm.layers.ssm import SSM
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.links import time_of


def linear_rnn(
    parameterization: Parameterization, eigenvalues: ArrayLike, *, inputs: int, key: Array, **more: Any
) -> LinearRNN:
    """Return a linear RNN with as many outputs as inputs, and a bias."""
    return LinearRNN(
        parameterization,
        eigenvalues,
        time=time_of(parameterization.link),
        inputs=inputs,
        key=key,
        **{"outputs": inputs, "bias": True, **more},
    )


def ssm(parameterization: Parameterization, eigenvalues: ArrayLike, *, inputs: int, key: Array, **more: Any) -> SSM:
    """Return a layer of Eq. 2."""
    return SSM(parameterization, eigenvalues, time=time_of(parameterization.link), inputs=inputs, key=key, **more)
