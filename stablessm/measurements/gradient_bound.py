"""Theorem 3.4 measured: gradients of recurrent weights by jax.grad beside what the theorem allows."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable


class StackSettings(Settings):
    """A random stack of Eq. 2 layers.

    Attributes:
        depth: number of layers.
        step_size: dt of the zero-order hold in continuous time.
        slowest_decay: smallest decay r of a start, per unit time; a discrete map starts at e^-r.
        fastest_decay: largest one; decays are log-uniform in between.
    """

    depth: int = Field(3, ge=1, le=64)
    step_size: float = Field(1.0, gt=0, le=1e3)
    slowest_decay: float = Field(0.02, gt=0, le=1e3)
    fastest_decay: float = Field(0.9, gt=0, le=1e3)

    @model_validator(mode="after")
    def _ordered(self) -> StackSettings:
        if self.slowest_decay >= self.fastest_decay:
            raise ValueError(
                f"slowest_decay must be smaller than fastest_decay, but got {self.slowest_decay:g} and "
                f"{self.fastest_decay:g}"
            )
        return self


class GradientBoundSettings(StackSettings):
    """One mode over a grid of decays, and a stack.

    Attributes:
        horizon: steps of the series that the stack is run over.
        mode_horizon: samples of the kernel of one mode, long enough for the slowest.
        decays: points of the grid of decays.
    """

    horizon: int = Field(100, ge=2, le=10**6)
    mode_horizon: int = Field(2048, ge=2, le=10**6)
    decays: int = Field(33, ge=2, le=10**5)


GRADIENT_BOUND = Measurement(
    name="gradient_bound",
    summary="gradients of recurrent weights (jax.grad) and the bound C |f'|/margin^2, of one mode and layer by layer",
    reference="Wang and Li, StableSSM (ICML 2024), Theorem 3.4 (camera-ready: 3.6)",
    axes={
        "parameterization": None,
        "link": ("continuous",),
        "activation": ("tanh",),
        "width": (16,),
        "seed": (0,),
        "constant_a": (),
        "constant_b": (),
    },
    settings=GradientBoundSettings,
    variables=lambda _: {
        "mode_gradient": Variable("gradient of the L1 loss of one mode", dims=("decay",)),
        "mode_bound": Variable("bound of Theorem 3.4, one mode", dims=("decay",)),
        "gradient": Variable("gradient of the largest error, layer by layer", dims=("layer", "state")),
        "gradient_bound": Variable("bound of Theorem 3.4, layer by layer", dims=("layer", "state")),
        "gradient_constant": Variable("C of the bound, from the model and its inputs alone", dims=("layer", "state")),
        "input_gradient": Variable("2-norm of the gradient of the input weights", dims=("layer",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("layer", "state")),
    },
    program="stablessm.measurements.gradient_bound_program:gradient_bound",
)
