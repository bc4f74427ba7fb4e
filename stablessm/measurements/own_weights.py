"""Gradient over weight of weights and gradients that come from elsewhere: any model, any training loop."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from stablessm.measurements.gradient_ratio import GRADIENT_RATIO
from stablessm.reading import read_bytes

GIVEN = ("given", "not_computed")


class WeightsError(ValueError):
    """Weights or gradients that cannot be used; the message is one finished sentence."""


class Pairs(NamedTuple):
    """Weights and their gradients, by name.

    Attributes:
        weights: name -> array, with the steps along its first axis where there are steps.
        gradients: the same names and shapes.
        step: the steps, or None where there is one state of the model.
    """

    weights: dict[str, np.ndarray]
    gradients: dict[str, np.ndarray]
    step: np.ndarray | None


def gradient_ratio(weights: Any, gradients: Any, *, step: Any = None, label: str = "weights") -> xr.Dataset:
    """Return |gradient| and |gradient| / |weight| of a model's weights, as `gradient_ratio` stores those of its runs.

    Complex weights count by their modulus. The ratio is 0 where the gradient is 0, infinite where only the weight is.

    Args:
        weights: pytree of arrays (a dict, a list, an Equinox module, ...); what is no floating-point array is left out.
        gradients: pytree of the same names and shapes.
        step: steps along the first axis of every array, shape (steps,); None where that axis is none.
        label: what the model is called on the coordinate `parameterization`.

    Returns:
        `gradient` and `gradient_to_weight_ratio` with the dimensions parameterization (1), seed (1), layer (a leaf
        each), step and quantile (0, 1/4, 1/2, 3/4, 1 over the entries of a leaf); `outcome` is "given".

    Raises:
        WeightsError: no weights, a weight without its gradient, other shapes, or values that are not finite.

    Example:
        >>> found = gradient_ratio({"w": np.array([1.0, -2.0])}, {"w": np.array([0.5, 0.5])})
        >>> found["gradient_to_weight_ratio"].sel(quantile=1.0).item()
        0.5

    References: Wang and Li, StableSSM (ICML 2024), Eq. 12.
    """
    steps = None if step is None else np.asarray(step)
    return ratios_of({label: [_checked(Pairs(_leaves(weights), _leaves(gradients), steps), "the weights")]})


def read_weights(path: str | Path) -> Pairs:
    """Read weights and gradients from an .npz file with the keys weight/NAME, gradient/NAME and, with steps, step.

    Args:
        path: a file that `numpy.savez` wrote; what is pickled is refused unread.

    Raises:
        WeightsError: no such file, another kind of file, unknown keys, or see `gradient_ratio`.
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise WeightsError(f"a file of weights must end in .npz, but got '{path}'")
    found: dict[str, dict[str, np.ndarray]] = {"weight": {}, "gradient": {}}
    step = None
    content = io.BytesIO(read_bytes(path, "file", WeightsError))
    try:
        with np.load(content, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except Exception:  # zipfile and numpy raise anything on a damaged file
        raise WeightsError(
            f"'{path}' is not an .npz file of numbers: it is damaged, or holds pickled objects"
        ) from None
    for key, array in arrays.items():
        kind, _, name = key.partition("/")
        if key == "step":
            step = array
        elif kind in found and name:
            found[kind][name] = array
        else:
            raise WeightsError(f"'{path}' has the key {key!r}, but its keys must be weight/NAME, gradient/NAME or step")
    return _checked(Pairs(found["weight"], found["gradient"], step), f"'{path}'")


def ratios_of(runs: Mapping[str, list[Pairs]]) -> xr.Dataset:
    """Return the dataset of several runs: a label each, and for each label one or more runs along `seed`.

    Args:
        runs: label -> runs; all with the same names and steps.

    Raises:
        WeightsError: runs that differ in names or steps.
    """
    first = next(iter(runs.values()))[0]
    names = list(first.weights)
    steps = np.zeros(1, np.int64) if first.step is None else first.step
    for label, several in runs.items():
        for one in several:
            if list(one.weights) != names:
                raise WeightsError(
                    f"every run must have the same weights, but {label!r} has {', '.join(one.weights)} "
                    f"and the first run {', '.join(names)}"
                )
            if not np.array_equal(np.zeros(1, np.int64) if one.step is None else one.step, steps):
                raise WeightsError(f"every run must have the same steps, but those of {label!r} differ")
    return _dataset(runs, names, steps)


def _dataset(runs: Mapping[str, list[Pairs]], names: list[str], steps: np.ndarray) -> xr.Dataset:
    import jax

    from stablessm.measurements.ratios import QUANTILES

    seeds = max(len(several) for several in runs.values())
    shape = (len(runs), seeds, len(names))
    dims = ("parameterization", "seed", "layer")
    wide = any(array.dtype.itemsize > 4 * (1 + (array.dtype.kind == "c")) for one in runs.values() for pairs in one
               for array in pairs.weights.values())  # fmt: skip
    dtype = np.float64 if wide else np.float32
    values = {name: np.full((*shape, steps.size, len(QUANTILES)), np.nan, dtype)
              for name in ("gradient", "gradient_to_weight_ratio")}  # fmt: skip
    outcome = np.ones(shape, np.int8)
    with jax.enable_x64(True):
        for i, several in enumerate(runs.values()):
            for j, pairs in enumerate(several):
                for k, name in enumerate(names):
                    found = _quantiles(pairs.weights[name], pairs.gradients[name], pairs.step is not None)
                    values["gradient"][i, j, k], values["gradient_to_weight_ratio"][i, j, k] = found
                outcome[i, j] = 0
    described = GRADIENT_RATIO.variables(GRADIENT_RATIO.settings())
    flags = {"flag_values": np.arange(len(GIVEN), dtype=np.int8), "flag_meanings": " ".join(GIVEN)}
    about = {"long_name": "outcome, not known of what is given", "units": "1"}
    data: dict[str, Any] = {
        name: ((*dims, "step", "quantile"), array, {"long_name": described[name].long_name, "units": "1"})
        for name, array in values.items()
    }
    data["outcome"] = (dims, outcome, {**about, **flags})
    never = {"long_name": "first bad step, -1 where there is none", "units": "1"}
    data["first_bad_step"] = (dims, np.full(shape, -1, np.int32), never)
    coordinates = {
        "parameterization": (np.array(list(runs)), "parameterization"),
        "seed": (np.arange(seeds), "run"),
        "layer": (np.array(names), "layer"),
        "step": (steps, "optimisation step"),
        "quantile": (np.asarray(QUANTILES), "quantile"),
    }
    found = xr.Dataset(data, {name: (name, array, {"long_name": long_name, "units": "1"})
                              for name, (array, long_name) in coordinates.items()})  # fmt: skip
    found.attrs = {
        "name": GRADIENT_RATIO.name,
        "title": "Gradient over weight of weights and gradients as given",
        "measurement": GRADIENT_RATIO.name,
        "summary": GRADIENT_RATIO.summary,
        "reference": GRADIENT_RATIO.reference,
    }
    return found


def _quantiles(weight: np.ndarray, gradient: np.ndarray, stepped: bool) -> list[np.ndarray]:
    """Return the quantiles of |g| and of |g| / |w| over the entries, each of shape (steps, quantiles)."""
    import jax
    import jax.numpy as jnp

    from stablessm.measurements.ratios import gradient_to_weight, quantiles

    rows = weight.shape[0] if stepped else 1
    w, g = (jnp.asarray(_wide(array).reshape(rows, -1)) for array in (weight, gradient))
    return [np.asarray(jax.vmap(quantiles)(one)) for one in (jnp.abs(g), gradient_to_weight(g, w))]


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _leaves(tree: Any) -> dict[str, np.ndarray]:
    """Return the floating-point arrays of a pytree by their paths."""
    import equinox as eqx
    import jax

    paths, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_inexact_array))
    return {
        jax.tree_util.keystr(path, simple=True, separator="/") or "weight": np.asarray(leaf) for path, leaf in paths
    }


def _checked(pairs: Pairs, what: str) -> Pairs:
    """Return the pairs, names in order, after checking that they are pairs of finite numbers."""
    for here, there, kind, other in (
        (pairs.weights, pairs.gradients, "weight", "gradient"),
        (pairs.gradients, pairs.weights, "gradient", "weight"),
    ):
        for name in here:
            if name not in there:
                raise WeightsError(f"{what}: the {kind} {name!r} has no {other}")
    if not pairs.weights:
        raise WeightsError(f"{what}: there is no pair of a weight and its gradient")
    step = None if pairs.step is None else _steps(pairs.step, what)
    for name, weight in pairs.weights.items():
        gradient = pairs.gradients[name]
        if weight.shape != gradient.shape:
            raise WeightsError(
                f"{what}: the weight {name!r} has the shape {weight.shape}, but its gradient {gradient.shape}"
            )
        if step is not None and weight.shape[:1] != step.shape:
            raise WeightsError(
                f"{what}: there are {step.size} steps, but {name!r} has the shape {weight.shape} "
                "(the steps are its first axis)"
            )
        if not weight.size:
            raise WeightsError(f"{what}: {name!r} has no entries")
        for kind, array in (("weight", weight), ("gradient", gradient)):
            if array.dtype.kind not in "fciu" and array.dtype.name != "bfloat16":
                raise WeightsError(f"{what}: the {kind} {name!r} must hold numbers, but it holds {array.dtype.name}")
            bad = np.argwhere(~np.isfinite(_wide(array)))
            if bad.size:
                place = ", ".join(map(str, bad[0]))
                raise WeightsError(f"{what}: the {kind} {name!r} must be finite, but its entry [{place}] is not")
    return Pairs(pairs.weights, {name: pairs.gradients[name] for name in pairs.weights}, step)


def _steps(step: np.ndarray, what: str) -> np.ndarray:
    if step.ndim != 1 or step.dtype.kind not in "iu" or not step.size or (np.diff(step.astype(np.int64)) <= 0).any():
        raise WeightsError(f"{what}: `step` must be increasing integers of shape (steps,), but got {step!r}")
    return step.astype(np.int64)
