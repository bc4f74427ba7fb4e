"""A selective layer: S5 whose decays follow the input, one multiplier for every state and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.base import Layer
from stablessm.layers.diagonal import joined
from stablessm.layers.s4d import STEP_SIZES
from stablessm.layers.s5 import S5
from stablessm.layers.stepping import Rule, Stepping, stepping
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.links import time_of

FOLLOWING = ("B", "C", "D")


class Selective(Layer):
    r"""y_k = Re sum_n m_n C_n h_n,k + D u_k, h_k = lambda_bar(w_k) h_{k-1} + gain(w_k) B u_k, w_k = w_0 + W u_k.

    The input says at each step how fast a state forgets: the map is evaluated at an input-dependent weight, and what
    keeps its eigenvalues stable keeps every product of them bounded. Frequencies and step sizes do not follow the
    input. With W = 0 it is an `S5`.

    Of the published layer this is the input-dependent transition. Its B, C and D depend on the input as well, which
    `follows` asks for: B_k = diag(1 + V_B u_k) B, C_k = C diag(1 + V_C u_k), D_k = D (1 + V_D u_k), so that the input
    says at each step how much it writes to a state, how much of a state is read and how much passes by. (Published are
    projections to all entries of these matrices, as many times more weights as there are features; this is the part of
    them that leaves directions alone.) The V start at 0: every choice begins as the same layer.

    W starts at a relative change of the decays, d log s = V u with V ~ N(0, selectivity^2/inputs) for every map alike:
    W = V s/s'(w_0), at most V (1 + |w_0|) where s' is that small (`best` at w = 0). So all maps begin as the same layer
    to first order in V, as they begin at the same eigenvalues.

    Attributes:
        system: w_0, frequencies, step sizes, B, C and D.
        selection: W, shape (modes, inputs).
        drive_selection: V_B, of the same shape; None where B does not follow the input.
        read_selection: V_C, of the same shape; None where C does not.
        feed_selection: V_D, shape (inputs, inputs); None where D does not.
        normalise: whether sqrt(1 - |lambda|^2) is the gain of a discrete time, so that white noise keeps states at size
            1 however long they remember.

    References: Soydan et al., S7 (2024); De et al., Griffin (2024) for the normalisation; Wang and Li, StableSSM.
    """

    system: S5
    selection: Array
    drive_selection: Array | None
    read_selection: Array | None
    feed_selection: Array | None
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        selectivity: float = 0.5,
        normalise: bool = False,
        follows: Sequence[str] = (),
        rule: Rule = "zero_order_hold",
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        key: Array,
    ) -> None:
        """Make a layer that starts at given eigenvalues for the input 0, whatever the map.

        Args:
            parameterization: the map of the decay (continuous time) or the modulus (discrete time).
            eigenvalues: shape (modes,): of each conjugate pair the one that is stored, then the real poles.
            inputs: number of input features, and of outputs.
            selectivity: standard deviation of log s at the start, under inputs of size 1; at least 0.
            normalise: whether inputs are scaled by sqrt(1 - |lambda|^2), in discrete time.
            follows: which of "B", "C" and "D" follow the input, beside the decays.
            rule: "zero_order_hold" or "bilinear", of continuous time.
            step_sizes: range of dt, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            key: PRNG key of V and the weights of an `S5`, the same for every map.

        Raises:
            ParameterizationError: an eigenvalue or a step size lies outside the map's image.
            ValueError: a shape, a rule, a range, the selectivity or what follows the input is wrong, or a continuous
                time is normalised.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> best = PARAMETERIZATIONS["best"].replace(link="one-minus")
            >>> layer = Selective(best, jnp.array([0.9, 0.99]), inputs=3, key=jax.random.key(0))
            >>> layer(jnp.ones((7, 3)))[0].shape, layer.selection.shape
            ((7, 3), (2, 3))
        """
        if not 0 <= selectivity < float("inf"):
            raise ValueError(f"`selectivity` must be finite and at least 0, but got {selectivity}")
        if normalise and time_of(parameterization.link) == "continuous":
            raise ValueError("`normalise` is of discrete time: in continuous time the step size scales the inputs")
        unknown = [one for one in follows if one not in FOLLOWING]
        if isinstance(follows, str) or unknown or len(set(follows)) < len(follows):
            raise ValueError(f"`follows` must list some of {', '.join(FOLLOWING)}, each once, but got {follows!r}")
        system_key, selection_key = jax.random.split(key)
        self.system = S5(
            parameterization, eigenvalues, inputs=inputs, rule=rule, step_sizes=step_sizes, step_map=step_map,
            key=system_key,
        )  # fmt: skip
        self.normalise, weight = normalise, self.system.weight
        relative = selectivity * jax.random.normal(selection_key, (*weight.shape, inputs), weight.dtype) / inputs**0.5
        none, square = jnp.zeros((*weight.shape, inputs), weight.dtype), jnp.zeros((inputs, inputs), weight.dtype)
        self.drive_selection = none if "B" in follows else None
        self.read_selection = none if "C" in follows else None
        self.feed_selection = square if "D" in follows else None
        self.selection = relative * _weight_per_relative_decay(parameterization, weight)[:, None]

    @property
    def inputs(self) -> int:
        """Number of input features."""
        return self.system.inputs

    @property
    def outputs(self) -> int:
        """Number of output features: as many as inputs."""
        return self.system.inputs

    @property
    def is_linear(self) -> bool:
        """False: the decays follow the input."""
        return False

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return W as "recurrent", like what the system says of its own weights."""
        return {"recurrent": (self.selection,)}

    def eigenvalues(self) -> Array:
        """Return lambda for the input 0, shape (modes,): of each pair the one that is stored."""
        return self.system.eigenvalues()

    def multipliers(self, x: Array) -> Array:
        """Return lambda_bar at every step, shape (time, modes).

        Args:
            x: shape (time, inputs).
        """
        return self._stepping(x).multiplier

    def kernel(self, length: int) -> Array:
        """Raise: there is none; `system.kernel` is that of the layer whose decays do not follow the input.

        Raises:
            ValueError: always.
        """
        raise ValueError("a selective layer is not linear, so that it has no kernel; its `system` has one")

    def initial_state(self) -> Array:
        """Return the zero state, shape (modes,)."""
        return self.system.initial_state()

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (modes,).
            x: input, shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, shape (outputs,).
        """
        multiplier, driven = (one[0] for one in self._stepped(x[None]))
        state = multiplier * state + driven
        read = state if self.read_selection is None else state * self._scale(self.read_selection, x[None])[0]
        return state, (self._readout() @ read).real + self._passed(x[None])[0]

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: before the first step, shape (modes,); zero by default.

        Returns:
            (y, state): outputs of shape (time, outputs), and the state after the last step.
        """
        multipliers, driven = self._stepped(x)
        if self.read_selection is None:
            y, state = engine.recur_varying(multipliers, driven, state, readout=self._readout())
            return y + self._passed(x), state
        states, state = engine.recur_varying(multipliers, driven, state)
        read = states * self._scale(self.read_selection, x)
        y = jnp.einsum("tn,on->to", read, self._readout(), precision=jax.lax.Precision.HIGHEST).real
        return y + self._passed(x), state

    def _stepping(self, x: Array) -> Stepping:
        system, step = self.system, self.system.step_size()
        weight = system.weight + jnp.einsum("ti,ni->tn", x, self.selection, precision=jax.lax.Precision.HIGHEST)
        frequency, step = system.modes.every_frequency(), 1.0 if step is None else step
        stepped = stepping(system.parameterization, weight, frequency, step, rule=system.rule)
        if not self.normalise:
            return stepped
        margin = system.parameterization.margin(weight)
        # an unstable step, which a map that is not stable may take, is not driven
        square = jnp.maximum(margin * (2 - margin), jnp.finfo(margin.dtype).tiny)
        return stepped._replace(gain=jnp.sqrt(square))

    def _stepped(self, x: Array) -> tuple[Array, Array]:
        """(lambda_bar, gain B u) at every step, both of shape (time, modes)."""
        stepped, drive = self._stepping(x), joined(self.system.input_weight, self.system.frequency)
        driven = stepped.gain * jnp.einsum("ti,ni->tn", x, drive, precision=jax.lax.Precision.HIGHEST)
        if self.drive_selection is not None:
            driven = driven * self._scale(self.drive_selection, x)
        return stepped.multiplier, driven

    def _passed(self, x: Array) -> Array:
        """D_k u_k, shape (time, inputs)."""
        passed = self.system.feedthrough * x
        return passed if self.feed_selection is None else passed * self._scale(self.feed_selection, x)

    @staticmethod
    def _scale(selection: Array, x: Array) -> Array:
        """1 + V u_k, shape (time, rows of V)."""
        return 1 + jnp.einsum("ti,ni->tn", x, selection, precision=jax.lax.Precision.HIGHEST)

    def _readout(self) -> Array:
        return self.system.modes.multiplicity() * joined(self.system.readout, self.system.frequency)


def _weight_per_relative_decay(parameterization: Parameterization, weight: Array) -> Array:
    """dw / d log s = s/s'(w), cut at 1 + |w|."""
    decay, slope = jax.jvp(parameterization.decay, (weight,), (jnp.ones_like(weight),))
    reach = 1 + jnp.abs(weight)
    flat = jnp.abs(slope) * reach <= decay
    cut = jnp.where(slope < 0, -reach, reach)
    return jnp.where(flat, cut, decay / jnp.where(flat, 1, slope))
