"""The spring and the memory of HiPPO through sweeps, and the spring in motion."""

import io

import numpy as np
import pytest

import stablessm
from stablessm import s4
from stablessm.plotting.animation import encoders, save_moving
from stablessm.s4.spring import spring


@pytest.fixture(scope="module")
def sprung(tmp_path_factory):
    settings = {"steps": 24, "step_size": 0.02}
    document = {"name": "spring", "measurement": "spring", "axes": {"seed": [0]}, "settings": settings}
    return stablessm.run_sweep(document, out=tmp_path_factory.mktemp("spring"))


def test_the_spring_step_by_step_by_convolution_and_in_double_precision(sprung):
    one = sprung.squeeze()
    exact, states = s4.recurrence(s4.bilinear(spring(), 0.02), one["force"].values.astype(float))
    size = np.abs(exact).max()
    np.testing.assert_allclose(one["position"], exact, atol=1e-6 * size)
    np.testing.assert_allclose(one["convolved_position"], exact, atol=1e-6 * size)
    np.testing.assert_allclose(one["speed"], states[:, 1], atol=1e-6 * np.abs(states).max())


def test_the_spring_moves_the_same_every_time(sprung, tmp_path):
    from PIL import Image

    from stablessm.cli.pipeline import module

    animate = module("figures", "spring").animate
    (path,) = save_moving(animate, [sprung], tmp_path, "spring", ["png", "gif"])
    content = path.read_bytes()
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "GIF" and picture.n_frames == 12 and picture.info["duration"] == 40
        first = np.asarray(picture.convert("RGB"), int)
        picture.seek(11)
        assert np.abs(np.asarray(picture.convert("RGB"), int) - first).max() > 100
    (again,) = save_moving(animate, [sprung], tmp_path / "again", "spring", ["gif"])
    assert again.read_bytes() == content
    assert save_moving(animate, [sprung], tmp_path, "spring", ["pdf"]) == [] and encoders()[0] == "gif"
    if "mp4" in encoders():
        (path,) = save_moving(animate, [sprung], tmp_path, "spring", ["mp4"])
        assert path.read_bytes()[4:8] == b"ftyp"  # the box that an MP4 begins with


def test_the_scaled_system_remembers_all_and_the_fixed_one_what_is_late(tmp_path):
    document = {
        "name": "hippo", "measurement": "hippo", "axes": {"seed": [0], "precision": ["float64"]},
        "settings": {"states": 48, "window": 25, "moments": [60, 309]},
    }  # fmt: skip
    found = stablessm.run_sweep(document, out=tmp_path).squeeze()
    early = found["reconstruction"].sel(system="scaled", moment=60).values
    assert np.isnan(early[60:]).all() and found["error"].sel(system="scaled", moment=60) < 0.15
    late = found.sel(moment=309)
    assert late["recent_error"].sel(system="fixed") < 0.5 * late["recent_error"].sel(system="scaled")
    assert late["error"].sel(system="fixed") > max(0.5, float(late["error"].sel(system="scaled")))
    parts = found["component"].sel(system="fixed").sum("state").values
    np.testing.assert_allclose(parts, late["reconstruction"].sel(system="fixed"), atol=1e-9)


@pytest.mark.slow
def test_an_s4_layer_explodes_under_direct_and_its_error_at_no_size_is_that_of_the_fit(tmp_path):
    document = {
        "name": "one", "measurement": "layer_perturbation", "axes": {"parameterization": ["direct"]},
        "settings": {"width": [4], "steps": 3, "repeat": 4, "beta": [0, 6], "error_horizon": [50, 400]},
    }  # fmt: skip
    found = stablessm.run_sweep(document, out=tmp_path).squeeze()
    errors = found["largest_perturbation_error"]
    for perturbed in ("recurrent", "all"):
        one = errors.sel(perturbed=perturbed)
        np.testing.assert_allclose(one.sel(beta=0), found["fit_error"], rtol=1e-6)
        assert float(one.sel(beta=6, error_horizon=400)) > 1e6
    assert 0 < found["final_loss"] < 3 * found["zero_loss"] and found["trained_margin"] > 0.3


def test_a_kind_remembers_what_its_kernel_says(tmp_path):
    document = {
        "name": "one", "measurement": "layer_memory", "axes": {"parameterization": ["best"]},
        "settings": {"layers": ["feed_forward", "s4d"], "width": 2, "states": 4, "length": 40, "signs": 2},
    }  # fmt: skip
    found = stablessm.run_sweep(document, out=tmp_path)["memory_function"].squeeze()
    assert (found.sel(kind="feed_forward")[1:] < 1e-6).all() and found.sel(kind="feed_forward")[0] > 0
    assert (found.sel(kind="s4d") > 0).all()
