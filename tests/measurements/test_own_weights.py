"""Gradient over weight of weights and gradients of the user's own, from Python and from a file."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stablessm
from stablessm import datasets
from stablessm.cli.pipeline import module
from stablessm.measurements.own_weights import WeightsError, ratios_of, read_weights

RANDOM = np.random.default_rng(0)
W, G = RANDOM.normal(size=(4, 3, 5)), RANDOM.normal(size=(4, 3, 5))


def saved(path, **arrays):
    np.savez(path, **{key.replace("__", "/"): value for key, value in arrays.items()})
    return path


def test_a_pytree_of_weights_and_gradients():
    found = stablessm.gradient_ratio({"a": W[:3], "b": [W[0] * 2]}, {"a": G[:3], "b": [G[0]]}, label="mine")
    datasets.validate(found)
    assert found.layer.values.tolist() == ["a", "b/0"] and found.parameterization.values.tolist() == ["mine"]
    assert found["gradient"].dims == ("parameterization", "seed", "layer", "step", "quantile")
    ratio = found["gradient_to_weight_ratio"].squeeze()
    for name, weight, gradient in (("a", W[:3], G[:3]), ("b/0", W[0] * 2, G[0])):
        expected = np.sort(np.abs(gradient / weight).ravel())[[0, gradient.size // 2, -1]]
        np.testing.assert_allclose(ratio.sel(layer=name, quantile=[0.0, 0.5, 1.0]), expected, rtol=1e-14)
    assert ratio.dtype == np.float64


def test_steps_along_the_first_axis():
    found = stablessm.gradient_ratio({"a": W}, {"a": G}, step=[0, 5, 7, 100]).squeeze()
    assert found.step.values.tolist() == [0, 5, 7, 100]
    expected = np.abs(G).reshape(4, -1).max(1)
    np.testing.assert_allclose(found["gradient"].sel(quantile=1.0), expected, rtol=1e-15)


def test_the_gradient_of_an_equinox_model():
    layer = eqx.nn.MLP(2, 1, 3, 1, key=jax.random.key(0))
    gradient = eqx.filter_grad(lambda model: jnp.sum(model(jnp.ones(2)) ** 2))(layer)
    found = stablessm.gradient_ratio(layer, gradient)
    assert found.layer.values.tolist() == [f"layers/{k}/{name}" for k in (0, 1) for name in ("weight", "bias")]
    assert found["gradient"].dtype == np.float32
    last = np.abs(np.asarray(gradient.layers[1].weight)).max()
    assert found["gradient"].sel(layer="layers/1/weight", quantile=1.0).item() == pytest.approx(last)


def test_no_gradient_is_ratio_zero_and_no_weight_infinite_and_complex_counts_by_modulus():
    found = stablessm.gradient_ratio({"a": np.array([0.0, 0.0, 3 + 4j])}, {"a": np.array([0.0, 1.0, 10j])})
    ratio = found["gradient_to_weight_ratio"].squeeze()
    assert [ratio.sel(quantile=q).item() for q in (0.0, 0.5, 1.0)] == [0.0, 2.0, np.inf]


@pytest.mark.parametrize(
    ("weights", "gradients", "step", "fragment"),
    [
        ({}, {}, None, "no pair"),
        ({"a": W}, {}, None, "weight 'a' has no gradient"),
        ({}, {"a": W}, None, "gradient 'a' has no weight"),
        ({"a": W}, {"a": W[0]}, None, r"shape \(4, 3, 5\), but its gradient \(3, 5\)"),
        ({"a": W}, {"a": G}, [0, 1], r"there are 2 steps, but 'a' has the shape \(4, 3, 5\)"),
        ({"a": W}, {"a": G}, [0, 2, 1, 3], "increasing integers"),
        ({"a": W}, {"a": G}, [0.0, 1.0, 2.0, 3.0], "increasing integers"),
        ({"a": W[:0]}, {"a": G[:0]}, None, "'a' has no entries"),
        ({"a": W}, {"a": np.where(G[1, 2, 3] == G, np.nan, G)}, None, r"gradient 'a' must be finite, .*\[1, 2, 3\]"),
        ({"a": np.where(W[0, 0, 1] == W, np.inf, W)}, {"a": G}, None, r"weight 'a' must be finite, .*\[0, 0, 1\]"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(weights, gradients, step, fragment):
    with pytest.raises(WeightsError, match=f"the weights: .*{fragment}"):
        stablessm.gradient_ratio(weights, gradients, step=step)


def test_files_that_cannot_be_used_are_one_sentence(tmp_path):
    for arrays, fragment in (
        ({"weight__a": W, "gradient__b": G}, "the weight 'a' has no gradient"),
        ({"weight__a": W, "gradient__a": G, "other": G}, "has the key 'other'"),
        ({"weight__": W}, "has the key 'weight/'"),
        ({"weight__a": np.array(["x"]), "gradient__a": np.array(["x"])}, "must hold numbers"),
        ({"weight__a": np.array([None, 1]), "gradient__a": G}, "damaged, or holds pickled objects"),
        ({}, "no pair"),
    ):
        with pytest.raises(WeightsError, match=fragment):
            read_weights(saved(tmp_path / "bad.npz", **arrays))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "cut.npz").write_bytes(saved(tmp_path / "w.npz", weight__a=W, gradient__a=G).read_bytes()[:300])
    for name, fragment in (
        ("text.npz", "damaged, or holds pickled"),
        ("cut.npz", "damaged, or holds pickled"),
        ("none.npz", "there is no file"),
        ("w.npy", r"must end in \.npz"),
    ):
        with pytest.raises(WeightsError, match=fragment):
            read_weights(tmp_path / name)
    one, other = (read_weights(saved(tmp_path / "w.npz", **{f"weight__{n}": W, f"gradient__{n}": G})) for n in "ab")
    with pytest.raises(WeightsError, match="every run must have the same weights"):
        ratios_of({"x": [one], "y": [other]})


def test_a_file_goes_through_run_analyse_draw_and_show(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = np.arange(4) * 10
    saved("a.npz", step=steps, weight__ssm=W, gradient__ssm=G)
    saved("b.npz", step=steps, weight__ssm=W, gradient__ssm=2 * G)
    words = ("run", "gradient_ratio", "--weights", "exp=a.npz", "--weights", "exp=b.npz", "--weights", "b.npz")
    assert call(*words, "--out", "mine")[0] == 0
    raw = datasets.load("mine/raw/gradient_ratio.nc")
    assert raw.parameterization.values.tolist() == ["exp", "b"] and raw.seed.size == 2
    meanings = raw["outcome"].attrs["flag_meanings"].split()
    assert [meanings[code] for code in raw["outcome"].values.ravel()] == ["given", "given", "given", "not_computed"]
    assert "nothing to run" in call(*words, "--out", "mine")[1]
    assert call("analyse", "gradient_ratio", "--out", "mine")[0] == 0
    ratios = datasets.load("mine/analysis/gradient_ratio.ratio_along_training.nc").squeeze()
    largest = np.abs(G / W).reshape(4, -1).max(1)
    np.testing.assert_allclose(ratios["greatest_ratio"].sel(parameterization="exp"), 2 * largest, rtol=1e-12)
    np.testing.assert_allclose(ratios["median_ratio"].sel(parameterization="b"), 2 * largest, rtol=1e-12)
    assert ratios["seeds"].sel(parameterization="exp").item() == 2
    assert call("draw", "gradient_ratio", "--out", "mine", "--format", "svg")[0] == 0
    assert (tmp_path / "mine/figures/gradient_ratio.svg").exists() and module("figures", "gradient_ratio")
    code, out, _ = call("show", "gradient_ratio", "--out", "mine")
    assert code == 0 and "given" in out and "quantile" in out


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (("run", "maps", "--weights", "a.npz"), "--weights goes with the measurement 'gradient_ratio'"),
        (("run", "gradient_ratio", "--weights", "none.npz"), "there is no file 'none.npz'"),
        (("run", "gradient_ratio", "--weights", "=a.npz"), "expects FILE.npz or LABEL=FILE.npz"),
        (("run", "gradient_ratio", "--weights", "a.npz", "--set", "seed=1"), "takes no --set"),
        (("run", "gradient_ratio", "--weights", "a.npz", "--dry-run"), "takes no --set"),
    ],
)
def test_bad_words_write_nothing(call, tmp_path, monkeypatch, words, fragment):
    monkeypatch.chdir(tmp_path)
    saved("a.npz", weight__ssm=W, gradient__ssm=G)
    code, _, error = call(*words, "--out", "mine")
    assert code == 2 and fragment in error and len(error.splitlines()) == 1 and not (tmp_path / "mine").exists()


def test_another_dataset_is_kept_unless_fresh(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, gradient in (("a.npz", G), ("b.npz", 2 * G)):
        saved(name, weight__ssm=W, gradient__ssm=gradient)
    assert call("run", "gradient_ratio", "--weights", "a.npz", "--out", "mine")[0] == 0
    before = (tmp_path / "mine/raw/gradient_ratio.nc").read_bytes()
    code, _, error = call("run", "gradient_ratio", "--weights", "b.npz", "--out", "mine")
    assert code == 2 and "give --fresh" in error
    code, _, error = call("run", "gradient_ratio", "--out", "mine")
    assert code == 2 and "holds a different sweep" in error
    assert (tmp_path / "mine/raw/gradient_ratio.nc").read_bytes() == before
    assert call("run", "gradient_ratio", "--weights", "b.npz", "--out", "mine", "--fresh")[0] == 0
    assert (tmp_path / "mine/raw/gradient_ratio.nc").read_bytes() != before
