"""How fast a run converges and how well it generalises, by learning rate and map, with intervals over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, median_of_resamples
from ._outcomes import NOT_COMPUTED, described, holds

NEEDS = ("parameterization", "learning_rate", "seed", "step", "loss", "test_loss", "zero_loss", "outcome")

THRESHOLD = 1e-2


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce losses over seeds.

    A run counts with what it came to, whether or not it is called stable; a loss that is not finite is infinite.

    Args:
        dataset: of the measurement `generalisation`.

    Returns:
        For each rate, medians over seeds with intervals of: the first recorded step whose test loss lies below 1% of
        the zero model's (infinite where none does), the training loss and the test loss at the end. For each map the
        rate of the least median test loss with that loss, and the rate of the fewest steps.
    """
    ordered = dataset.sortby("learning_rate")
    computed = ~holds(ordered["outcome"], NOT_COMPUTED)
    finite = {name: ordered[name].where(np.isfinite(ordered[name]), np.inf) for name in ("loss", "test_loss")}
    below = finite["test_loss"] <= THRESHOLD * ordered["zero_loss"]
    steps = ordered["step"].where(below).min("step").fillna(np.inf)
    stopped = holds(ordered["outcome"], "nonfinite", "outside_domain")
    values = {
        "steps": steps,
        "train_loss": finite["loss"].isel(step=-1, drop=True).where(~stopped, np.inf),
        "test_loss": finite["test_loss"].isel(step=-1, drop=True).where(~stopped, np.inf),
    }
    result = xr.Dataset()
    for name, one in values.items():
        one = one.where(computed, np.inf)
        low, high = interval(median_of_resamples(one))
        result = result.assign({f"median_{name}": one.median("seed"), f"low_{name}": low, f"high_{name}": high})
    for name in ("steps", "test_loss"):
        middle = result[f"median_{name}"]
        place = middle.argmin("learning_rate")
        least = middle.isel(learning_rate=place).drop_vars("learning_rate")
        rate = ordered["learning_rate"].isel(learning_rate=place).drop_vars("learning_rate")
        reached = np.isfinite(least)
        result = result.assign({f"least_{name}": least, f"rate_of_least_{name}": rate.where(reached)})
    zero = ordered["zero_loss"].max(("parameterization", "learning_rate", "seed"))
    result = result.assign(seeds=computed.sum("seed").astype(np.int32), zero_loss=zero)
    about = {"steps": "steps to 1% of the zero model's loss", "train_loss": "training loss at the end",
             "test_loss": "test loss at the end"}  # fmt: skip
    names = {"seeds": "number of seeds computed", "zero_loss": "expected loss of the zero model on new sequences"}
    for name, long_name in about.items():
        names |= {
            f"median_{name}": f"{long_name}, median over seeds",
            f"low_{name}": f"{long_name}, lower end of the 95% interval",
            f"high_{name}": f"{long_name}, upper end of the 95% interval",
        }
    for name in ("steps", "test_loss"):
        names |= {
            f"least_{name}": f"{about[name]}, least median over learning rates",
            f"rate_of_least_{name}": f"learning rate of the least median of: {about[name]}",
        }
    return described(result, names)
