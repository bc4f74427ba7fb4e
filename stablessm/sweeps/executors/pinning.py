"""A worker's threads and JAX memory, set before JAX starts: workers that share a machine must not each take all of it.

A variable that the user has set stays as it is. Nothing here decides a value of a result: the number of threads changes
who computes an element, not how.
"""

from __future__ import annotations

import os
from pathlib import Path

# NPROC is the size of XLA's own pool on the CPU.
_THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_MEMORY = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # JAX takes three quarters of a GPU else
_GPUS = "CUDA_VISIBLE_DEVICES"
_INSTALLED = Path("/proc/driver/nvidia/gpus")


def pin(threads: int | None = None) -> None:
    """Hold this process to a number of threads, and JAX to the memory that it uses.

    Args:
        threads: how many; by default those a SLURM job was given, else 1: a worker is one core.
    """
    count = threads or int(os.environ.get("SLURM_CPUS_PER_TASK") or 1)
    for name in _THREADS:
        os.environ.setdefault(name, str(count))
    share_memory()


def share_memory() -> None:
    """Let JAX take the memory of a GPU as it needs it."""
    for name, value in _MEMORY.items():
        os.environ.setdefault(name, value)


def take_gpu(rank: int) -> None:
    """Let the worker of a rank see one GPU, by turns: of those in CUDA_VISIBLE_DEVICES, or of the machine's."""
    names = [name for name in os.environ.get(_GPUS, "").split(",") if name]
    if _GPUS not in os.environ and _INSTALLED.is_dir():
        names = [str(number) for number in range(len(list(_INSTALLED.iterdir())))]
    if names:
        os.environ[_GPUS] = names[rank % len(names)]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
