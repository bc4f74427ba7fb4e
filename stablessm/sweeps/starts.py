"""The starts of a sweep: made once for a set of seeds, shared by every map, and hashed so that this can be asserted."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.measurements.compiling import compiled
from stablessm.sweeps.threads import Compilers


class _Made(NamedTuple):
    compiled: Future[Callable[[Any], Any]]
    shapes: Any


class Starts:
    """Starts by `Program.start` and seeds; the latest few sets are kept, for they can be large.

    Two programs share starts where their `start` functions are equal (hash and ==), as one function or two equal frozen
    callables are, and where they run at one precision. `shapes` may be called from several threads: it traces, gives
    the compiler its work and does not wait for it, so that what is to be measured is traced meanwhile.
    """

    def __init__(self, count: int, compilers: Compilers, platform: str, *, keep: int = 2) -> None:
        """Make an empty cache.

        Args:
            count: seeds in a set; every set has as many.
            compilers: compile what makes them.
            platform: of the device that makes them.
            keep: how many sets to hold on to.
        """
        self._count, self._compilers, self._platform, self._keep = count, compilers, platform, keep
        self._lock = threading.Lock()
        self._made: dict[Any, _Made] = {}
        self._sets: OrderedDict[Any, tuple[Any, np.ndarray]] = OrderedDict()

    def shapes(self, start: Callable[[Any], Any]) -> Any:
        """Return the pytree of `jax.ShapeDtypeStruct` that `get` returns for a start function; traces it once."""
        return self._program(start).shapes

    def _program(self, start: Callable[[Any], Any]) -> _Made:
        key = start, _precision()
        with self._lock:
            if key not in self._made:
                lowered = jax.jit(jax.vmap(start)).lower(jax.ShapeDtypeStruct((self._count,), np.uint32))
                shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), lowered.out_info)
                self._made[key] = _Made(self._compilers.submit(compiled, lowered, self._platform), shapes)
            return self._made[key]

    def get(self, start: Callable[[Any], Any], seeds: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return the stacked starts of a set of seeds, and the hash of each.

        Args:
            start: seed -> pytree.
            seeds: uint32 of shape (count,).

        Returns:
            The pytree, with a leading axis of length count, and uint64 hashes of shape (count,).
        """
        key = start, _precision(), seeds.tobytes()
        if key in self._sets:
            self._sets.move_to_end(key)
            return self._sets[key]
        while len(self._sets) >= self._keep:
            self._sets.popitem(last=False)
        stack = self._program(start).compiled.result()(seeds)
        self._sets[key] = stack, hash_starts(stack, len(seeds))
        return self._sets[key]


def _precision() -> str:
    """Name the precision of the calling thread: the same start function makes other arrays in float64."""
    return jnp.result_type(float).name


def hash_starts(stack: Any, count: int) -> np.ndarray:
    """Return the first 64 bits of the SHA-256 of each start's leaves: their dtypes, shapes and bytes, in order.

    Args:
        stack: pytree of arrays with a leading axis of length `count`.
        count: number of starts.

    Returns:
        uint64 of shape (count,).
    """
    hashes = [hashlib.sha256() for _ in range(count)]
    for leaf in jax.tree.leaves(stack):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        rows = np.asarray(leaf)
        for state, row in zip(hashes, rows, strict=True):
            state.update(f"{row.dtype}{row.shape}".encode())
            state.update(np.ascontiguousarray(row).reshape(-1).view(np.uint8).data)
    return np.array([int.from_bytes(state.digest()[:8], "little") for state in hashes], np.uint64)
