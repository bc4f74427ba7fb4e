"""What the theorems say, measured through sweeps, against closed forms."""

import math

import numpy as np
import pytest

import stablessm
from stablessm.theory.descent import POTENTIALS, scale_of

MAPS = ["direct", "exp", "softplus", "best", {"name": "best", "constants": {"b": 0.1}}]


def go(folder, measurement, axes, **settings):
    document = {"name": "one", "measurement": measurement, "axes": axes, "settings": settings}
    return stablessm.run_sweep(document, out=folder).squeeze()


def test_the_largest_stable_step_is_found_and_is_the_largest(tmp_path):
    found = go(tmp_path, "largest_step", {"parameterization": MAPS, "precision": ["float64"]}, decays=4,
               slowest_decay=1e-3, fastest_decay=0.9)  # fmt: skip
    np.testing.assert_allclose(found["shown_step"], [5e-4, 0.2, 0.210210, 1.025641, 1.005025], rtol=0, atol=5e-7)
    alpha = found["decay"].values
    forms = [
        4 * alpha**3,
        4 * alpha,
        4 * alpha**3 / np.expm1(-alpha) ** 2,
        1 / (1 - 0.5 * alpha),
        1 / (1 - 0.1 * alpha),
    ]
    np.testing.assert_allclose(found["largest_stable_step"], forms, rtol=1e-9)
    np.testing.assert_allclose(found["growth"].sel(step_ratio=0.98), 0.96, rtol=1e-3)
    np.testing.assert_allclose(found["growth"].sel(step_ratio=1.02), 1.04, rtol=1e-3)
    end = found["distance"].isel(step=-1)
    assert (end.sel(step_ratio=0.98) < 0.02).all() and (end.sel(step_ratio=1.02) > 50).all()


def test_the_largest_stable_step_in_discrete_time(tmp_path):
    axes = {"parameterization": ["exp", "best"], "link": ["one-minus"], "precision": ["float64"]}
    found = go(tmp_path, "largest_step", axes, decays=3, slowest_decay=0.01, fastest_decay=0.5)
    s = -np.expm1(-found["decay"].values)
    q = 1 - s
    slopes = np.array([s, 2 * s**2 * np.sqrt(1 / s - 0.5)])
    np.testing.assert_allclose(found["largest_stable_step"], (1 - q**2) ** 3 / ((1 + q**2) * slopes**2), rtol=1e-8)
    assert (found["growth"].sel(step_ratio=0.98) < 1).all() and (found["growth"].sel(step_ratio=1.02) > 1).all()


def test_a_start_that_float32_does_not_tell_from_the_optimum_is_refused(tmp_path):
    with pytest.raises(ValueError, match="lost in the rounding"):
        go(tmp_path, "largest_step", {"parameterization": ["exp"]})


def test_gradient_descent_does_what_is_proved(tmp_path):
    """Within 0.1% of the distance that decides for x^4, whatever eta; at eta = 1 for x^2; never at 0 for sqrt|x|.

    The orbits of sqrt|x| are chaotic, so that where each of them is depends on the last bit of every step. What is
    proved of each step does not: closer than the two-cycle it moves away, further out it comes closer.
    """
    found = go(tmp_path, "descent", {"learning_rate": [0.01, 0.999, 1.001]}, starts=[0.3, 0.999, 1.001, 3.0], steps=400)
    words = found["behaviour"].attrs["flag_meanings"].split()
    said = np.array(words)[found["behaviour"].values]
    quartic, quadratic, root = (said[:, list(POTENTIALS).index(name)] for name in ("quartic", "quadratic", "root"))
    assert (quartic[:, :2] == "settles").all() and (quartic[:, 2:] == "diverges").all()
    assert (quadratic[:2] == "settles").all() and (quadratic[2] == "diverges").all()
    distance = found["distance"].sel(potential="root").values  # over that of the two-cycle
    before, after = distance[..., :-1], distance[..., 1:]
    inside = before < 1 - 1e-5  # at 1 itself rounding decides
    assert (after[inside] > 1).all() and (after[before > 1 + 1e-5] < before[before > 1 + 1e-5]).all()
    assert inside.any(-1).all() and (before > 1).any(-1).all()  # no orbit stays on one side
    assert (root == "wanders").all()  # also what was thrown far out and is still on its way back
    assert np.isinf(found["distance"].sel(potential="quartic", start=3.0)[:, -1]).all()
    assert not np.isnan(found["distance"]).any()
    exact = [[scale_of(one, eta) for one in POTENTIALS.values()] for eta in (0.01, 0.999, 1.001)]
    np.testing.assert_allclose(found["deciding_distance"], exact, rtol=1e-5)


def test_costs_of_moved_modes_agree_with_their_sums(tmp_path):
    found = go(tmp_path, "mode_perturbation", {"parameterization": ["direct", "exp", "best"]}, decays=7, samples=4000)
    for name in ("recurrent_distance", "free_phase_distance", "scaled_phase_distance", "readout_cost"):
        finite = np.isfinite(found[name].values)
        np.testing.assert_array_equal(finite, np.isfinite(found[f"{name}_summed"].values))
        np.testing.assert_allclose(found[f"{name}_summed"].values[finite], found[name].values[finite], rtol=2e-4)
    direct = found["recurrent_distance"].sel(parameterization="direct")
    assert np.isinf(direct[found["decay"] < 0.1]).all() and np.isfinite(direct[found["decay"] > 0.1]).all()
    np.testing.assert_allclose(found["recurrent_distance"].sel(parameterization="exp"), np.expm1(0.1), rtol=1e-4)
    np.testing.assert_allclose(found["free_phase_distance"].isel(decay=0), 4 / np.pi, rtol=3e-3)
    mass = found["absolute_mass"].isel(parameterization=0)
    assert (mass.diff("width") > 0).all() and (mass < found["absolute_mass_limit"].isel(parameterization=0)).all()
    assert float(mass.sel(power=2.0)[-1]) == pytest.approx(1, rel=0.03)
    growth = mass.sel(power=0.9).diff("width").values
    assert (np.diff(growth) > 0).all()  # each doubling adds more: no bound


def test_gradients_attain_the_bound_on_one_mode_and_stay_below_it_in_stacks(tmp_path):
    axes = {"parameterization": ["direct", "best"], "width": [4], "seed": [0, 1]}
    found = go(tmp_path, "gradient_bound", axes, depth=2, horizon=30, mode_horizon=1024, decays=5, slowest_decay=0.05)
    np.testing.assert_allclose(found["mode_gradient"], found["mode_bound"], rtol=1e-4)
    assert (found["gradient"] <= found["gradient_bound"]).all() and (found["gradient"] > 0).any()
    direct, best = (found.sel(parameterization=name) for name in ("direct", "best"))
    np.testing.assert_allclose(best["gradient_constant"], direct["gradient_constant"], rtol=1e-4)
    np.testing.assert_allclose(best["input_gradient"], direct["input_gradient"], rtol=1e-3)
    s = -best["initial_eigenvalue"]
    slope = 2 * s**2 * np.sqrt(1 / s - 0.5)
    size = float(
        best["gradient"].max()
    )  # float32: what cancels in a gradient is known to its largest entries' rounding
    np.testing.assert_allclose(best["gradient"], slope * direct["gradient"], rtol=1e-3, atol=1e-6 * size)


def test_memory_stays_below_its_bounds(tmp_path):
    found = go(tmp_path, "memory_bound", {"activation": ["tanh"], "width": [3]}, depth=2, memory_horizon=40)
    memory, majorant, bound = (found[name] for name in ("memory_function", "memory_majorant", "memory_bound"))
    assert (memory <= majorant * (1 + 1e-4)).all() and (majorant <= bound * (1 + 1e-4)).all()
    rate = -np.log(bound.isel(layer=0)[1:].values / bound.isel(layer=0)[:-1].values) / 0.5
    np.testing.assert_allclose(rate, found["slowest_decay"].isel(layer=0), rtol=1e-3)
    assert (found["slowest_decay"].diff("layer") <= 0).all() and (found["largest_weight"] > 0).all()


def test_poles_and_residues_at_the_worst_point_of_the_ball(tmp_path):
    """Every residue being positive: direct grows by e^{beta t}, exp is the kernel at e^{-beta} t or e^{beta} t."""
    axes = {"parameterization": ["direct", "exp"], "precision": ["float64"]}
    found = go(tmp_path, "poles_and_residues", axes, width=20, beta=0.05, times=9, longest_time=300, repeats=50)
    time, beta = found["time"].values, 0.05
    decays = np.geomspace(1e-3, 1.9, 20)
    residues = np.log(1900) / 19 * decays**1.1 * np.exp(-decays) / math.gamma(1.1)

    def response(times):
        return np.exp(-np.outer(times, decays)) @ residues

    np.testing.assert_allclose(response(time[1:]), (1 + time[1:]) ** -1.1, rtol=0.25)  # it is the kernel that is meant
    poles = found["change_by_poles"]
    np.testing.assert_allclose(poles.sel(parameterization="direct"), np.expm1(beta * time), rtol=1e-9)
    dilated = [abs(response(np.exp(sign * beta) * time) / response(time) - 1) for sign in (-1, 1)]
    assert (dilated[1] > dilated[0])[1] and (dilated[0] > dilated[1])[-1]
    np.testing.assert_allclose(poles.sel(parameterization="exp"), np.maximum(*dilated), rtol=1e-9, atol=1e-14)
    sampled = found["sampled_change_by_poles"]
    assert (sampled <= poles * (1 + 1e-12)).all() and (sampled[:, 1:] > 0.1 * poles[:, 1:]).all()
    free = beta * np.exp(-np.outer(time, decays)).sum(1) / response(time)
    np.testing.assert_allclose(found["change_by_residues"].isel(parameterization=0), free, rtol=1e-9)
    np.testing.assert_allclose(found["change_by_mapped_residues"], np.expm1(beta), rtol=1e-12)


def test_distances_of_trained_nonlinear_models_keep_the_triangle_inequality(tmp_path):
    axes = {"parameterization": ["direct", "exp"], "width": [3], "target": ["exponential"]}
    sizes = {"steps": 40, "batch": 4, "horizon": 16, "probes": 6, "probe_horizon": 20, "climbs": 0}
    found = go(tmp_path, "nonlinear_perturbation", axes, **sizes, repeat=[0, 1], beta=[0.0, 0.01, 0.1, 3.0])
    own, moved, total = (found[name] for name in ("approximation_distance", "perturbation_distance", "total_distance"))
    assert (total <= (own + moved) * (1 + 1e-5)).all() and (own <= (total + moved) * (1 + 1e-5)).all()
    assert (moved.sel(beta=0.0) == 0).all() and (moved.sel(beta=slice(0.01, None)) > 0).all()
    assert (abs(total.sel(beta=0.0) / own - 1) < 1e-6).all()
    assert (found["final_loss"] < 0.9 * found["initial_loss"]).all()
    np.testing.assert_allclose(*found["initial_eigenvalue"].values, rtol=1e-6)
    np.testing.assert_allclose(*found["initial_memory_function"].values, atol=1e-5)
    most = total.max("repeat")
    for place in range(4):
        so_far = most.isel(beta=slice(place + 1)).max("beta")
        assert (found["largest_total_distance"].isel(beta=place) == so_far).all()
    at = {"perturbed": "recurrent", "beta": 3.0}
    margins = found["perturbed_margin"].sel(at)
    assert (margins.sel(parameterization="direct") < 0).any() and (margins.sel(parameterization="exp") > 0).all()


def test_a_pointwise_network_is_the_stack(tmp_path):
    axes = {"activation": ["gelu"], "width": [8], "precision": ["float64"]}
    found = go(tmp_path, "pointwise_network", axes, features=3, points=20)
    assert float(found["difference"].max()) < 1e-12 < float(np.ptp(found["network_output"].values))
