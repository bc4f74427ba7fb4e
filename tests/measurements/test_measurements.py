"""Measurements run through a sweep: equal starts, sane outcomes, real input, and user maps like built-ins."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stablessm
from stablessm.data.images import load_images, read_idx
from stablessm.data.registry import DataError
from stablessm.measurements.map_programs import scale_of
from stablessm.measurements.ratios import gradient_to_weight

FIT = {
    "name": "fit",
    "measurement": "lr_stability",
    "axes": {
        "parameterization": ["direct", "exp", {"formula": "1/cosh(w)", "label": "sech"}],
        "link": ["continuous"],
        "optimizer": ["adam"],
        "target": ["polynomial"],
        "width": [8],
        "learning_rate": [1e-3, 1e3],
        "seed": [0, 1],
    },
    "settings": {"steps": 60, "horizon": 20, "batch": 16},
}


def test_lr_stability_starts_equal_and_names_what_happens(tmp_path):
    data = stablessm.run_sweep(FIT, out=tmp_path)
    start = data["initial_eigenvalue"].squeeze()
    for name in ("exp", "sech"):
        np.testing.assert_allclose(start.sel(parameterization=name), start.sel(parameterization="direct"), rtol=1e-5)
    assert (data["start_hash"] == data["start_hash"].isel(parameterization=0)).all()
    words = data["outcome"].attrs["flag_meanings"].split()
    named = [words[code] for code in data["outcome"].sel(learning_rate=1e-3).values.ravel()]
    assert not set(named) & {"diverged", "nonfinite", "outside_domain"}
    high = data["outcome"].sel(learning_rate=1e3, parameterization=["direct", "exp"]).values.ravel()
    assert {words[code] for code in high} <= {"diverged", "nonfinite", "collapsed"}
    assert np.isfinite(data["loss"]).all()


def test_gram_and_sampled_sweeps_agree(tmp_path):
    finals = []
    for loss in ("gram", "sampled"):
        document = FIT | {"name": loss, "settings": FIT["settings"] | {"loss": loss}}
        document["axes"] = FIT["axes"] | {"parameterization": ["exp", "best"], "learning_rate": [1e-3, 1e-2]}
        finals.append(stablessm.run_sweep(document, out=tmp_path)["final_loss"].values)
    np.testing.assert_allclose(*finals, rtol=2e-3)


def test_bisection_lies_in_the_bracket_of_the_grid(tmp_path):
    """Also where the lowest rates are too small to learn at: the run of stable rates begins above them."""
    axes = {k: v for k, v in FIT["axes"].items() if k != "learning_rate"}
    axes |= {"parameterization": ["direct", "exp"], "seed": [0, 1, 2]}
    search = FIT["settings"] | {"lowest_rate": 1e-6, "highest_rate": 1e2, "scan": 9}
    document = {"name": "rate", "measurement": "largest_rate", "axes": axes}
    fine = stablessm.run_sweep(document | {"settings": search | {"bisections": 4}}, out=tmp_path / "fine")
    grid = np.geomspace(1e-6, 1e2, 9).tolist()
    coarse = stablessm.run_sweep(FIT | {"axes": axes | {"learning_rate": grid}}, out=tmp_path / "grid")
    words = coarse["outcome"].attrs["flag_meanings"].split()
    slow = 0
    for name in ("direct", "exp"):
        for seed in axes["seed"]:
            named = [words[code] for code in coarse["outcome"].sel(parameterization=name, seed=seed).values.ravel()]
            stable = [one in ("converged", "step_limit") for one in named]
            bottom = stable.index(True)
            top = bottom + stable[bottom:].index(False)
            found = fine.sel(parameterization=name, seed=seed).squeeze()
            low, high = (float(found[f"{end}_learning_rate"]) for end in ("largest_stable", "smallest_unstable"))
            assert grid[top - 1] * (1 - 1e-6) <= low < high <= grid[top] * (1 + 1e-6)
            slow += bottom > 0 and named[0] == "collapsed"
    assert slow


def test_where_no_rate_is_stable_the_bisection_says_so(tmp_path):
    axes = {k: v for k, v in FIT["axes"].items() if k != "learning_rate"} | {"parameterization": ["exp"], "seed": [0]}
    search = FIT["settings"] | {"lowest_rate": 10.0, "highest_rate": 1e3, "scan": 3, "bisections": 2}
    document = {"name": "none", "measurement": "largest_rate", "axes": axes | {"optimizer": ["gradient_descent"]}}
    found = stablessm.run_sweep(document | {"settings": search}, out=tmp_path).squeeze()
    assert found["largest_stable_learning_rate"] == 0 and found["smallest_unstable_learning_rate"] == 10
    assert found["reentry"] == 0


@pytest.mark.slow
def test_precision_is_an_axis_from_one_start(tmp_path):
    axes = FIT["axes"] | {"parameterization": ["exp"], "learning_rate": [1e-3], "precision": ["float32", "float64"]}
    for measurement, more in (("lr_stability", {}), ("gradient_ratio", {"loss": "gram"})):
        document = {"name": measurement, "measurement": measurement, "axes": axes, "settings": FIT["settings"] | more}
        data = stablessm.run_sweep(document, out=tmp_path)
        assert (data["status"] == 1).all() and data["final_loss"].dtype == np.float64
        narrow, wide = (data.sel(precision=one, drop=True) for one in ("float32", "float64"))
        for name in ("initial_eigenvalue", "initial_loss", "final_loss"):
            assert (narrow[name] != wide[name]).any()
            np.testing.assert_allclose(narrow[name], wide[name], rtol=2e-4)


def test_all_links_start_at_the_same_multipliers(tmp_path):
    axes = FIT["axes"] | {
        "parameterization": ["exp", {"formula": "log(1+exp(w))*0.9", "label": "own"}],
        "link": ["continuous", "one-minus", "exponential"],
        "learning_rate": [1e-3],
    }
    data = stablessm.run_sweep(FIT | {"axes": axes}, out=tmp_path)
    start = data["initial_eigenvalue"].isel(learning_rate=0)
    multipliers = np.exp(start.sel(link="continuous"))
    for link in ("one-minus", "exponential"):
        np.testing.assert_allclose(start.sel(link=link), multipliers, rtol=1e-5)


def test_swept_constants_outside_the_image_are_refused_before_anything_is_written(tmp_path):
    document = FIT | {"axes": FIT["axes"] | {"parameterization": ["exp", "best"], "constant_b": [0.5, 5.0]}}
    with pytest.raises(ValueError, match=r"0.9 lies outside the image \(0, 0.2\] of 'best' \(a=1, b=5\)"):
        stablessm.run_sweep(document, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    document["axes"]["constant_b"] = [0.1, 0.5]
    loss = stablessm.run_sweep(document, out=tmp_path / "out")["final_loss"]
    differs = (loss.sel(constant_b=0.1) != loss.sel(constant_b=0.5)).any(["seed", "learning_rate"]).squeeze()
    assert differs.to_series().to_dict() == {"exp": False, "best": True}


def test_gradient_scale_ends_at_the_image_of_each_swept_constant(tmp_path):
    axes = {"parameterization": ["best"], "link": ["continuous"], "constant_b": [0.5, 2.0]}
    document = {"name": "scale", "measurement": "gradient_scale", "axes": axes, "settings": {"fastest_decay": 1.9}}
    data = stablessm.run_sweep(document, out=tmp_path).squeeze()
    for b in (0.5, 2.0):
        ends = np.isfinite(data["gradient_scale_of_decay"].sel(constant_b=b))
        assert (ends == (data["decay"] <= 1 / b)).all()


def test_ratio_and_scale_are_never_nan_where_defined():
    assert gradient_to_weight(jnp.zeros(1), jnp.zeros(1))[0] == 0
    assert jnp.isinf(gradient_to_weight(jnp.ones(1), jnp.zeros(1))[0])
    best = stablessm.PARAMETERIZATIONS["best"]
    weights = jnp.linspace(0.1, 5.0, 9)
    np.testing.assert_allclose(scale_of(best, weights) / weights, 2.0, rtol=1e-5)


def test_digits_are_learnt_and_measured(tmp_path):
    document = {
        "name": "few",
        "measurement": "classification",
        "axes": {"parameterization": ["exp", "best"], "width": [64], "learning_rate": [3e-3], "seed": [0],
                 "optimizer": ["adam"]},
        "settings": {"steps": 400, "records": 4},
    }  # fmt: skip
    data = stablessm.run_sweep(document, out=tmp_path)
    assert (data["test_accuracy"] >= 0.9).all()
    assert (data["gradient_to_weight_ratio"] >= 0).all()


def test_missing_and_damaged_images_are_sentences(tmp_path, monkeypatch):
    monkeypatch.setenv("STABLESSM_DATA", str(tmp_path))
    with pytest.raises(DataError, match="STABLESSM_DATA"):
        load_images("mnist")
    with pytest.raises(DataError, match="no data set"):
        load_images("mnst")
    for content, reason in ((b"hello world", "not an IDX"), (b"\0\0\x08\x01\0\0\0\x05abc", "damaged")):
        path = tmp_path / "file"
        path.write_bytes(content)
        with pytest.raises(DataError, match=reason):
            read_idx(path)


def test_idx_images_are_read(tmp_path):
    def idx(array):
        return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()

    rng = np.random.default_rng(0)
    for split, count in (("train", 7), ("t10k", 3)):
        images, labels = rng.integers(0, 256, (count, 28, 28), np.uint8), np.arange(count, dtype=np.uint8)
        (tmp_path / f"{split}-images-idx3-ubyte").write_bytes(idx(images))
        (tmp_path / f"{split}-labels-idx1-ubyte").write_bytes(idx(labels))
    loaded = load_images("mnist", tmp_path)
    assert loaded.train.shape == (7, 28, 28) and loaded.test_labels.tolist() == [0, 1, 2]
    assert jax.numpy.asarray(loaded.train).dtype == jnp.uint8
