"""Claims about diagonal linear RNNs on the atomic tasks, from scores over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from stablessm.claims.record import CONDITIONAL, CONFIRMED, NOT_CONFIRMED, UNDECIDED, Evidence, Finding

_MIXING = ["sort", "select", "mips", "context_shift", "solve"]
_FIXED = ["select_fixed", "solve_fixed"]
_CONVOLUTIONS = ["dlr", "dlr_product", "dss_exp", "dlr_deep"]
_ABOVE = 0.1  # by how much R2 must pass that of a simple answer to count as learning anything
_GOOD = 0.95


def at_least_dss(evidence: Evidence) -> Finding:
    """Whether one layer of DLR scores as high as one of DSS on every task, to the range over seeds."""
    found = evidence.at("dlr_tasks.scores", "task", model=["dlr", "dss_exp"])
    dlr, dss = (found.sel(model=one) for one in ("dlr", "dss_exp"))
    behind = [str(one) for one in found["task"].values
              if float(dlr["largest_score"].sel(task=one)) < float(dss["smallest_score"].sel(task=one))]  # fmt: skip
    numbers = "R2 of DLR and DSS: " + _side_by_side(dlr, dss)
    if not behind:
        return Finding(CONFIRMED, numbers)
    return Finding(NOT_CONFIRMED, numbers, f"DSS is ahead on {', '.join(behind)} at equal steps")


def memory_stops_attention(evidence: Evidence) -> Finding:
    """Whether a step of attention passes 8 GB at a length where one of a DLR does not."""
    found = evidence.at("step_memory.memory_limit", model=["dlr", "attention"])
    ends, powers = (found[name].sel(model=["attention", "dlr"]).values for name in ("length_at_limit", "growth"))
    longest = float(found["longest_that_fits"].sel(model="dlr"))
    numbers = (
        f"one series of 32 features: attention holds 8 GB at {ends[0]:.0f} steps and grows by the power "
        f"{powers[0]:.2f} of the length; DLR grows by {powers[1]:.2f} and fits up to {longest:.0f} steps, the most "
        "that were compiled"
    )
    holds = np.isfinite(ends[0]) and not np.isfinite(ends[1])
    return Finding(CONFIRMED if holds else NOT_CONFIRMED, numbers)


def feed_forward_adds_nothing(evidence: Evidence) -> Finding:
    """Whether attention with feed-forward at DLR's number of parameters is ahead of attention alone on no task."""
    found = evidence.at("dlr_tasks.scores", "task", model=["attention", "attention_feed_forward"])
    alone, both = (found.sel(model=one) for one in ("attention", "attention_feed_forward"))
    ahead = [str(one) for one in found["task"].values
             if float(both["smallest_score"].sel(task=one)) > float(alone["largest_score"].sel(task=one))]  # fmt: skip
    numbers = "R2 of attention alone and with feed-forward: " + _side_by_side(alone, both)
    if not ahead:
        return Finding(CONFIRMED, numbers)
    return Finding(NOT_CONFIRMED, numbers, f"it is ahead on {', '.join(ahead)} at equal steps")


def product_needs_fewer_poles(evidence: Evidence) -> Finding:
    """Whether a quarter of the poles spoils DLR on Shift, and not its product."""
    found = evidence.at("dlr_guide.scores", "task")["score"]
    whole, few, product = (float(found.sel(task=one)) for one in
                           ("shift_512", "shift_512_few_poles", "shift_512_few_poles_product"))  # fmt: skip
    numbers = f"512 steps, R2: 512 poles {whole:.3f}, 128 poles {few:.3f}, product of 128 poles {product:.3f}"
    return Finding(CONFIRMED if whole > _GOOD and product > _GOOD and few < 0.85 else NOT_CONFIRMED, numbers)


def long_shift(evidence: Evidence) -> Finding:
    """Whether one layer learns Shift over thousands of steps; longer series are not trained on here."""
    found = evidence.at("dlr_reach.scores", "task")
    score = float(found["smallest_score"].sel(task="shift_4096"))
    numbers = (
        f"4096 steps on 4096 poles: R2 {float(found['score'].sel(task='shift_4096')):.3f}, at least {score:.3f} over "
        f"seeds, after {int(found['steps'].sel(task='shift_4096'))} steps"
    )
    if score <= _GOOD:
        return Finding(NOT_CONFIRMED, numbers)
    return Finding(CONDITIONAL, numbers, "as far as 4096 steps: no longer series was trained on here")


def few_features(evidence: Evidence) -> Finding:
    """Whether 8 features suffice on Shift where there are as many poles as steps."""
    found = evidence.at("dlr_reach.scores", "task")
    narrow = float(found["smallest_score"].sel(task="shift_1024_width_8"))
    few = float(evidence.at("dlr_guide.scores", "task")["score"].sel(task="shift_512_few_poles"))
    numbers = (
        f"1024 steps, 1024 poles, 8 features: R2 at least {narrow:.3f} over seeds after "
        f"{int(found['steps'].sel(task='shift_1024_width_8'))} steps of training; 512 steps, 128 poles, 32 features: "
        f"{few:.3f}"
    )
    return Finding(CONFIRMED if narrow > _GOOD > few else UNDECIDED if narrow > few else NOT_CONFIRMED, numbers)


def convolutions_fail(evidence: Evidence) -> Finding:
    """Whether no convolution learns what depends on the input, and attention does, at equal steps."""
    found = evidence.at("dlr_tasks.scores", "task", model=[*_CONVOLUTIONS, "attention", "hybrid"]).sel(task=_MIXING)
    gain = found["score"] - found["trivial_score"]
    best = gain.sel(model=_CONVOLUTIONS).max("model")
    attention = gain.sel(model=["attention", "hybrid"]).max("model")
    numbers = "R2 above that of a simple answer, best convolution and best model with attention: " + "; ".join(
        f"{_words(one)} {float(best.sel(task=one)):.2f}, {float(attention.sel(task=one)):.2f}" for one in _MIXING
    )
    failing = [one for one in _MIXING if float(best.sel(task=one)) < _ABOVE]
    learnt = [one for one in _MIXING if float(attention.sel(task=one)) >= _ABOVE]
    reach = evidence.at("dlr_reach.scores", "task")["score"]
    pairs = {"mips": ("mips_attention", "mips_dlr"), "select": ("select_attention_2_layers", "select_dlr")}
    numbers += "; trained for longer, attention and DLR: " + "; ".join(
        f"{name} {float(reach.sel(task=one)):.2f}, {float(reach.sel(task=two)):.2f}"
        for name, (one, two) in pairs.items()
    )
    apart = [name for name, (one, two) in pairs.items()
             if float(reach.sel(task=one)) >= 0.9 and float(reach.sel(task=two)) < 0.5]  # fmt: skip
    if len(failing) == len(learnt) == len(_MIXING):
        return Finding(CONFIRMED, numbers)
    if len(failing) == len(_MIXING) and apart:
        return Finding(
            CONDITIONAL, numbers, f"all convolutions fail; that attention succeeds is seen on {', '.join(apart)} alone"
        )
    return Finding(NOT_CONFIRMED, numbers, f"convolutions fail on {', '.join(map(_words, failing)) or 'none'}")


def fixed_ones_are_easy(evidence: Evidence) -> Finding:
    """Whether a convolution learns Select and Solve where positions and matrix are fixed."""
    found = evidence.at("dlr_tasks.scores", "task", model=["dlr"]).sel(task=_FIXED, model="dlr")["score"]
    guide = evidence.at("dlr_guide.scores", "task")["score"].sel(task=_FIXED)
    numbers = "R2 of one DLR layer: " + "; ".join(
        f"{_words(one)} {float(found.sel(task=one)):.3f}, longer and wider {float(guide.sel(task=one)):.3f}"
        for one in _FIXED
    )
    return Finding(CONFIRMED if bool((guide > _GOOD).all()) else NOT_CONFIRMED, numbers)


def _words(task: object) -> str:
    return str(task).replace("_", " ")


def _side_by_side(one: xr.Dataset, two: xr.Dataset) -> str:
    return ", ".join(
        f"{_words(task)} {float(one['score'].sel(task=task)):.2f} {float(two['score'].sel(task=task)):.2f}"
        for task in one["task"].values
    )
