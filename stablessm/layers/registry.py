"""The layers by name. Importing this imports no JAX; building a layer does.

Registering a layer is testing it: the laws of `tests/layers/test_layer_laws.py` are crossed with this registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from stablessm.parameterizations.links import LINKS

if TYPE_CHECKING:
    from jax import Array
    from jax.typing import ArrayLike

    from stablessm.layers.base import Layer
    from stablessm.parameterizations import Parameterization


@dataclass(frozen=True)
class LayerKind:
    """A kind of layer.

    Attributes:
        name: its key.
        summary: one line for `stablessm list layers`.
        reference: where it is defined.
        home: "module:function" that builds one.
        links: the links under which it is defined; none for a layer without eigenvalues.
        looks_ahead: whether outputs depend on later inputs, so that there are no steps.
    """

    name: str
    summary: str
    reference: str
    home: str = field(repr=False)
    links: tuple[str, ...] = LINKS
    looks_ahead: bool = False

    @property
    def takes_map(self) -> bool:
        """Whether it has eigenvalues, and so a map."""
        return bool(self.links)

    def build(
        self,
        parameterization: Parameterization | None = None,
        eigenvalues: ArrayLike | None = None,
        *,
        inputs: int,
        key: Array,
        **more: Any,
    ) -> Layer:
        """Return a layer of this kind that starts at given eigenvalues, if it has any.

        Args:
            parameterization: the map; its link says which time. None for a layer without eigenvalues.
            eigenvalues: shape (states,), real or complex; of every channel, where channels have states of their own.
                None likewise.
            inputs: number of input features.
            key: PRNG key of the other weights, the same for every map.
            **more: what this kind takes beyond that.

        Raises:
            ValueError: a map or eigenvalues are missing, or given to a layer that has none.
        """
        module, function = self.home.split(":")
        made = getattr(import_module(module), function)
        if self.takes_map and (parameterization is None or eigenvalues is None):
            raise ValueError(f"the layer {self.name!r} needs a map and the eigenvalues it starts at")
        if not self.takes_map and (parameterization is not None or eigenvalues is not None):
            raise ValueError(f"the layer {self.name!r} has no eigenvalues, and takes no map")
        given = (parameterization, eigenvalues) if self.takes_map else ()
        return made(*given, inputs=inputs, key=key, **more)


_STABLESSM = "Wang and Li, StableSSM (ICML 2024)"

_ALL = (
    LayerKind(
        "linear_rnn", "diagonal recurrence with a linear readout", f"{_STABLESSM}, section 2",
        "stablessm.layers.builders:linear_rnn",
    ),
    LayerKind(
        "ssm", "diagonal recurrence under an activation, one output a state", f"{_STABLESSM}, Eq. 2",
        "stablessm.layers.builders:ssm",
    ),
    LayerKind(
        "s4d", "a bank of modes for each channel, with a trained step size", "Gu et al., S4D (NeurIPS 2022)",
        "stablessm.layers.s4d:S4D",
    ),
    LayerKind(
        "s4", "diagonal plus low rank for each channel, bilinear rule", "Gu et al., S4 (ICLR 2022)",
        "stablessm.layers.s4:S4", ("continuous",),
    ),
    LayerKind(
        "dss", "a bank of modes for each channel, normalised over a length (variant=\"exp\": not)",
        "Gupta, Gu and Berant, DSS (NeurIPS 2022)", "stablessm.layers.dss:DSS", ("continuous",),
    ),
    LayerKind(
        "s5", "one state for all channels, dense input and output matrices", "Smith et al., S5 (ICLR 2023)",
        "stablessm.layers.s5:S5",
    ),
    LayerKind(
        "lru", "discrete recurrence with normalised inputs", "Orvieto et al., LRU (ICML 2023)",
        "stablessm.layers.lru:LRU",
    ),
    LayerKind(
        "dlr", "poles that all channels share, a complex readout each; or products of such kernels",
        "Gupta, Mehta and Berant, DLR (2022)", "stablessm.layers.dlr_starts:dlr",
    ),
    LayerKind(
        "selective", "S5 whose decays follow the input, by the map at an input-dependent weight",
        "Soydan et al., S7 (2024)", "stablessm.layers.selective:Selective",
    ),
    LayerKind(
        "gated_ssm", "gates around a recurrence of another kind (recurrence=\"s5\"), behind a short convolution",
        "Fu et al., H3 (ICLR 2023); Poli et al., Hyena (ICML 2023)", "stablessm.layers.gated_ssm:GatedSSM",
    ),
    LayerKind(
        "hyena", "gates around implicit long filters, written by a network in decaying windows",
        "Poli et al., Hyena (ICML 2023)", "stablessm.layers.hyena:Hyena",
    ),
    LayerKind(
        "bidirectional", "another kind (layer=\"s4d\") run forward and one run backward; no steps",
        "Schuster and Paliwal (1997)", "stablessm.layers.bidirectional:bidirectional", looks_ahead=True,
    ),
    LayerKind(
        "sgconv", "one long filter a channel, coarser and smaller the longer the lag; no eigenvalues",
        "Li et al., SGConv (ICLR 2023)", "stablessm.layers.sgconv:SGConv", (),
    ),
    LayerKind(
        "attention", "causal multi-head attention with rotary positions, over a window of steps",
        "Vaswani et al. (NeurIPS 2017); Su et al., RoFormer (2021)", "stablessm.layers.attention:Attention", (),
    ),
    LayerKind(
        "lstm", "long short-term memory", "Hochreiter and Schmidhuber (1997)", "stablessm.layers.baselines:LSTM", (),
    ),
    LayerKind(
        "feed_forward", "the same network at every step, without memory", "Rush and Karamcheti, The Annotated S4",
        "stablessm.layers.baselines:FeedForward", (),
    ),
)  # fmt: skip

LAYERS: Mapping[str, LayerKind] = MappingProxyType({one.name: one for one in _ALL})


def inner_kind(option: str, name: str) -> LayerKind:
    """Return the kind of a layer that stands inside of another one, which hands its map on.

    Args:
        option: what the name was given for.
        name: a key of `LAYERS`, of a kind with a map that does not look ahead.

    Raises:
        ValueError: another name.

    Example:
        >>> inner_kind("recurrence", "s5").takes_map
        True
    """
    legal = [kind.name for kind in _ALL if kind.takes_map and not kind.looks_ahead]
    if name not in legal:
        raise ValueError(f"`{option}` must be one of {', '.join(legal)}, but got {name!r}")
    return LAYERS[name]
