"""A network as data: which layers, how many, how wide, around which blocks; and the eigenvalues they start at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator

from stablessm.declared import Declared
from stablessm.layers.registry import LAYERS, LayerKind

if TYPE_CHECKING:
    from jax import Array

    from stablessm.models import Network
    from stablessm.parameterizations import Parameterization
    from stablessm.tasks.task import Task

Norm = Literal["pre", "post", "pre_scalar", "post_scalar", "none"]
Start = Literal["auto", "lin", "inv", "legs", "ring", "random", "gaussian", "fourier"]
_WITHOUT_STEP_SIZES = ("linear_rnn", "ssm", "lru", "dlr")
_DAMPING = 1e-5  # twice the decay of a step, as published
_RING = (0.9, 0.999, 6.28)  # smallest and largest modulus, largest phase


class ArchitectureError(ValueError):
    """A network that cannot be built; the message says why."""


class Architecture(Declared):
    """A network of blocks.

    Attributes:
        layer: kinds of layer, keys of `LAYERS`, the first one next to the encoder.
        depth: how often they are stacked.
        width: features of every block.
        widths: of each block from the first on, its features in place of `width`; those left out have `width`. A block
            hands on as many as the next one has, which may not be fewer.
        states: order of the real system of each layer (and channel, where channels have states of their own); even.
            A layer of Eq. 2 has one state a feature, whatever this says.
        start: eigenvalues at the start: "lin", "inv", "legs" as S4D has them, for layers with a step size; "ring" draws
            multipliers of a step, of modulus 0.9 to 0.999; "random" draws eigenvalues as a random matrix has them in
            the left half plane, of layers with a step size, and "gaussian" all of them, half of which grow: `direct`
            alone can start there; "fourier" puts the poles of a dlr on the grid 2 pi n/N, of the modulus e^(-5e-6);
            "auto" takes "legs" for s4 and dss, "fourier" for dlr, "lin" for other layers with a step size, "ring" else.
        norm: before the layer or behind the sum, "pre" or "post", with a gain and a shift for each feature;
            "pre_scalar" or "post_scalar", with one of both for all; or "none".
        mixing: "glu", "linear" or "none".
        dropout: share of the features.
        residual: whether a block adds its input.
        pool_steps: of each block from the first on, how many steps it averages into one; those left out average none.
            For classifiers that read the mean.
        readout: what a classifier reads: the mean over the steps that count, or the last of them; "auto" is the last
            where the question stands at the end of the series (recall), and the mean else.
        options: kind of layer -> what it takes beyond that.

    References: Gu, Goel and Re, S4 (ICLR 2022); Orvieto et al., LRU (ICML 2023), for the ring.
    """

    layer: tuple[str, ...] = ("s4d",)
    depth: int = Field(2, ge=1, le=1000)
    width: int = Field(64, ge=1, le=4096)
    widths: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = ()
    states: int = Field(64, ge=1, le=2**16)
    start: Start = "auto"
    norm: Norm = "pre"
    mixing: Literal["glu", "linear", "none"] = "glu"
    dropout: float = Field(0.0, ge=0, lt=1)
    residual: bool = True
    pool_steps: tuple[Annotated[int, Field(ge=1, le=2**20)], ...] = ()
    readout: Literal["auto", "mean", "last"] = "auto"
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @field_validator("layer", "pool_steps", "widths", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str | int) else value

    @field_validator("layer")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        from difflib import get_close_matches

        if not value:
            raise ValueError("name at least one layer")
        for name in value:
            if name not in LAYERS:
                near = get_close_matches(name, LAYERS, 1)
                hint = f"; the nearest is {near[0]!r}" if near else ""
                raise ValueError(f"unknown layer {name!r}{hint} (known: {', '.join(LAYERS)})")
        return value

    @property
    def kinds(self) -> tuple[LayerKind, ...]:
        """The kind of the layer of every block."""
        return tuple(LAYERS[name] for name in self.layer * self.depth)


def network(
    architecture: Architecture,
    parameterization: Parameterization,
    task: Task,
    *,
    key: Array,
    start_key: Array | None = None,
) -> Network:
    """Return the network of an architecture for a task; at equal keys the weights but the recurrent ones are equal.

    Args:
        architecture: which one.
        parameterization: map of every layer that takes one.
        task: says what goes in, and what is asked.
        key: PRNG key.
        start_key: of eigenvalues that are drawn; by default a part of `key`, which can be traced only where this is
            given and is not.

    Raises:
        ArchitectureError: a layer refuses its sizes, its options, its start or the map; or steps are pooled that the
            task asks about.
    """
    import jax

    from stablessm.models import Block, Network

    count = len(architecture.kinds)
    for name, given in (("pool_steps", architecture.pool_steps), ("widths", architecture.widths)):
        if len(given) > count:
            raise ArchitectureError(f"`{name}` names {len(given)} blocks, but there are {count}")
    widths = (*architecture.widths, *[architecture.width] * count)[:count]
    last = task.purpose == "classification" and readout(architecture, task) == "last"
    keys = jax.random.split(key, 2 * len(architecture.kinds) + 1)
    blocks = []
    for place, kind in enumerate(architecture.kinds):
        try:
            own = architecture.model_copy(update={"width": widths[place]})
            layer = _layer(kind, own, parameterization, keys[2 * place], start_key)
            blocks.append(
                Block(
                    layer,
                    norm=architecture.norm,
                    mixing=architecture.mixing,
                    dropout=architecture.dropout,
                    residual=architecture.residual,
                    pool_steps=(*architecture.pool_steps, *[1] * count)[place],
                    outputs=widths[min(place + 1, count - 1)],
                    key=keys[2 * place + 1],
                )
            )
        except (ValueError, TypeError) as error:
            told = str(error).rstrip(".").replace("_layer() ", "")
            raise ArchitectureError(f"the layer {kind.name!r} cannot be built: {told}") from None
    try:
        return Network(
            blocks,
            # the last output of every step, and not of the mean over time
            purpose="regression" if last else task.purpose,
            outputs=task.outputs,
            inputs=max(1, task.inputs),
            tokens=task.tokens,
            key=keys[-1],
        )
    except ValueError as error:
        raise ArchitectureError(f"the network cannot be built: {error}") from None


def readout(architecture: Architecture, task: Task) -> Literal["mean", "last"]:
    """Return what a classifier of the task reads."""
    if architecture.readout != "auto":
        return architecture.readout
    return "last" if task.asks_at_the_end else "mean"


def _layer(
    kind: LayerKind, architecture: Architecture, parameterization: Parameterization, key: Array, chosen: Array | None
) -> Any:
    import jax

    options = dict(architecture.options.get(kind.name, {}))
    if not kind.takes_map:
        return kind.build(inputs=architecture.width, key=key, **options)
    layer_key, start_key = jax.random.split(key)
    inner = options.get("recurrence", options.get("layer", kind.name))
    start, more = _start(inner, architecture, parameterization, start_key if chosen is None else chosen)
    return kind.build(parameterization, start, inputs=architecture.width, key=layer_key, **more, **options)


def _start(
    kind: str, architecture: Architecture, parameterization: Parameterization, key: Array
) -> tuple[Any, dict[str, Any]]:
    """Return the eigenvalues a layer starts at, and what S4 and DLR start with beside them."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from stablessm.layers.dlr_starts import on_circle
    from stablessm.layers.hippo import diagonal_eigenvalues, normal_plus_low_rank, random_eigenvalues
    from stablessm.layers.lru import ring

    continuous, start, states = parameterization.link == "continuous", architecture.start, architecture.states
    has_steps = continuous and kind not in _WITHOUT_STEP_SIZES
    if start == "auto":
        start = "ring" if not has_steps else "legs" if kind in ("s4", "dss") else "lin"
        start = "fourier" if kind == "dlr" else start
    if start == "fourier":
        if kind != "dlr":
            raise ValueError(f"the start 'fourier' is that of dlr, and not one of {kind!r}")
        return on_circle(parameterization, states, damping=_DAMPING)
    if start != "ring" and not has_steps:
        raise ValueError(
            f"the start {start!r} needs a step size, which {kind!r} does not have under the link "
            f"{parameterization.link!r}; take 'ring'"
        )
    if states % 2:
        raise ValueError(f"`states` must be even, for conjugate pairs, but got {states}")
    if start == "ring":
        count = architecture.width if kind == "ssm" else states // 2
        with jax.ensure_compile_time_eval():  # a known key gives known eigenvalues, inside of a traced program too
            multipliers = ring(*_RING, states=count, key=key)
        return (jnp.log(multipliers) if continuous else multipliers), {}
    if start in ("random", "gaussian"):
        with jax.ensure_compile_time_eval():  # as above
            drawn = random_eigenvalues(states, growing=start == "gaussian", key=key)
        return drawn, {"low_rank": np.sqrt(np.abs(drawn.real) / 2)} if kind == "s4" else {}
    if kind == "s4" and start == "legs":
        whole, half = normal_plus_low_rank(states), slice(states // 2, None)
        return whole.eigenvalues[half], {"low_rank": whole.low_rank[half], "drive": whole.inputs[half]}
    return diagonal_eigenvalues(start, states), {}
