"""How XLA compiles the program of a measurement: it runs for seconds, and most of a first run is its compilation."""

from __future__ import annotations

from typing import Any

import jax

# A quarter of the processor time of a first quick sweep, and nothing lost where a program runs for minutes.
_ON_CPU = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}


def compiled(lowered: jax.stages.Lowered, platform: str) -> jax.stages.Compiled:
    """Compile a program that was lowered.

    Args:
        lowered: what `jax.jit(...).lower(...)` returned.
        platform: "cpu" or that of an accelerator, whose compiler is left as it is.
    """
    if platform != "cpu":
        return lowered.compile()
    try:
        return lowered.compile(compiler_options=_ON_CPU)
    except jax.errors.JaxRuntimeError as error:
        if "No such compile option" not in str(error):
            raise
        return lowered.compile()  # by a version of XLA that has them no more


def compiled_bytes(program: Any) -> int:
    """Return the bytes that a compiled program holds at one time, 0 where its compiler does not say."""
    about = program.memory_analysis()
    if about is None:
        return 0
    return about.argument_size_in_bytes + about.output_size_in_bytes + about.temp_size_in_bytes
