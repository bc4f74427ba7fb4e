"""Hyena with implicit filters: gates around long convolutions whose filters a small network writes down."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.engine.length import whole
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.everywhere import everywhere
from stablessm.layers.s4d import STEP_SIZES, log_uniform
from stablessm.layers.short_convolution import ShortConvolution
from stablessm.layers.stepping import RULES, Rule, Stepped
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of


class HyenaState(NamedTuple):
    """What a layer remembers: the inputs its filters still see.

    Attributes:
        short: the last projected inputs, shape (taps - 1, (order + 1) inputs).
        past: the last inputs of each filter, shape (filters, context - 1, inputs), the latest one last.
    """

    short: Array
    past: Array


class Hyena(Stepped):
    r"""y = W_o (x_N * z_N), z_1 = v, z_{n+1} = h_n (x_n * z_n): N gates, N - 1 long convolutions h_n between them.

    (v, x_1, .., x_N) is a short convolution of W u. With N = 2 a key x_1 gates what enters the filter and a query x_2
    what leaves it, as in `GatedSSM`. A filter of a channel is

        h_k = network(k)  Re sum_n m_n a_n lambda_bar_n^k  + D [k = 0],      k < context,

    the network seeing sine and cosine of k at several frequencies and no input, its hidden activations being sines. The
    window in which it decays is the kernel of a few modes whose decays are the map's, one of each pair stored. Lags
    from `context` on do not act: a filter is a finite one, and runs over series of any length.

    Attributes:
        weight: raw weights of the map, shape (channels, modes).
        frequency: of the pairs, radians per unit time (in discrete time the argument), shape (channels, pairs).
        amplitude: a, shape (channels, modes, 2) as two reals, and (channels, modes) where all poles are real.
        step_weight: raw weight of the step size, shape (channels,); None in discrete time.
        network: from the features of a lag to all filters and channels.
        feedthrough: D, shape (filters, channels).
        projection: W, to (v, x_1, .., x_N).
        short: convolution of all of them.
        output: W_o.
        parameterization: the map of the decay.
        step_map: the map of the step size.
        rule: discretisation, one of `stepping.RULES`.
        context: lags of the filters.

    References: Poli et al., Hyena Hierarchy (ICML 2023), section 3; published code has N - 1 filters as well.
    """

    weight: Array
    frequency: Array | None
    amplitude: Array
    step_weight: Array | None
    network: eqx.nn.MLP
    feedthrough: Array
    projection: eqx.nn.Linear
    short: ShortConvolution
    output: eqx.nn.Linear
    parameterization: Parameterization = eqx.field(static=True)
    step_map: Parameterization = eqx.field(static=True)
    rule: Rule = eqx.field(static=True)
    context: int = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        order: int = 2,
        context: int = 1024,
        octaves: int = 8,
        hidden: int = 64,
        taps: int = 3,
        rule: Rule = "zero_order_hold",
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        key: Array,
    ) -> None:
        """Make a layer whose windows start at given eigenvalues, whatever the map.

        Args:
            parameterization: the map of the decay (continuous time) or the modulus (discrete time).
            eigenvalues: shape (modes,), of every channel, or (channels, modes): of each conjugate pair one, then the
                real poles.
            inputs: number of channels in and out.
            order: N, the number of gates, at least 2.
            context: lags of the filters.
            octaves: frequencies the network sees: 1, 2, 4, .. periods in the context.
            hidden: width of the network, of two hidden layers.
            taps: steps the short convolution sees.
            rule: "zero_order_hold" or "bilinear", of continuous time.
            step_sizes: range of dt of the windows, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            key: PRNG key of the weights, the same for every map. Amplitudes are drawn so that a window is 1 at lag 0.

        Raises:
            ParameterizationError: an eigenvalue or a step size lies outside the map's image.
            ValueError: a shape, a size, a rule or a range of step sizes is wrong.

        Example:
            >>> layer = Hyena(PARAMETERIZATIONS["exp"], [-0.5], inputs=4, context=16, key=jax.random.key(0))
            >>> layer(jnp.ones((20, 4)))[0].shape, layer.filters(16).shape
            ((20, 4), (1, 4, 16))
        """
        if rule not in RULES:
            raise ValueError(f"`rule` must be one of {', '.join(RULES)}, but got {rule!r}")
        sizes = {"inputs": (inputs, 1), "order": (order, 2), "context": (context, 1), "octaves": (octaves, 0),
                 "hidden": (hidden, 1)}  # fmt: skip
        for name, (size, least) in sizes.items():
            if not isinstance(size, int) or size < least:
                raise ValueError(f"`{name}` must be an integer of at least {least}, but got {size!r}")
        self.parameterization, self.rule, self.context = parameterization, rule, context
        self.step_map = PARAMETERIZATIONS["exp"] if step_map is None else step_map
        self.weight, self.frequency = modes_of(parameterization, eigenvalues, channels=inputs)
        shape, dtype, filters = self.weight.shape, self.weight.dtype, order - 1
        keys = jax.random.split(key, 7)
        share = jax.random.exponential(keys[0], shape, dtype)
        share = share / (self.modes.multiplicity() * share).sum(-1, keepdims=True)
        self.amplitude = share if self.frequency is None else jnp.stack([share, jnp.zeros_like(share)], axis=-1)
        self.step_weight = None
        if time_of(parameterization.link) == "continuous":
            self.step_weight = self.step_map.weight(log_uniform(step_sizes, (inputs,), dtype, keys[1]))
        self.network = eqx.nn.MLP(1 + 2 * octaves, filters * inputs, hidden, 2, activation=jnp.sin, key=keys[2])
        self.feedthrough = jax.random.normal(keys[3], (filters, inputs), dtype)
        self.projection = eqx.nn.Linear(inputs, (order + 1) * inputs, use_bias=False, key=keys[4])
        self.short = ShortConvolution(inputs=(order + 1) * inputs, taps=taps, key=keys[5])
        self.output = eqx.nn.Linear(inputs, inputs, use_bias=False, key=keys[6])

    @property
    def inputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    @property
    def is_linear(self) -> bool:
        """False: gates multiply."""
        return False

    def kernel(self, length: int) -> Array:
        """Raise: there is none; `filters` are those between the gates.

        Raises:
            ValueError: always.
        """
        raise ValueError("a Hyena layer is not linear, so that it has no kernel; its `filters` are between its gates")

    def windows(self, length: int) -> Array:
        """Return Re sum_n m_n a_n lambda_bar_n^k for k < length, shape (channels, length)."""
        amplitude = joined(self.amplitude, self.frequency) * self.modes.multiplicity()
        return engine.kernel(self.discretised().poles, amplitude, length)

    def filters(self, length: int) -> Array:
        """Return h_k for k < length, at most `context` of them, shape (filters, channels, lags)."""
        lags = min(whole(length), self.context)
        features = jnp.asarray(lag_features(lags, self.context, self.network.in_size // 2), self.weight.dtype)
        written = jax.vmap(self.network)(features).T.reshape(*self.feedthrough.shape, lags)
        filters = written * self.windows(lags)
        return filters.at[..., 0].add(self.feedthrough) if lags else filters

    def initial_state(self) -> HyenaState:
        """Return the state before anything was seen."""
        past = jnp.zeros((self.feedthrough.shape[0], self.context - 1, self.inputs), self.weight.dtype)
        return HyenaState(self.short.initial_state(), past)

    def step(self, state: HyenaState, x: Array) -> tuple[HyenaState, Array]:
        """Advance by one step, a sum over the context for each filter.

        Args:
            state: what the filters still see.
            x: input, shape (channels,).
        """
        short, projected = self.short.step(state.short, self.projection(x))
        z, *gates = projected.reshape(-1, self.inputs)
        past = []
        for taps, before, gate in zip(self.filters(self.context), state.past, gates[:-1], strict=True):
            seen = jnp.concatenate([before, (gate * z)[None]])
            z = jnp.einsum("ck,kc->c", taps, seen[::-1], precision=jax.lax.Precision.HIGHEST)
            past.append(seen[1:])
        return HyenaState(short, jnp.stack(past)), self.output(gates[-1] * z)

    def __call__(self, x: Array, state: HyenaState | None = None) -> tuple[Array, HyenaState]:
        """Run over a series.

        Args:
            x: shape (time, channels); may be empty.
            state: what the filters still see; nothing by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the state after the last step.
        """
        projected, short = self.short(everywhere(self.projection, x), None if state is None else state.short)
        z, *gates = jnp.split(projected, self.feedthrough.shape[0] + 2, axis=-1)
        nothing = jnp.zeros((self.context - 1, self.inputs), z.dtype)
        past, filters = [], self.filters(len(x) if state is None else self.context)
        for place, (taps, gate) in enumerate(zip(filters, gates[:-1], strict=True)):
            seen = gate * z if state is None else jnp.concatenate([state.past[place], gate * z])
            z = engine.convolve(seen.T, taps).T[len(seen) - len(x) :]
            whole_past = jnp.concatenate([nothing, seen])
            past.append(whole_past[len(whole_past) - len(nothing) :])
        return everywhere(self.output, gates[-1] * z), HyenaState(short, jnp.stack(past))


def lag_features(lags: int, context: int, octaves: int) -> np.ndarray:
    """Return t, cos(2 pi 2^j t) and sin(2 pi 2^j t) of t = k/context for k < lags, float64 (lags, 1 + 2 octaves).

    Args:
        lags: how many lags, from 0.
        context: lags of a whole filter.
        octaves: how many j, from 0.

    Example:
        >>> lag_features(2, 4, 1).round(6).tolist()
        [[0.0, 1.0, 0.0], [0.25, 0.0, 1.0]]
    """
    time = np.arange(lags)[:, None] / context
    angle = 2 * np.pi * 2.0 ** np.arange(octaves) * time
    return np.concatenate([time, np.cos(angle), np.sin(angle)], axis=1)
