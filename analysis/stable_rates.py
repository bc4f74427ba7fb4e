"""Largest stable learning rate: the top of the first unbroken run of stable rates, per seed and over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, STABLE, codes, described, flags, holds, median, rank
from ._runs import broken, first_run

NEEDS = ("parameterization", "learning_rate", "seed", "outcome")

REACH = ("none_stable", "next_unstable", "last_stable", "some_not_computed")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce outcomes over the learning rate.

    A cell that was not computed is neither stable nor unstable: where one lies in, below or right above the run of
    stable rates, that run may not be the first or may go on, its `reach` says so, and what is taken over seeds leaves
    it out. Rates below the run, too small to learn at, are not its edge: `lowest_stable_rate` tells where it begins.

    Args:
        dataset: with `outcome` along `learning_rate` and `seed`.

    Returns:
        For each seed the ends of the run, largest_stable_learning_rate and lowest_stable_rate (0 where no rate is
        stable), its reach, and whether a rate above it is stable again; over seeds the median of the former, smallest
        and greatest, their number, and the rank of the maps by median; for each rate the share of stable seeds with its
        standard error sqrt(p (1 - p) / n), the number n of seeds, the most common outcome (the worse one of a tie) and
        its share.
    """
    ordered = dataset.sortby("learning_rate")
    outcome, rate = ordered["outcome"], ordered["learning_rate"]
    stable, computed = holds(outcome, *STABLE), ~holds(outcome, NOT_COMPUTED)
    run = first_run(stable)
    largest = (run * rate).max("learning_rate")
    lowest = rate.where(run, np.inf).min("learning_rate")
    reentry = (stable & broken(stable, computed & ~stable)).any("learning_rate")
    reach = _reach(stable, computed)
    known = reach != REACH.index("some_not_computed")
    middle = median(largest, known)
    seeds = computed.sum("seed")
    share = stable.sum("seed") / seeds.where(seeds > 0)
    common, common_share = _common(outcome, seeds)
    result = xr.Dataset(
        {
            "largest_stable_learning_rate": largest,
            "lowest_stable_rate": lowest.where(largest > 0, 0.0),
            "reach": reach,
            "reentry": reentry.astype(np.int8),
            "median_largest_rate": middle,
            "smallest_largest_rate": largest.where(known).min("seed"),
            "greatest_largest_rate": largest.where(known).max("seed"),
            "seeds_of_largest_rate": known.sum("seed").astype(np.int32),
            "rank": rank(middle.where(middle > 0)),
            "stable_share": share,
            "stable_share_error": (share * (1 - share) / seeds.where(seeds > 0)) ** 0.5,
            "seeds": seeds.astype(np.int32),
            "common_outcome": common,
            "common_outcome_share": common_share,
        }
    )
    names = {
        "largest_stable_learning_rate": "largest stable learning rate, top of the first run of them, 0 where none is",
        "lowest_stable_rate": "lowest learning rate of that run, 0 where none is stable",
        "reach": "how the run of stable rates ends",
        "reentry": "stable again above that run",
        "median_largest_rate": "median over seeds of the largest stable learning rate",
        "smallest_largest_rate": "smallest over seeds of the largest stable learning rate",
        "greatest_largest_rate": "greatest over seeds of the largest stable learning rate",
        "seeds_of_largest_rate": "number of seeds whose largest stable rate is known",
        "rank": "rank of the map by its median largest rate, 0 where there is none",
        "stable_share": "share of seeds that are stable",
        "stable_share_error": "standard error of the share of stable seeds",
        "seeds": "number of seeds computed",
        "common_outcome": "most common outcome",
        "common_outcome_share": "share of seeds with the most common outcome",
    }
    described(result, names)
    result["common_outcome"].attrs |= {key: outcome.attrs[key] for key in ("flag_values", "flag_meanings")}
    result["reentry"].attrs |= flags("no", "yes")
    result["reach"].attrs |= flags(*REACH)
    return result


def _reach(stable: xr.DataArray, computed: xr.DataArray) -> xr.DataArray:
    """Return how each run of stable rates ends, a code into `REACH`."""
    ended = broken(stable, ~stable)
    looked_at = ~ended.shift(learning_rate=1, fill_value=False)  # up to the first rate above the run
    ends = xr.where(stable.any("learning_rate"), REACH.index("next_unstable"), REACH.index("none_stable"))
    ends = ends.where(ended.isel(learning_rate=-1) | ~stable.isel(learning_rate=-1), REACH.index("last_stable"))
    return ends.where((computed | ~looked_at).all("learning_rate"), REACH.index("some_not_computed")).astype(np.int8)


def _common(outcome: xr.DataArray, seeds: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the most common outcome over the computed seeds, and its share; NaN where no seed is computed."""
    known = codes(outcome)
    worst_first = [name for name in reversed(known) if name != NOT_COMPUTED]
    counts = xr.concat([(outcome == known[name]).sum("seed") for name in worst_first], "kind")
    first = counts.argmax("kind")
    values = np.array([known[name] for name in worst_first], outcome.dtype)[first.values]
    common = first.copy(data=values).where(seeds > 0, known.get(NOT_COMPUTED, 0)).astype(outcome.dtype)
    return common, counts.max("kind") / seeds.where(seeds > 0)
