"""What moves with the width in E_m(beta) of best approximations: explosion, radius, growth; how sure it is."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import described
from .perturbation_radius import PUBLISHED, THRESHOLD, crossing, slope

NEEDS = (
    "parameterization", "seed", "extent", "width", "perturbed", "ball", "norm", "beta", "perturbation_error",
    "perturbation_error_bound", "sampled_perturbation_error", "stability_radius", "euler_radius", "modes_used",
)  # fmt: skip

REFERENCE = 0.1  # a size of perturbation inside of the published range


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the curves over beta to what moves with the width; medians over the seeds.

    Args:
        dataset: of the measurement `exact_perturbation`.

    Returns:
        explosion_beta, where the error passes 1e6, as found: the stability radius where no finite error does, which may
        lie below every size tried; sampled_explosion_beta, in random directions; infinite where it does not.
        reference_error, the error at reference_beta, the size nearest to 0.1. width_slope, the slope of
        log(explosion_beta) in log(width); growth_slope that of the error at the reference; radius_slope that of the
        stability radius; each over the widths that are used whole, NaN where fewer than two are finite.
        certificate_gap, the largest bound over what is found, and sampled_share, the smallest sampled over found, over
        the sizes at which both are finite. The published values where there are any, else NaN.
    """
    medians = dataset.median("seed", keep_attrs=True)
    beta, width = dataset["beta"].values, dataset["width"].values
    found, bound, sampled = (
        medians[name] for name in ("perturbation_error", "perturbation_error_bound", "sampled_perturbation_error")
    )

    def passed(values: xr.DataArray) -> xr.DataArray:
        return xr.apply_ufunc(
            lambda one: np.nan if np.isnan(one).any() else crossing(beta, one, THRESHOLD),
            values, input_core_dims=[["beta"]], vectorize=True,
        )  # fmt: skip

    def against_width(values: xr.DataArray) -> xr.DataArray:
        kept = values.where((medians["modes_used"] == medians["width"]) & (values > 0))
        return xr.apply_ufunc(
            lambda one: slope(width, one[:, None])[0], kept, input_core_dims=[["width"]], vectorize=True
        )

    crossed, gradual = passed(found), ((found > THRESHOLD) & np.isfinite(found)).any("beta")
    near = int(np.argmin(np.abs(np.log(beta / REFERENCE))))
    both = np.isfinite(found) & np.isfinite(bound) & (found > 0)
    result = xr.Dataset(
        {
            "explosion_beta": crossed.where(gradual | np.isinf(crossed), medians["stability_radius"]),
            "sampled_explosion_beta": passed(sampled),
            "reference_error": found.isel(beta=near, drop=True),
            "reference_beta": float(beta[near]),
            "certificate_gap": (bound / found.where(both)).max("beta"),
            "sampled_share": (sampled / found.where(both)).min("beta"),
            "stability_radius": medians["stability_radius"],
            "euler_radius": medians["euler_radius"],
        }
    )
    result["width_slope"] = against_width(result["explosion_beta"])
    result["growth_slope"] = against_width(result["reference_error"])
    result["radius_slope"] = against_width(result["stability_radius"])
    published = [
        [PUBLISHED.get(str(one), {}).get(int(m), np.nan) for m in width] for one in result["parameterization"].values
    ]
    result["published_explosion_beta"] = (("parameterization", "width"), np.array(published))
    result = result.assign_coords({name: dataset[name] for name in result.coords})  # with their attributes
    described(
        result,
        {
            "explosion_beta": f"beta where the perturbation error passes {THRESHOLD:.0e}",
            "sampled_explosion_beta": f"beta where the error in random directions passes {THRESHOLD:.0e}",
            "reference_error": f"perturbation error at beta = {beta[near]:.3g}",
            "reference_beta": "beta of the reference",
            "certificate_gap": "upper bound over what is found, largest over beta",
            "sampled_share": "error in random directions over what is found, smallest over beta",
            "stability_radius": "stability radius",
            "euler_radius": "stability radius under Euler's step",
            "width_slope": "slope of log(explosion beta) in log(width)",
            "growth_slope": "slope of log(perturbation error) in log(width)",
            "radius_slope": "slope of log(stability radius) in log(width)",
            "published_explosion_beta": f"published beta where the sampled loss passes {THRESHOLD:.0e}",
        },
    )
    return result
