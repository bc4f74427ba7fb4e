"""A training step of the same network in PyTorch, written from the formulas of S4D; torch is asked for when called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stablessm.models import Network

# Source: Gu et al., On the Parameterization and Initialization of Diagonal State Space Models (NeurIPS 2022).

RATE, SMALLER, DECAY = 4e-3, 0.25, 0.01  # of `Recipe`


def training_step(model: Network, x: np.ndarray, labels: np.ndarray) -> Callable[[], float] | None:
    """Return a function that takes one step of Adam and gives its loss; None where PyTorch is not installed.

    Args:
        model: of S4D layers under the map `exp`, the weights to begin with.
        x: shape (batch, time, 1).
        labels: shape (batch,).
    """
    try:
        import torch
    except ImportError:
        return None
    from torch.nn import functional

    torch.set_num_threads(1)

    def weight(array: Any) -> Any:
        return torch.from_numpy(np.array(array, np.float32)).requires_grad_()

    def linear(layer: Any) -> tuple[Any, Any]:
        return weight(layer.weight), weight(layer.bias)

    blocks = []
    for block in model.blocks:
        layer = block.layer
        recurrent = {name: weight(getattr(layer, name)) for name in ("weight", "frequency", "step_weight")}
        rest = {name: weight(getattr(layer, name)) for name in ("input_weight", "readout", "feedthrough")}
        blocks.append((recurrent, rest, linear(block.norm), linear(block.mixing)))
    encoder, norm, decoder = linear(model.encoder), linear(model.norm), linear(model.decoder)
    small = [one for block in blocks for one in block[0].values()]
    large = [*encoder, *norm, *decoder]
    for _, rest, *pairs in blocks:
        large += [*rest.values(), *(one for pair in pairs for one in pair)]
    optimizer = torch.optim.AdamW(
        [{"params": large, "weight_decay": DECAY}, {"params": small, "lr": RATE * SMALLER, "weight_decay": 0.0}],
        lr=RATE, betas=(0.9, 0.98),
    )  # fmt: skip
    series, targets = torch.from_numpy(x), torch.from_numpy(labels.astype(np.int64))

    def layer_of(recurrent: dict[str, Any], rest: dict[str, Any], u: Any) -> Any:
        length = u.shape[1]
        poles = torch.complex(-torch.exp(recurrent["weight"]), recurrent["frequency"])
        log = poles * torch.exp(recurrent["step_weight"])[:, None]
        both = torch.view_as_complex(rest["input_weight"]) * torch.view_as_complex(rest["readout"])
        powers = torch.exp(log[..., None] * torch.arange(length))
        kernel = 2 * torch.einsum("hn,hnk->hk", both * (torch.exp(log) - 1) / poles, powers).real
        spectrum = torch.fft.rfft(u.mT, 2 * length) * torch.fft.rfft(kernel, 2 * length)
        return torch.fft.irfft(spectrum, 2 * length)[..., :length].mT + rest["feedthrough"] * u

    def normed(y: Any, pair: tuple[Any, Any]) -> Any:
        return functional.layer_norm(y, pair[0].shape, *pair)

    def run() -> float:
        optimizer.zero_grad()
        y = functional.linear(series, *encoder)
        for recurrent, rest, before, mixing in blocks:
            inner = functional.gelu(layer_of(recurrent, rest, normed(y, before)), approximate="tanh")
            y = y + functional.glu(functional.linear(inner, *mixing))
        logits = functional.linear(normed(y, norm).mean(1), *decoder)
        loss = functional.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return run
