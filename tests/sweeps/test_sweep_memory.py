"""What cannot be held in memory is refused from its shapes, before a store is made."""

import jax
import jax.numpy as jnp
import pytest

from stablessm.sweeps import memory
from stablessm.sweeps.errors import SweepError
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
            from stablessm.sweeps.declarations import load_spec
            from stablessm.sweeps.estimate import estimate
            from stablessm.sweeps.plan import Plan

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
