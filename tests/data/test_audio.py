"""Recordings: the official split, two forms, and files of another rate, width or name."""

import io
import wave
import zipfile

import jax
import numpy as np
import pytest

from stablessm.data import DataError, load
from stablessm.data.mu_law import from_mu_law, mu_law
from stablessm.data.played import played
from stablessm.data.recordings import read_wav, trimmed
from stablessm.data.records import Examples
from stablessm.data.spectrum import average_spectrum, spectral_distance


def wav(samples, rate=8000, channels=1, width=2):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, "<i2" if width == 2 else np.uint8).tobytes())
    return buffer.getvalue()


def recordings(indices=range(8)):
    return {
        f"{digit}_ada_{index}.wav": wav([digit, -digit, 0] + [100] * index) for digit in range(10) for index in indices
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("data")
    (where / "fsdd" / "recordings").mkdir(parents=True)
    for name, content in recordings().items():
        (where / "fsdd" / "recordings" / name).write_bytes(content)
    return where


def test_the_first_five_recordings_are_the_test_rows(folder):
    data = load("fsdd", folder, validation=0.3)
    rows = [len(getattr(data, split).inputs) for split in ("train", "validation", "test")]
    assert rows == [21, 9, 50] and data.test.lengths.max() == 7 and data.train.lengths.min() == 8
    for split in (data.train, data.validation, data.test):
        assert split.inputs.shape[1:] == (10, 1) and split.inputs.dtype == np.float32
        assert (split.inputs[:, 0, 0] * 2**15 == split.targets).all() and (split.inputs[:, 1, 0] <= 0).all()
        behind = np.arange(10) >= split.lengths[:, None]
        assert (split.inputs[..., 0][behind] == 0).all()


def test_levels_cuts_and_an_archive(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "fsdd.zip", "w") as archive:
        for name, content in recordings().items():
            archive.writestr(f"free-spoken-digit-dataset/recordings/{name}", content)
    packed, loose = (load("fsdd", where, form="mu_law", longest=4) for where in (tmp_path, folder))
    assert packed.tokens == 256 and packed.train.inputs.shape[1] == 4 and packed.source.sha256 == loose.source.sha256
    assert (packed.test.inputs == loose.test.inputs).all() and packed.test.inputs.max() < 256
    values = load("fsdd", folder, longest=4)
    np.testing.assert_allclose(from_mu_law(packed.test.inputs), values.test.inputs[..., 0], atol=2e-4)
    (tmp_path / "fsdd.zip").write_bytes((tmp_path / "fsdd.zip").read_bytes()[:-30])
    with pytest.raises(DataError, match="should be a zip archive"):
        load("fsdd", tmp_path)


def test_every_level_is_that_of_its_value_and_errors_are_relative():
    levels = np.arange(256)
    assert (mu_law(from_mu_law(levels)) == levels).all()
    values = np.concatenate([-np.geomspace(1, 1e-4, 200), np.geomspace(1e-4, 1, 200)])
    error = np.abs(from_mu_law(mu_law(values)) - values)
    half_a_level = np.log(256) / 255  # of the squeezed value, whose slope is at most that of 1/(1/mu + |x|)
    assert (error <= 1.1 * half_a_level * (1 / 255 + np.abs(values))).all()
    assert mu_law(np.array([-7.0, 7.0])).tolist() == [0, 255]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (wav([1], rate=16000), "8000 Hz, but is 1 of 16 bits at 16000 Hz"),
        (wav([1, 2], channels=2), "but is 2 of 16 bits"),
        (wav([1], width=1), "but is 1 of 8 bits"),
        (wav([]), "empty or damaged"),
        (wav(range(50))[:-20], "should hold 50 samples, but holds 40"),
        (wav(range(50))[:30], "not a wav file"),
        (b"OggS" + bytes(40), "not a wav file"),
        (b"", "not a wav file"),
    ],
)
def test_other_recordings_are_sentences(tmp_path, content, sentence):
    with pytest.raises(DataError, match=sentence):
        read_wav(tmp_path / "one.wav", content)


def test_names_without_a_digit_digits_without_rows_and_options(tmp_path):
    where = tmp_path / "recordings"
    where.mkdir()
    (where / "zero_ada_0.wav").write_bytes(wav([1]))
    with pytest.raises(DataError, match="named DIGIT_SPEAKER_INDEX"):
        load("fsdd", tmp_path)
    (where / "zero_ada_0.wav").unlink()
    (where / "0_ada_7.wav").write_bytes(wav([1]))
    with pytest.raises(DataError, match="hold no '1' and no '2'"):
        load("fsdd", tmp_path)
    for options, sentence in (
        ({"form": "a_law"}, "`form` must be one of"),
        ({"longest": 0}, "`longest` must lie from 1"),
        ({"trim": 1.0}, "`trim` must be a share"),
        ({"trim": "loud"}, "`trim` must be a number"),
        ({"scaled": 1}, "`scaled` must be true or false"),
        ({"shift": 8000}, "`shift` must be a number of samples below 8000"),
        ({"speed": -0.1}, "`speed` must lie in"),
        ({"speed": 0.1, "form": "mu_law"}, "and not the levels"),
    ):
        with pytest.raises(DataError, match=sentence):
            load("fsdd", tmp_path, **options)


def test_silence_at_both_ends_is_cut_and_inside_it_stays(folder, tmp_path):
    tone = np.sin(0.3 * np.arange(1, 200))
    tone[80:120] = 0
    noise = 0.01 * np.cos(np.arange(500))
    sound = np.concatenate([noise, tone, noise])
    loud = np.flatnonzero(np.abs(tone) > 0.05 * np.abs(tone).max())
    np.testing.assert_array_equal(trimmed(sound, 0.05), tone[loud[0] : loud[-1] + 1])
    np.testing.assert_array_equal(trimmed(3 * sound, 0.05), 3 * trimmed(sound, 0.05))  # a share, and no level itself
    assert trimmed(sound, 0.0) is sound and trimmed(np.zeros(3), 0.5).tolist() == [0, 0, 0]
    data = load("fsdd", folder, trim=0.5, scaled=True)  # [digit, -digit, 0, 100, ...]: what is far below 100 goes
    assert (data.test.lengths[data.test.lengths > 2] < 6).all() and data.test.inputs.max() == 1


def test_recordings_are_played_later_and_at_other_speeds_each_in_its_own_way(folder):
    time, count = 400, 6
    lengths = np.full(count, 300, np.int32)
    wave = np.where(np.arange(time) < 300, np.sin(0.05 * np.arange(time)), 0).astype(np.float32)
    rows = Examples(np.tile(wave[:, None], (count, 1, 1)), np.zeros(count), lengths)
    later = played(rows, jax.random.key(0), latest=150, speed=0.0)
    starts = np.asarray(later.lengths) - 300
    assert len(set(starts.tolist())) > 2 and starts.min() >= 0
    for start, sound in zip(starts, np.asarray(later.inputs)[..., 0], strict=True):
        if start < 100:
            np.testing.assert_array_equal(sound, np.roll(wave, start))
    faster = played(rows, jax.random.key(1), latest=0, speed=0.2)
    speeds = 300 / np.asarray(faster.lengths)
    assert speeds.min() < 0.97 and speeds.max() > 1.03 and (speeds > 1 / 1.21).all() and (speeds < 1.21).all()
    for speed, sound in zip(speeds, np.asarray(faster.inputs)[..., 0], strict=True):
        crossings = np.flatnonzero(np.diff(np.sign(sound[1:250])))
        np.testing.assert_allclose(np.diff(crossings).mean(), np.pi / 0.05 / speed, rtol=0.03)
    data = load("fsdd", folder, shift=3)
    assert data.change is not None and load("fsdd", folder).change is None
    with pytest.raises(DataError, match="rows as they are"):
        load("digits", sequence="pixels", shift=1, ask="next")


def test_an_average_spectrum_is_that_of_the_process_and_its_distance_knows_no_loudness():
    """First-order recursion on white noise of variance 1: 2 / rate / |1 - a e^(-i w)|^2 per Hz, of both signs."""
    rng, rate, a = np.random.default_rng(0), 8000, 0.9
    noise = rng.normal(size=200_000)
    coloured = np.empty_like(noise)
    last = 0.0
    for place, value in enumerate(noise):
        last = a * last + value
        coloured[place] = last
    frequency, power = average_spectrum(np.split(coloured, 8), rate)
    inside = slice(3, -1)  # the window blurs the peak at 0
    exact = 2 / rate / np.abs(1 - a * np.exp(-2j * np.pi * frequency / rate)) ** 2
    np.testing.assert_allclose(power[inside], exact[inside], rtol=0.15)
    assert np.sum(power) * (frequency[1] - frequency[0]) == pytest.approx(np.var(coloured), rel=0.05)
    assert spectral_distance(frequency, 100 * power, power) == pytest.approx(0, abs=1e-9)
    _, white = average_spectrum([noise], rate)
    far = spectral_distance(frequency, exact, np.ones_like(exact))
    assert spectral_distance(frequency, power, white) == pytest.approx(far, rel=0.05) and far > 5
    tone = np.sin(2 * np.pi * 1000 * np.arange(4000) / rate)
    frequency, power = average_spectrum([tone], rate)
    assert frequency[power.argmax()] == 1000
    with pytest.raises(ValueError, match="at least one sample"):
        average_spectrum([np.zeros(0)], rate)
