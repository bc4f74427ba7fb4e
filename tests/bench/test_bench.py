"""Benchmarks: turns are taken, ratios refer to the peer, rows survive the disk, peers and engine compute the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stablessm.bench
import stablessm.engine
from stablessm import datasets
from stablessm.bench import BENCHMARKS, lm, peers, train
from stablessm.bench.base import Benchmark, Candidate, Case, Timing, paired
from stablessm.bench.dataset import dataset, rows_in, rows_of
from stablessm.bench.siso import ours, problem
from stablessm.bench.torch_s4d import training_step
from stablessm.sweeps import places


def test_candidates_take_turns_in_reversed_order():
    seen = []
    candidates = [Candidate(name, lambda name=name: seen.append(name), 1) for name in "abc"]
    timings = paired(candidates, 3)
    assert "".join(seen) == "abccbaabc" and set(timings) == set("abc")


def rows(benchmark="siso", length=16):
    case = Case("forward", 2, length, [Candidate("peer", print, 1), Candidate("engine", print, 4, "a part", 80, 1e-7)])
    timings = {"peer": Timing(4.0, 2.0), "engine": Timing(1.0, 0.5)}
    return rows_of(benchmark, case, timings, platform="cpu", rounds=3)


def test_rows_refer_to_the_first_candidate_and_come_back_from_disk(tmp_path):
    peer, engine = rows()
    assert (peer.cpu_ratio, engine.cpu_ratio, engine.wall_ratio, engine.temporary_bytes) == (1, 4, 4, 20)
    assert (peer.temporary_bytes, peer.error) == (-1, -1)  # nothing there, and not NaN
    data = dataset([*rows(), *rows("dplr")])
    datasets.save(data, tmp_path / "bench.nc")
    back = datasets.load(tmp_path / "bench.nc")
    assert back.identical(data) and rows_in(back) == [*rows("dplr"), *rows()]
    again = rows_in(dataset(rows("dplr", length=32), kept=back))
    assert [(row.benchmark, row.length) for row in again] == [("dplr", 32)] * 2 + [("siso", 16)] * 2


def test_what_is_not_run_has_a_row_and_no_time():
    case = Case("memory", 2, 16, [Candidate("peer", None, 1, "not installed"), Candidate("engine", lambda: None, 1)])
    timings = paired(case.candidates, 3)
    assert list(timings) == ["engine"]
    absent, engine = rows_of("siso", case, timings, platform="cpu", rounds=3)
    assert (absent.declared, absent.cpu, absent.wall, absent.cpu_ratio) == ("not installed", -1, -1, -1)
    assert engine.cpu >= 0 and engine.cpu_ratio == -1  # there is nothing to refer to


def test_command_stores_a_dataset_and_draws_it(call, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # the test runner sets it for its workers
    code, out, err = call("draw", "bench", "--out", tmp_path)
    assert code == 2 and "stablessm bench" in err
    monkeypatch.setattr(stablessm.bench, "BENCHMARKS", {"toy": Benchmark("toy", "", "tests.bench.toy:cases")})
    code, out, err = call("bench", "toy", "--quick", "--out", tmp_path)
    assert code == 0 and "engine" in out and "a part" in out
    assert [row.candidate for row in rows_in(datasets.load(tmp_path / "raw" / "bench.nc"))] == ["peer", "engine"] * 2
    if not any(one.platform == "gpu" for one in jax.devices()):
        monkeypatch.setattr(stablessm.engine, "error_estimate", lambda operation, **sizes: 1e-7)
        code, out, err = call("bench", "toy", "--device", "gpu", "--quick", "--out", tmp_path)
        assert code == 0 and "finds no gpu" in err and "on cpu, against float64" in out
    assert call("draw", "bench", "--out", tmp_path, "--format", "svg")[0] == 0
    assert (tmp_path / "figures" / "bench.svg").stat().st_size > 1000


def test_a_checkout_keeps_its_rows_until_it_is_told(call, tmp_path, monkeypatch):
    monkeypatch.setattr(stablessm.bench, "BENCHMARKS", {"toy": Benchmark("toy", "", "tests.bench.toy:cases")})
    (tmp_path / "pyproject.toml").touch()
    kept = tmp_path / "experiments" / "results" / "bench.nc"
    kept.parent.mkdir(parents=True)
    monkeypatch.setattr(places, "PACKAGE", tmp_path / "stablessm")
    monkeypatch.chdir(tmp_path)
    assert call("bench", "toy", "--quick")[0] == 0
    assert (tmp_path / "results" / "raw" / "bench.nc").is_file() and not kept.exists()
    for more in (["--out", "mine"], []):
        monkeypatch.chdir(tmp_path if more else tmp_path.parent)
        code, _, err = call("bench", "toy", "--quick", "--keep", *more)
        assert code == 2 and "--keep" in err and not kept.exists()
    monkeypatch.chdir(tmp_path)
    assert call("bench", "toy", "--quick", "--keep")[0] == 0 and kept.is_file()


def test_kernels_of_the_grid_are_those_of_the_layer():
    layer = train.s4d(jax.random.key(0), channels=2, states=6)
    exact = train._exact_kernels(layer, 9)
    grid = train.grid_kernels(layer, 9).at[:, 0].add(layer.feedthrough)
    for made in (grid, layer.channel_kernels(9)):
        np.testing.assert_allclose(made, exact, atol=2e-6 * np.abs(exact).max())


@pytest.mark.slow
def test_training_steps_by_grid_and_in_pytorch_are_ours():
    """Two steps of Adam: the second loss holds the gradients in all weights against each other."""
    model = train.network(jax.random.key(0), width=3, states=4, depth=1)
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(2, 9, 1)).astype(np.float32), np.array([1, 4], np.int32)

    def losses(model):
        step, parameters, state = train.step_of(model)
        step, found = jax.jit(step), []
        for _ in range(2):
            loss, parameters, state = step(parameters, state, x, labels)
            found.append(float(loss))
        return found

    ours = losses(model)
    assert ours[1] < ours[0]
    assert losses(train.with_layers(model, train.ByGrid)) == pytest.approx(ours, abs=1e-5)
    torch = training_step(model, x, labels)
    assert torch is None or [torch(), torch()] == pytest.approx(ours, abs=1e-5)


def test_every_benchmark_has_its_program():
    from importlib import import_module

    for one in BENCHMARKS.values():
        module, function = one.program.split(":")
        assert callable(getattr(import_module(module), function)) and one.summary


def test_peers_and_engine_compute_the_same():
    arrays = problem(2, 3, 40, 2)
    exact = peers.reference_bank(*arrays)
    banks = [peers.associative_bank, peers.grid_bank, ours("convolution"), ours("chunked")]
    for bank in banks:
        assert np.abs(jax.jit(bank)(*arrays) - exact).max() < 1e-5 * np.abs(exact).max()
    loop = peers.compiled_loop()
    if loop is not None:
        step = np.exp(arrays[0] + 1j * arrays[1])
        made = loop(*(np.ascontiguousarray(one, np.float32) for one in (step.real, step.imag, *arrays[2:])))
        assert np.abs(made - exact).max() < 1e-4 * np.abs(exact).max()


def test_published_dplr_kernel_is_the_engine_s_at_an_odd_length():
    from stablessm import engine
    from stablessm.bench.dplr import hippo

    poles, left, drive, readout, step = (jnp.asarray(one[:2]) for one in hippo(2))
    both = [jnp.concatenate([one, one.conj()], axis=-1) for one in (poles, left, drive, readout)]
    system = engine.LowRankSystem(poles, left, left, drive, readout, step)
    made = engine.dplr_kernel(system, 33, pairs=True, truncated=True, method="cauchy")
    published = peers.published_dplr(*both, step, 33)
    np.testing.assert_allclose(made, published, atol=1e-3 * float(jnp.abs(published).max()))


@pytest.mark.parametrize("method", ["convolution", "chunked"])
def test_memory_of_a_bank_is_far_below_that_of_its_states(method):
    shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in problem(64, 64, 16384, 8)]
    compiled = jax.jit(ours(method)).lower(*shapes).compile()  # never run
    states = 8 * 64 * 64 * 16384 * 8  # the associative scan holds this twice
    assert compiled.memory_analysis().temp_size_in_bytes < states / 30


def test_language_models_are_compared_at_equal_parameters():
    width, depth, key = 8, 1, jax.random.key(0)
    states = lm.equal_states(width=width, depth=depth)
    sizes = [lm.parameters_of(lm.dlr_model(count, width=width, depth=depth, key=key)) for count in (states, states + 1)]
    target = lm.parameters_of(lm.transformer(5, width=width, depth=depth, key=key))
    assert sizes[1] - sizes[0] == 2 * width + 2  # w of each channel, modulus and phase
    assert abs(sizes[0] - target) <= (sizes[1] - sizes[0]) / 2
    # attention 4 d^2, feed-forward 8 d^2 + 5 d, two norms of a block and one at the end, embedding and decoder
    assert target == 12 * width**2 + 5 * width + 3 * 2 * width + 96 * width + 96 * (width + 1)
