"""A block: a layer of series between a norm, an activation, a mixing of the features, dropout and a residual path."""

from __future__ import annotations

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers import Layer
from stablessm.layers.everywhere import everywhere
from stablessm.models.norms import LayerNorm, layer_norm
from stablessm.models.pooling import pooled

Norm = Literal["pre", "post", "pre_scalar", "post_scalar", "none"]
Mixing = Literal["glu", "linear", "none"]
NORMS: tuple[Norm, ...] = ("pre", "post", "pre_scalar", "post_scalar", "none")
MIXINGS: tuple[Mixing, ...] = ("glu", "linear", "none")


class Block(Layer):
    """x + drop(mix(drop(gelu(layer(norm x))))), or with the norm behind the sum.

    Dropout draws one mask for a series and keeps it at all times: a feature that is dropped is dropped throughout.

    A block may pool: the means of a few steps each of x and of gelu(layer(norm x)) take their place, so that the mixing
    and all that is behind the block sees a shorter series. It has no steps then. It may also widen: the mixing gives
    more features than it takes, and x is filled up with zeros.

    Attributes:
        layer: the layer of series, as many features out as in.
        norm: layer norm over the features, with a gain for each or one for all; None for none.
        mixing: linear map of the features, to twice as many under a gate; None for none.
        dropout: Equinox's, applied to one mask a series.
        prenorm: whether the norm stands before the layer, or behind the sum.
        gated: whether the mixing is a gated linear unit.
        residual: whether x is added.
        pool_steps: steps of a mean; 1 for no pooling.
        wide: number of features that go on.

    References: Gu, Goel and Re, S4 (ICLR 2022); Smith et al., S5 (ICLR 2023).
    """

    layer: Layer
    norm: LayerNorm | None
    mixing: eqx.nn.Linear | None
    dropout: eqx.nn.Dropout
    prenorm: bool = eqx.field(static=True)
    gated: bool = eqx.field(static=True)
    residual: bool = eqx.field(static=True)
    pool_steps: int = eqx.field(static=True)
    wide: int = eqx.field(static=True)

    def __init__(
        self,
        layer: Layer,
        *,
        norm: Norm = "pre",
        mixing: Mixing = "glu",
        dropout: float = 0.0,
        residual: bool = True,
        pool_steps: int = 1,
        outputs: int | None = None,
        key: Array,
    ) -> None:
        """Make a block around a layer.

        Args:
            layer: one that gives as many features as it takes.
            norm: "pre", "post" or "none"; "pre_scalar" and "post_scalar" have one gain and shift for all features.
            mixing: "glu", "linear" or "none".
            dropout: share of the features that is dropped, from 0 up to but not 1.
            residual: whether the input is added.
            pool_steps: steps whose means go on; 1 for no pooling.
            outputs: number of features that go on, at least those of the layer; as many by default.
            key: PRNG key of the mixing.

        Raises:
            ValueError: a layer of other shapes, an unknown norm or mixing, a share outside [0, 1), a mean of no steps,
                fewer features than the layer gives, or more where there is no mixing.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> from stablessm.layers import S4D
            >>> layer = S4D(PARAMETERIZATIONS["exp"], -jnp.ones(4), inputs=6, key=jax.random.key(0))
            >>> Block(layer, key=jax.random.key(1))(jnp.ones((5, 6)))[0].shape
            (5, 6)
        """
        for name, value, known in (("norm", norm, NORMS), ("mixing", mixing, MIXINGS)):
            if value not in known:
                raise ValueError(f"`{name}` must be one of {', '.join(known)}, but got {value!r}")
        if not 0 <= dropout < 1:
            raise ValueError(f"`dropout` must lie in [0, 1), but got {dropout}")
        if not isinstance(pool_steps, int) or pool_steps < 1:
            raise ValueError(f"`pool_steps` must be a number of steps, at least 1, but got {pool_steps!r}")
        self.pool_steps = pool_steps
        width = layer.inputs
        if width is None or layer.outputs != width:
            raise ValueError(
                f"the layer of a block must give as many features as it takes, but takes {width} and gives "
                f"{layer.outputs}"
            )
        self.wide = width if outputs is None else outputs
        if self.wide < width or (self.wide > width and mixing == "none"):
            raise ValueError(
                f"`outputs` must be at least the {width} features of the layer, and no more without a mixing, but got "
                f"{outputs!r} and the mixing {mixing!r}"
            )
        self.layer, self.prenorm, self.gated, self.residual = layer, norm.startswith("pre"), mixing == "glu", residual
        normed = width if self.prenorm else self.wide
        self.norm = None if norm == "none" else layer_norm(normed, scalar=norm.endswith("scalar"))
        self.mixing = None if mixing == "none" else eqx.nn.Linear(width, (1 + self.gated) * self.wide, key=key)
        self.dropout = eqx.nn.Dropout(dropout)

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.layer.inputs

    @property
    def outputs(self) -> int:
        """Number of features that go on."""
        return self.wide

    @property
    def is_linear(self) -> bool:
        """False: the activation is not."""
        return False

    @property
    def is_causal(self) -> bool:
        """Whether the layer is and nothing is pooled: a mean waits for the last of its steps."""
        return self.pool_steps == 1 and self.layer.is_causal

    def eigenvalues(self) -> Array:
        """Return those of the layer."""
        return self.layer.eigenvalues()

    def kernel(self, length: int) -> Array:
        """Raise: a block has no kernel; `block.layer.kernel` is that of its layer.

        Raises:
            ValueError: always.
        """
        raise ValueError("a block is not linear, so that it has no kernel; its layer has one")

    def initial_state(self) -> Any:
        """Return that of the layer.

        Raises:
            ValueError: the block pools.
        """
        self._refuse_steps()
        return self.layer.initial_state()

    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """Advance by one step, without dropout.

        Args:
            state: of the layer.
            x: shape (features,).

        Raises:
            ValueError: the block pools.
        """
        self._refuse_steps()
        state, y = self.layer.step(state, self._before(x[None])[0])
        return state, self._after(x[None], y[None], None)[0]

    def __call__(
        self, x: Array, state: Any = None, *, length: Array | int | None = None, key: Array | None = None
    ) -> tuple[Array, Any]:
        """Run over a series.

        Args:
            x: shape (time, features); may be empty.
            state: of the layer, before the first step; the initial one by default.
            length: number of steps that count, for a layer that looks ahead and for means; all by default.
            key: PRNG key of dropout; None for none, as in evaluation.

        Returns:
            (y, state): y of shape (time, outputs), of ceil(time / pool_steps) steps where it pools, and the
            state of the layer after the last step.

        Raises:
            ValueError: a state is handed to a block that pools.
        """
        if state is not None:
            self._refuse_steps()
        ahead = {} if self.layer.is_causal else {"length": length}
        y, state = self.layer(self._before(x), state, **ahead)
        return self._after(x, y, key, length), state

    def _refuse_steps(self) -> None:
        if self.pool_steps > 1:
            raise ValueError(
                f"a block that pools answers once in {self.pool_steps} steps: it has no steps and no state"
            )

    def _before(self, x: Array) -> Array:
        return jax.vmap(self.norm)(x) if self.prenorm and self.norm is not None else x

    def _after(self, x: Array, y: Array, key: Array | None, length: Array | int | None = None) -> Array:
        first, second = (None, None) if key is None else jax.random.split(key)
        x, y = (pooled(one, self.pool_steps, length) for one in (x, jax.nn.gelu(y)))
        y = self._dropped(y, first)
        if self.mixing is not None:
            y = everywhere(self.mixing, y)
            y = jax.nn.glu(y) if self.gated else y
        y = self._dropped(y, second)
        y = jnp.pad(x, ((0, 0), (0, self.wide - x.shape[1]))) + y if self.residual else y
        return jax.vmap(self.norm)(y) if not self.prenorm and self.norm is not None else y

    def _dropped(self, y: Array, key: Array | None) -> Array:
        if key is None:
            return y
        return y * self.dropout(jnp.ones(y.shape[1:], y.dtype), key=key)
