"""Checkpoints: the state of a run in one file, whole or not at all, and what it was a run of.

A sum over all of it stands in its head, so that a file in which a bit has changed is not gone on from.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stablessm.training.loop import TrainingState
from stablessm.writing import write_whole

_MAGIC = b"stablessm checkpoint 1\n"


class CheckpointError(ValueError):
    """A file that is no checkpoint of this run; the message says why."""


def save(path: str | Path, state: TrainingState, made_of: Mapping[str, Any]) -> None:
    """Write a checkpoint under a temporary name and rename it.

    Args:
        path: the file.
        state: of the run.
        made_of: what the model and the run were made of, as JSON takes it; `load` wants the same.

    Raises:
        WriteError: the disk refuses.
    """
    body = io.BytesIO()
    eqx.tree_serialise_leaves(body, state)
    about = {"made_of": made_of, "leaves": _shapes(state)}
    head = json.dumps({**about, "sha256": _sum(about, body.getvalue())}, sort_keys=True).encode()
    write_whole(Path(path), _MAGIC + struct.pack("<Q", len(head)) + head + body.getvalue())


def load(path: str | Path, like: TrainingState, made_of: Mapping[str, Any]) -> TrainingState:
    """Read a checkpoint.

    Args:
        path: the file.
        like: a state of the same run, such as its start.
        made_of: what that run is made of.

    Raises:
        CheckpointError: the file is damaged or foreign, or of another model, recipe or precision.
        OSError: it cannot be read.
    """
    head, body = _parts(Path(path))
    other = {name for name in {*head["made_of"], *made_of} if head["made_of"].get(name) != made_of.get(name)}
    if other:
        raise CheckpointError(f"the checkpoint {path} is of another run: {', '.join(sorted(other))} differ")
    if head["leaves"] != _shapes(like):
        raise CheckpointError(f"the checkpoint {path} is of a model of other shapes or another precision")
    try:
        return eqx.tree_deserialise_leaves(io.BytesIO(body), like)
    except (ValueError, EOFError, RuntimeError, OSError) as error:
        raise CheckpointError(f"the checkpoint {path} is damaged") from error


def made_of(path: str | Path) -> dict[str, Any]:
    """Return what the run of a checkpoint was made of.

    Args:
        path: the file.

    Raises:
        CheckpointError: the file is damaged or foreign.
    """
    return _parts(Path(path))[0]["made_of"]


def _parts(path: Path) -> tuple[dict[str, Any], bytes]:
    content = path.read_bytes()
    start = len(_MAGIC) + 8
    if not content.startswith(_MAGIC) or len(content) < start:
        raise CheckpointError(f"{path} is no checkpoint of stablessm")
    (size,) = struct.unpack("<Q", content[len(_MAGIC) : start])
    try:
        head, body = json.loads(content[start : start + size]), content[start + size :]
        about = {"made_of": dict(head["made_of"]), "leaves": head["leaves"]}
        told = head.get("sha256")  # older ones have none
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"the checkpoint {path} is damaged") from error
    if told is not None and told != _sum(about, body):
        raise CheckpointError(f"the checkpoint {path} is damaged: its content is not what its checksum is of")
    return about, body


def _sum(about: Mapping[str, Any], body: bytes) -> str:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(body)
    return digest.hexdigest()


def _shapes(state: TrainingState) -> list[list[Any]]:
    return [[str(jnp.asarray(leaf).dtype), list(np.shape(leaf))] for leaf in jax.tree.leaves(state)]
