"""How XLA compiles the program of a measurement: it runs for seconds, and most of a first run is its compilation."""

from __future__ import annotations

from typing import Any

import jax

# A quarter of the processor time of a first quick sweep of linear RNNs. Networks are compiled in full: a training step
# of one DLR layer (256 steps, 256 poles, 32 features) takes 17 ms under these and 7.4 ms without.
_ON_CPU = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}


def compiled(lowered: jax.stages.Lowered, platform: str, *, thorough: bool = False) -> jax.stages.Compiled:
    """Compile a program that was lowered.

    Args:
        lowered: what `jax.jit(...).lower(...)` returned.
        platform: "cpu" or that of an accelerator, whose compiler is left as it is.
        thorough: whether the program runs for so long that its compiler is left as it is on a CPU, too.
    """
    if platform != "cpu" or thorough:
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
