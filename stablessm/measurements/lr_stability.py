"""Large-learning-rate stability: which learning rates a training run survives, by map and optimiser."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.settings import RecordedFitSettings

FIT_AXES = {
    "parameterization": None,
    "link": ("continuous",),
    "target": ("polynomial",),
    "optimizer": ("adam",),
    "width": (64,),
    "learning_rate": (1e-3,),
    "seed": (0,),
    "constant_a": (),
    "constant_b": (),
}

KERNEL_FIT_AXES = {**FIT_AXES, "initialization": (), "recurrent_rate": ()}
"""Of a linear RNN that fits a target kernel (`kernel_fit`, `fit_programs.train`)."""

OUTCOME_FLAGS = ("converged", "step_limit", "collapsed", "diverged", "nonfinite", "outside_domain")


def outcome_variables() -> dict[str, Variable]:
    """Return the variables that say what became of a run."""
    return {
        "outcome": Variable("outcome of the run", dtype="int8", flags=OUTCOME_FLAGS),
        "first_bad_step": Variable("first bad step, -1 where there is none", dtype="int32"),
        "initial_loss": Variable("loss at the start"),
        "final_loss": Variable("loss at the end, or the last finite one"),
    }


LR_STABILITY = Measurement(
    name="lr_stability",
    summary="outcome, first bad step and final loss of training by learning rate, map and optimiser",
    reference="Wang and Li, StableSSM (ICML 2024), Table 2 and section 4.4",
    axes=KERNEL_FIT_AXES,
    settings=RecordedFitSettings,
    variables=lambda _: {
        **outcome_variables(),
        "loss": Variable("loss", dims=("step",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.fit_programs:lr_stability",
    joins_maps=True,
)
