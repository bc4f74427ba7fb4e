"""Layers: each an Equinox module with eigenvalues, kernel, full pass, initial state and step."""

from stablessm.layers.linear_rnn import LinearRNN as LinearRNN
