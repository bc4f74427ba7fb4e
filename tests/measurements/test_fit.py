"""The measurement `fit`: what it stores of a fit is what the run did."""

import jax
import numpy as np
import pytest

import stablessm
from stablessm.measurements import MEASUREMENTS
from stablessm.measurements.kernel_fit import kernel_fit
from stablessm.sweeps import SpecError, load_spec
from stablessm.targets import TARGETS

DECLARATION = {
    "name": "fit",
    "measurement": "fit",
    "axes": {
        "parameterization": ["direct", "exp"],
        "target": ["autocorrelation"],
        "width": [6],
        "learning_rate": [0.03, 100.0],
        "seed": [0, 1],
    },
    "settings": {"steps": 80, "horizon": 24, "records": 8, "step_size": 0.5, "complex": True},
}


def test_what_is_stored_is_what_the_run_did(tmp_path):
    fitted = stablessm.run_sweep(DECLARATION, out=tmp_path).squeeze()
    good = fitted.sel(learning_rate=0.03)
    kernel, target, rho = good["fitted_kernel"], good["target_kernel"], TARGETS["autocorrelation"].kernel(24)
    assert np.abs(target - rho.astype(np.float32)).max() == 0
    assert fitted["time"].values.tolist() == (np.arange(24) * 0.5).tolist()
    error = ((kernel - rho) ** 2).sum("time") ** 0.5 / np.linalg.norm(rho)
    np.testing.assert_allclose(good["fit_error"], error, rtol=1e-5)
    loss = ((kernel - rho) ** 2 * (1 - np.arange(24) / 24)).sum("time")
    np.testing.assert_allclose(good["final_loss"], loss, rtol=1e-4)
    assert (good["final_loss"] < 0.2 * good["initial_loss"]).all()

    start = fitted["initial_eigenvalue"]
    assert np.iscomplexobj(start) and (start.imag > 0).all()
    np.testing.assert_allclose(start.sel(parameterization="exp"), start.sel(parameterization="direct"), rtol=1e-5)
    assert (np.abs(good["final_eigenvalue"] - start).max("state") > 1e-3).all()

    # `direct` breaks at the highest rate: infinite, and nowhere NaN.
    words = fitted["outcome"].attrs["flag_meanings"].split()
    broken = fitted.sel(parameterization="direct", learning_rate=100.0)
    assert {words[code] for code in broken["outcome"].values} <= {"diverged", "nonfinite"}
    for name in ("fit_error", "fitted_kernel", "gradient", "gradient_to_weight_ratio", "loss"):
        assert not np.isnan(fitted[name]).any(), name


def test_a_mode_turns_by_the_same_angle_a_sample_in_both_times():
    settings = MEASUREMENTS["fit"].settings(**DECLARATION["settings"])
    turned = []
    for link in ("continuous", "exponential"):
        one = stablessm.PARAMETERIZATIONS["direct"].replace(link=link)
        problem = kernel_fit({"parameterization": one, "target": "sine", "width": 5}, settings)
        starts = jax.jit(jax.vmap(problem.start_of))(np.arange(2, dtype=np.uint32))
        eigenvalues = np.asarray(problem.prepare(starts, 1, {})[0].eigenvalues())
        turned.append(eigenvalues.imag * 0.5 if link == "continuous" else np.angle(eigenvalues))
    np.testing.assert_allclose(turned[1], turned[0], rtol=1e-5)


def test_the_bundled_experiment_takes_a_series_of_the_users_own(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("year,height\n" + "".join(f"{k},{(k * k) % 17}\n" for k in range(90)))
    spec = load_spec("autocorrelation", overrides=[f"target=autocorrelation(file={path}, column=height)"])
    assert spec.coordinates()["target"] == ["autocorrelation of series.csv:height"]
    with pytest.raises(SpecError, match=r"the horizon is 100, but .* holds only 90"):
        load_spec("autocorrelation", overrides=[f"target=autocorrelation(file={path}, column=height)", "horizon=100"])
