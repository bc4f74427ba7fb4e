"""What comes next: pixels and samples as tokens, drawn one by one, reproducible and taken up again; bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from matplotlib.text import Text

from stablessm import datasets
from stablessm.data import DataError
from stablessm.data.content import Source
from stablessm.data.continued import continued
from stablessm.data.loading import load
from stablessm.data.mu_law import from_mu_law, mu_law
from stablessm.data.records import Classification, Examples
from stablessm.models.sampling import Drawing, _chosen, continuation, drawn, primed
from stablessm.plotting import completions
from stablessm.plotting.saving import drawn as drawn_figure
from stablessm.runs import RunError, load_declaration, sample
from stablessm.runs.record import empty
from stablessm.runs.sampling import _with_spectra
from stablessm.runs.setup import ready
from stablessm.tasks.counts import blended, counted
from stablessm.tasks.scores import row_losses
from stablessm.tasks.task import task_of
from stablessm.training import checkpoints

SMALL = ["ask=next", "width=4", "states=4", "depth=1", "batch=8", "learning_rate=0.02", "evaluate_every=3"]
KEY = jax.random.key(7)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run on 8 x 8 digits and its checkpoint, as it is before the first step."""
    path = tmp_path_factory.mktemp("digits") / "one.checkpoint"
    run = ready(load_declaration("digits", overrides=SMALL, layer=["lru"], steps=2))
    with run.on_device():
        checkpoints.save(path, empty(run.training.start, run.declaration, run.layers), run.made_of)
    return run, path


@pytest.fixture(scope="module")
def model(trained):
    run, _ = trained
    louder = eqx.tree_at(lambda one: one.decoder.weight, run.model, 4 * run.model.decoder.weight)
    return eqx.tree_at(lambda one: one.decoder.bias, louder, jnp.zeros(256))


def test_pixels_are_tokens_that_stay_bytes(trained):
    task = trained[0].task
    assert (task.purpose, task.metric, task.tokens, task.shape) == ("language", "bits_per_dimension", 256, (8, 8))
    inputs = task.splits["train"].inputs
    assert inputs.dtype == np.uint8 and inputs.shape[1] == 64 and set(np.unique(inputs)) <= set(range(256))
    images = load("digits").train.inputs
    np.testing.assert_array_equal(inputs, np.rint(255 * images.reshape(len(images), -1)))


def test_the_mean_of_a_padded_row_is_over_its_own_steps(model):
    part = Examples(np.array([[1, 2, 3, 0], [4, 5, 6, 7]], np.int32), np.zeros(2, np.int32), np.array([3, 4]))
    record = Classification("fsdd", part, part, part, ("a",), Source("here", "", None), tokens=256)
    task = task_of(continued(record, ()), context=1)
    counts = np.array([1 / 7] * 7)
    assert task.zero_loss == pytest.approx(-(counts * np.log(counts)).sum()) and task.shape == ()
    rows = jax.tree.map(jnp.asarray, task.splits["train"])
    both = eqx.filter_jit(lambda one, rows: (row_losses(task, one, rows, None)[0], one(rows.inputs[0])[0]))
    losses, y = both(model, rows)
    logits = jax.nn.log_softmax(y)
    assert float(losses[0]) == pytest.approx(-float(logits[jnp.arange(3), jnp.array([1, 2, 3])].mean()), rel=1e-5)


def test_what_is_primed_says_what_the_full_pass_does(model):
    tokens = jax.random.randint(KEY, (2, 9), 0, 256)
    whole = eqx.filter_jit(lambda one, x: jax.vmap(lambda row: one(row)[0])(x))(model, tokens)
    for steps in (0, 5):
        before = eqx.filter_jit(primed)(model, tokens[:, :steps], key=KEY)
        np.testing.assert_allclose(before.logits, whole[:, steps], atol=2e-5)
        assert int(before.step) == steps


def test_a_row_is_its_own_whatever_the_others_and_goes_on_from_a_file(model, tmp_path):
    tokens = jax.random.randint(KEY, (3, 5), 0, 256)
    temperature = jnp.float32(1.0)
    three, last = continuation(model, tokens, 6, temperature, key=KEY)
    again, _ = continuation(model, tokens, 6, temperature, key=KEY)
    np.testing.assert_array_equal(three, again)
    one, _ = continuation(model, tokens.at[1:].set(9), 6, temperature, key=KEY)
    np.testing.assert_array_equal(three[:1], one[:1])
    other, _ = continuation(model, tokens, 6, temperature, key=jax.random.key(8))
    assert (np.asarray(other) != three).any()
    first, middle = continuation(model, tokens, 2, temperature, key=KEY)
    checkpoints.save(tmp_path / "drawing", middle, {"row": "three"})
    back = Drawing(*checkpoints.load(tmp_path / "drawing", middle, {"row": "three"}))
    end, second = eqx.filter_jit(drawn)(model, back, 4)
    np.testing.assert_array_equal(jnp.concatenate([first, second], axis=1), three)
    np.testing.assert_allclose(end.logits, last.logits, rtol=1e-5, atol=2e-6)  # other programs round otherwise
    assert int(end.step) == 11


def test_rows_that_begin_alike_do_not_go_on_alike(model):
    """Fault: one key for all rows of a batch, and the same one at every step."""
    found, _ = continuation(model, jnp.zeros((3, 5), jnp.int32), 6, jnp.float32(1.0), key=KEY)
    assert len({tuple(row) for row in np.asarray(found).tolist()}) == 3
    logits = jnp.zeros(256)
    steps = [int(_chosen(logits, jax.random.fold_in(KEY, place), 1.0, 0)) for place in range(8)]
    assert len(set(steps)) > 4


def test_shares_of_what_is_drawn_follow_temperature_and_the_likeliest():
    logits = jnp.log(jnp.array([0.5, 0.3, 0.15, 0.05]))
    keys = jax.random.split(KEY, 4000)
    for temperature, top, shares in (
        (1.0, 0, [0.5, 0.3, 0.15, 0.05]),
        (0.5, 0, np.array([0.25, 0.09, 0.0225, 0.0025]) / 0.365),
        (1.0, 2, [0.625, 0.375, 0, 0]),
        (1.0, 1, [1, 0, 0, 0]),
    ):
        found = jax.vmap(lambda key, t=temperature, k=top: _chosen(logits, key, t, k))(keys)
        seen = np.bincount(found, minlength=4) / 4000
        error = 4 * np.sqrt(np.array(shares) * (1 - np.array(shares)) / 4000)
        assert (np.abs(seen - shares) <= error + 1e-12).all()


def test_sample_keeps_the_given_part_and_is_reproducible(trained, call, tmp_path):
    _, checkpoint = trained
    code, out, error = call("sample", checkpoint, "--prefix", "20", "--count", "3", "--format", "png",
                            "--out", tmp_path / "one")  # fmt: skip
    assert code == 0, error
    stem = "digits-lru-best.samples"
    assert [line.rpartition("/")[2] for line in out.split()[1::2]] == [f"{stem}.nc", f"{stem}.png"]
    first = datasets.load(tmp_path / "one" / "raw" / f"{stem}.nc")
    given = first["sampled"].values[:, :20]
    np.testing.assert_array_equal(given, first["true"].values[:, :20])
    assert (first["sampled"].values[:, 20:] != first["true"].values[:, 20:]).any() and first.sizes["time"] == 64
    rows = np.asarray(trained[0].task.splits["test"].inputs)[first["row"].values]
    np.testing.assert_array_equal(first["true"].values, rows)
    again = sample(checkpoint, prefix=20, count=3, out=tmp_path / "two").dataset
    assert again.identical(first)


@pytest.mark.parametrize(("option", "value", "sentence"), [
    ("prefix", 64, "--prefix must be an integer from 0 to 63, but got 64"),
    ("count", 0, "--count must be an integer from 1 to"),
    ("top_k", 257, "--top-k must be an integer from 0 to 256, but got 257"),
    ("temperature", 0.0, r"--temperature must be a number in \(0, 1e3\], but got 0.0"),
    ("temperature", float("nan"), "but got nan"),
    ("length", 65, "--length must be an integer from 1 to 64, but got 65"),
    ("seed", -1, "--seed must be an integer from 0 to 4294967295"),
    ("split", "train", "--split must be test or validation"),
])  # fmt: skip
def test_bad_options_get_a_sentence(trained, tmp_path, option, value, sentence):
    with pytest.raises(RunError, match=sentence):
        sample(trained[1], out=tmp_path / "no", **{option: value})
    assert not (tmp_path / "no").exists()


def test_what_cannot_be_asked_is_said():
    with pytest.raises(DataError, match="`ask` must be one of class, next, but got 'nxt'"):
        load("digits", ask="nxt")
    with pytest.raises(DataError, match="give sequence=pixels"):
        load("digits", ask="next", sequence="permuted")
    with pytest.raises(DataError, match="no option 'ask'"):
        load("recall", ask="next")


def test_counts_by_hand_and_on_images(trained):
    # of three followers 1 and 1 after 0 and 0 after 1; without a context (2 + 2/3)/5 for 1 and (1 + 2/3)/5 for 0
    found = blended([np.array([0, 0, 1])], np.array([1, 1, 0]), [np.array([0, 1, 2])], np.array([1, 1, 0]), 3)
    np.testing.assert_allclose(found, [(2 + 8 / 15) / 3, 8 / 15 / 2, 1 / 3])
    scores = [counted(trained[0].task, "test", order=order) for order in (0, 1, 3)]
    assert scores[0].loss > scores[1].loss > scores[2].loss and scores[0].rows == 449
    assert scores[2].metric == pytest.approx(scores[2].loss / np.log(2))


def test_levels_and_what_they_stand_for_are_sound(tmp_path):
    from pathlib import Path

    from stablessm.data.recordings import read_wav, wav_bytes

    sound = np.sin(np.arange(400) / 5) * np.linspace(0, 1, 400)
    back = read_wav(Path("a.wav"), wav_bytes(from_mu_law(mu_law(sound))))
    assert np.abs(back - sound).max() < 0.03


def test_spectra_of_recordings_are_of_what_follows_the_given_part():
    levels = mu_law(np.sin(0.3 * np.arange(2000)))[None]
    given = {"kind": "sound", "shape": [], "tokens": 256, "prefix": 1000, "experiment": "one"}
    noise = np.concatenate([levels[:, :1000], mu_law(np.random.default_rng(0).uniform(-1, 1, (1, 1000)))], axis=1)
    about = {"units": "1", "long_name": "token"}
    rows = {name: (("row", "time"), part, about) for name, part in (("sampled", noise), ("true", levels))}
    samples = xr.Dataset(
        {**rows, "length": ("row", [1900], about)}, {"row": [0], "time": np.arange(2000)}, given
    )  # fmt: skip
    found = _with_spectra(samples)
    assert found["true_spectrum"].values.argmax() == round(0.3 / np.pi * 128)
    assert abs(found["spectral_distance_of_sampled"] - found["spectral_distance_of_noise"]) < 3
    assert found["spectral_distance_of_noise"] > 15
    assert _with_spectra(samples.assign(sampled=samples["true"]))["spectral_distance_of_sampled"] == 0
    assert "true_spectrum" not in _with_spectra(samples.assign_attrs(prefix=1950))
    texts = [text.get_text() for text in drawn_figure(completions.draw, found).findobj(Text)]
    assert any("dB apart" in text for text in texts)
