"""What cannot be held in memory is refused from its shapes, before a store is made."""

import types

import jax
import jax.numpy as jnp
import pytest

from stablessm.sweeps import fitting, memory
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError, SweepError
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.fitting import fitted, largest_chunk
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.run import execute, run_sweep

VECTOR = jax.ShapeDtypeStruct((1000,), jnp.float32)


def bound(function, *arguments):
    return memory.least_bytes(jax.make_jaxpr(function)(*arguments))


def test_what_is_given_and_returned_counts():
    assert bound(lambda x: x.sum(), VECTOR) == 4004 and bound(lambda x: x * 2, VECTOR) == 8000


def test_what_may_be_fused_does_not_count():
    assert bound(lambda x: jnp.outer(x, x).sum(), VECTOR) < 1e6


def test_what_a_loop_collects_counts_however_deep():
    def collect(x):
        states = jax.lax.scan(lambda state, _: (state + 1, state), x, None, length=500)[1]
        return jax.jit(lambda x: x.sum())(states)

    assert 500 * 4000 <= bound(collect, VECTOR) < 500 * 4000 + 10_000
    assert bound(jax.vmap(collect), jax.ShapeDtypeStruct((3, 1000), jnp.float32)) >= 3 * 500 * 4000


def test_what_a_fourier_transform_reads_counts():
    assert bound(lambda x: jnp.abs(jnp.fft.fft(jnp.outer(x, x))).sum(), VECTOR) >= 1000 * 1000 * 8


@pytest.mark.parametrize(("count", "text"), [(999, "999 B"), (1000, "1 kB"), (16_400_000_000, "16.4 GB"),
                                             (4 * 10**15, "4 PB"), (10**22, "1e+04 EB")])  # fmt: skip
def test_sizes_have_units(count, text):
    assert memory.sized(count) == text


@pytest.mark.parametrize("dry", [False, True])
def test_a_work_item_that_does_not_fit(base, measurements, tmp_path, monkeypatch, dry):
    monkeypatch.setattr(memory, "machine_memory", lambda: 100)
    sentence = (
        r"^one work item of 4 cells needs at least \d+ B of memory, but there is 100 B: make chunk, width, steps or"
    )
    with pytest.raises(SweepError, match=sentence):
        if dry:
            from stablessm.sweeps.estimate import estimate

            estimate(Plan(load_spec(base, measurements=measurements)), measurements["toy"])
        else:
            run_sweep(base, out=tmp_path, measurements=measurements)
    assert not list(tmp_path.iterdir())


def test_a_dataset_that_does_not_fit(base, measurements, tmp_path, monkeypatch):
    monkeypatch.setattr("stablessm.sweeps.programs.memory_of", lambda device: 10**12)
    monkeypatch.setattr(memory, "machine_memory", lambda: 100)
    with pytest.raises(SweepError, match=r"^the dataset of 18 cells needs at least 1.\d+ kB"):
        run_sweep(base, out=tmp_path, measurements=measurements)
    assert not list(tmp_path.iterdir())


def test_what_only_the_compiler_knows_fails_its_work_items(base, measurements, tmp_path, monkeypatch):
    monkeypatch.setattr("stablessm.sweeps.programs.compiled_bytes", lambda program: 10**18)
    failures = execute(base, out=tmp_path, measurements=measurements).failures
    assert len(failures) == 6 and "needs at least 1 EB of memory" in failures[0]


@pytest.mark.matrix(3)
@pytest.mark.parametrize("where", ["option", "declaration", "set"])
def test_auto_is_the_default_unless_the_memory_is_smaller(base, measurements, tmp_path, monkeypatch, where):
    words = {"overrides": ["chunk=auto"]} if where == "set" else {"chunk": "auto"} if where == "option" else {}
    if where == "declaration":
        base["chunk"] = "auto"
    base["settings"] = {"steps": 2000}  # of which a loop collects a loss each
    spec = load_spec(base, measurements=measurements, **words)
    assert (spec.chunk, spec.chunk_from) == (9, "auto")
    assert fitted(spec, measurements["toy"], device="cpu").chunk == 9
    needed = []
    measure = memory.compiled_bytes
    monkeypatch.setattr(memory, "compiled_bytes", lambda program: needed.append(measure(program)) or needed[-1])
    fitted(spec, measurements["toy"], device="cpu")
    monkeypatch.setattr(memory, "machine_memory", lambda: needed[0] * 3 // 5)
    chunk = fitted(spec, measurements["toy"], device="cpu").chunk
    assert 1 <= chunk < 9 and needed[-1] <= needed[0] * 3 // 5
    assert fitted(spec, measurements["toy"], hiring=Hiring("processes", workers=2)).chunk <= (chunk + 1) // 2
    found = execute(base, out=tmp_path, measurements=measurements, device="cpu", **words).dataset
    assert found.attrs["chunk"] == chunk and (found.status == 1).all()
    monkeypatch.undo()
    assert execute(base, out=tmp_path, measurements=measurements, **words).computed == 0  # the size is kept


def test_auto_is_what_the_memory_of_a_gpu_holds(base, measurements, monkeypatch):
    base["axes"]["learning_rate"] = {"log": [1e-3, 1, 100]}
    base["chunk"] = "auto"
    spec = load_spec(base, measurements=measurements)
    assert spec.chunk == 64
    plan = Plan(spec)
    assert [largest_chunk(plan, 1000, there) for there in (10, 1000, 2500, 10**9)] == [1, 51, 128, 300]
    assert largest_chunk(plan, 0, 10) is None
    monkeypatch.setattr(fitting, "choose_devices", lambda name: (types.SimpleNamespace(platform="gpu"),) * 2)
    monkeypatch.setattr(fitting, "_most_cells", lambda *_: 300)
    assert fitted(spec, measurements["toy"]).chunk == 300


def test_auto_leaves_what_cannot_be_compiled_to_the_run(base, measurements, tmp_path):
    result = execute(
        base, out=tmp_path, measurements=measurements, overrides=["mode=trace fails", "parameterization=exp"],
        chunk="auto",
    )  # fmt: skip
    assert "exp cannot be traced" in result.failures[0]


def test_a_size_that_is_none(base, measurements):
    for chunk in ("automatic", 1.5, True, 0):
        with pytest.raises(SpecError, match="--chunk: the chunk must be an integer from 1 to 1000000, or auto, but"):
            load_spec(base, chunk=chunk, measurements=measurements)
