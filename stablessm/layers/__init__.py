"""Layers: each an Equinox module with eigenvalues, kernel, full pass, initial state and step.

Importing this package imports no JAX; the registries (`LAYERS`, `ACTIVATIONS`) are light.
"""

from importlib import import_module as _import_module
from typing import Any

_HOMES = {
    "Layer": "stablessm.layers.base",
    "LinearRNN": "stablessm.layers.linear_rnn",
    "SSM": "stablessm.layers.ssm",
    "pointwise": "stablessm.layers.ssm",
    "S4": "stablessm.layers.s4",
    "S4D": "stablessm.layers.s4d",
    "DSS": "stablessm.layers.dss",
    "S5": "stablessm.layers.s5",
    "LRU": "stablessm.layers.lru",
    "DLR": "stablessm.layers.dlr",
    "Selective": "stablessm.layers.selective",
    "GatedSSM": "stablessm.layers.gated_ssm",
    "Hyena": "stablessm.layers.hyena",
    "Bidirectional": "stablessm.layers.bidirectional",
    "ShortConvolution": "stablessm.layers.short_convolution",
    "SGConv": "stablessm.layers.sgconv",
    "Attention": "stablessm.layers.attention",
    "LSTM": "stablessm.layers.baselines",
    "FeedForward": "stablessm.layers.baselines",
    "Activation": "stablessm.layers.activations",
    "ACTIVATIONS": "stablessm.layers.activations",
    "LAYERS": "stablessm.layers.registry",
}
__all__ = [
    "ACTIVATIONS",
    "DLR",
    "DSS",
    "LAYERS",
    "LRU",
    "LSTM",
    "S4",
    "S4D",
    "S5",
    "SSM",
    "Activation",
    "Attention",
    "Bidirectional",
    "FeedForward",
    "GatedSSM",
    "Hyena",
    "Layer",
    "LinearRNN",
    "SGConv",
    "Selective",
    "ShortConvolution",
    "pointwise",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stablessm.layers' has no attribute {name!r}")
