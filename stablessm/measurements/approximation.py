"""How well m modes can approximate a target at all, by method, and how slow the slowest of them must be."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Variable, ascending, distinct
from stablessm.measurements.perturbation import PublishedTraining

METHODS = ("best", "given_signed", "given_nonnegative", "rational")


STOPS = ("steps", "previous_width")


class ApproximationSettings(PublishedTraining):
    """Which fits.

    The settings of training are those of the trained models beside them; `horizon` is that of both.
    They are trained under either rule for the end, whatever `stop` says.

    Attributes:
        width: numbers of modes, ascending.
        fit: "best" (variable projection over the decays), "given_signed" and "given_nonnegative" (least squares for
            decays log-spaced between the slowest and the fastest of the best fit), "rational" (AAA).
        domain: "continuous" (errors are integrals over time), "discrete" (sums over steps).
        extent: "infinite", "finite" (up to horizon x step_size) or "averaged" (the same, time t counting 1 - t/T: white
            noise from rest).
    """

    width: tuple[Annotated[int, Field(ge=1, le=128)], ...] = (1, 2, 4, 8, 16, 32, 64)
    fit: tuple[Literal["best", "given_signed", "given_nonnegative", "rational"], ...] = METHODS
    domain: tuple[Literal["continuous", "discrete"], ...] = ("continuous", "discrete")
    extent: tuple[Literal["infinite", "finite", "averaged"], ...] = ("infinite", "finite")

    _ascending = field_validator("width")(ascending)

    _distinct = field_validator("fit", "domain", "extent")(distinct)


_FITS, _EACH = ("domain", "extent", "fit", "width"), ("domain", "extent", "width")
_LAW = "nan where no law is known"

APPROXIMATION = Measurement(
    name="approximation",
    summary="best approximations of a target by sums of m exponentials, by method, beside a trained model",
    reference="Braess and Hackbusch, exponential sums (IMA J. Numer. Anal. 2005); Golub and Pereyra (1973)",
    axes={"target": None, "optimizer": ("adam_plateau",), "seed": (0,), "learning_rate": (1e-2,)},
    settings=ApproximationSettings,
    variables=lambda _: {
        "approximation_error": Variable("relative L2 error", dims=_FITS),
        "product_error": Variable("relative L2 error of the best fit from closed products", dims=_EACH),
        "slowest_decay": Variable("slowest decay of a fit", "1/time", dims=_FITS),
        "fastest_decay": Variable("fastest decay of a fit", "1/time", dims=_FITS),
        "modes_used": Variable("number of modes used", dims=_FITS, dtype="int32"),
        "smallest_amplitude": Variable("smallest amplitude over the largest size of one", dims=_FITS),
        "trained_error": Variable("relative L2 error of the trained model", dims=("stop", "extent", "width")),
        "trained_slowest_decay": Variable("slowest decay of the trained model", "1/time", dims=("stop", "width")),
        "trained_loss": Variable("loss of the trained model at its end", dims=("stop", "width")),
        "law": Variable(f"r of the bound exp(-r sqrt(m)) (infinite) or exp(-r m), {_LAW}", dims=("extent",)),
        "expected_law": Variable(f"r of exp(-r sqrt(m)) expected of best fits, infinite horizon, {_LAW}"),
        "expected_decay_law": Variable(f"r of exp(-r sqrt(m)) for the slowest decay, infinite horizon, {_LAW}"),
    },
    program="stablessm.measurements.approximation_program:approximation",
)
