"""Networks of any kinds on tasks of any kinds, side by side: one table of settings for each of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import outcome_variables
from stablessm.measurements.training import TrainingSettings, metric_of


class OneTraining(TrainingSettings):
    """One training, everything of it said.

    Attributes:
        width: features of every block.
        learning_rate: largest rate.
        parameterization: map of every layer that takes one: a name, or a formula of the decay s(w).
        link: its link.
        reported: the score that others report of it, kept beside the measured one; None where there is none.
    """

    width: int = Field(32, ge=1, le=4096)
    learning_rate: float = Field(1e-3, gt=0, le=1e3)
    parameterization: str = "exp"
    link: Literal["continuous", "one-minus", "exponential"] = "continuous"
    reported: float | None = None


class ComparisonSettings(OneTraining):
    """Trainings of every task with every model: what is said of all of them, and what each replaces in that.

    Attributes:
        tasks: name of a task -> the settings it replaces, its data and its steps among them.
        models: name of a model -> the settings it replaces, above those of the task.
        series_lengths: lengths, ascending, of series at whose last step the gradient of the features by the inputs is
            taken, before and after training. Of causal networks that read values.
    """

    tasks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)
    series_lengths: tuple[Annotated[int, Field(ge=1, le=2**16)], ...] = ()

    def of(self, *, task: str | None = None, model: str | None = None, length: int | None = None) -> OneTraining:
        """Return the settings of one training.

        Args:
            task: a key of `tasks`; None where nothing is replaced.
            model: a key of `models`; None likewise.
            length: of series that are generated, above what both say; None likewise.

        Raises:
            ValueError: there is none of that name, or a table holds what cannot be.
        """
        base = {name: getattr(self, name) for name in OneTraining.model_fields}
        for kind, name, tables in (("task", task, self.tasks), ("model", model, self.models)):
            if name is not None and name not in tables:
                known = ", ".join(tables) or "none"
                raise ValueError(
                    f"the {kind} {name!r} has no table among the {kind}s of the settings, which are {known}"
                )
            base |= tables[name] if name is not None else {}
        if length is not None:
            base["options"] = {**base["options"], "length": length}
        return OneTraining(**base)

    @property
    def metric(self) -> str:
        """What all tasks are scored by."""
        return metric_of(*self._scored()[0])

    def _scored(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [
            (table.get("data", self.data), table.get("options", self.options)) for table in self.tasks.values()
        ] or [(self.data, self.options)]

    @model_validator(mode="after")
    def _legible(self) -> ComparisonSettings:
        base = {name: getattr(self, name) for name in OneTraining.model_fields}
        for kind, tables in (("tasks", self.tasks), ("models", self.models)):
            for name, table in tables.items():
                unknown = sorted(table.keys() - OneTraining.model_fields.keys())
                if unknown:
                    raise ValueError(f"{kind}.{name} names {unknown[0]!r}, which is no setting of a training")
                OneTraining(**{**base, **table})
        if list(self.series_lengths) != sorted(set(self.series_lengths)):
            raise ValueError(f"`series_lengths` must ascend, but got {list(self.series_lengths)}")
        metrics = {metric_of(*one) for one in self._scored()}
        if len(metrics) > 1:
            raise ValueError(
                f"tasks that are compared must have one metric, but these have {', '.join(sorted(metrics))}"
            )
        return self


AXES_OF_TRAININGS: Mapping[str, tuple[Any, ...]] = {"task": (), "model": (), "length": (), "seed": (0,)}
GRADIENTS = {
    "first_input_gradient": "gradient by the first input, of the last features, root mean square",
    "input_gradient": "gradient by all inputs, of the last features, 2-norm, root mean square",
}


def _variables(settings: ComparisonSettings) -> dict[str, Variable]:
    metric = settings.metric
    shown = {"r2": "R2"}.get(metric, metric.replace("_", " "))
    simple = {
        "trivial_score": Variable("test R2 of a simple answer that learns nothing, see `data.trivial`"),
    }
    return {
        **outcome_variables(),
        "loss": Variable("training loss of a batch", dims=("progress",)),
        "test_loss": Variable("test loss at the end, infinite where it is not finite"),
        f"test_{metric}": Variable(f"test {shown} at the end"),
        f"test_{metric}_error": Variable(f"standard error of the test {shown} over rows"),
        **(simple if metric == "r2" else {}),
        **{
            name: Variable(told, dims=("stage", "series_length"))
            for name, told in (GRADIENTS.items() if settings.series_lengths else ())
        },
        "reported_score": Variable(f"test {shown} that others report, infinite where none is known"),
        "steps": Variable("steps of the optimiser", dtype="int32"),
        "parameters": Variable("number of parameters", dtype="int32"),
    }


COMPARISON = Measurement(
    name="comparison",
    summary="outcome and test metric of networks of any kinds trained on tasks of any kinds, side by side",
    reference="Gupta, Mehta and Berant, DLR (2022), Tables 1 and 2",
    axes=AXES_OF_TRAININGS,
    settings=ComparisonSettings,
    variables=_variables,
    program="stablessm.measurements.comparison_program:comparison",
    trains_networks=True,
)
