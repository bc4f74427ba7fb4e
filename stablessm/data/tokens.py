"""A tokenizer trained on a text: byte-pair encoding of its UTF-8 bytes, so that no text is outside of it.

References: Sennrich, Haddow and Birch, Neural machine translation of rare words with subword units (ACL 2016).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stablessm.data.extras import needed
from stablessm.data.registry import DataError

_BYTES = 256
_SPECIAL = "\ufffd"  # token 0, as in texts of characters; a text never becomes it


class Trained(NamedTuple):
    """A tokenizer.

    Attributes:
        json: all there is to it.
        vocabulary: what each token stands for, in UTF-8.
    """

    json: str
    vocabulary: tuple[bytes, ...]


def trained(text: str, size: int) -> Trained:
    """Train a tokenizer.

    Args:
        text: the training part alone.
        size: of the vocabulary, at least 257: a token for each byte and one that stands for nothing; less come of a
            text that has fewer pairs.

    Raises:
        DataError: the size is out of range, or tokenizers is not installed.
    """
    if not _BYTES < size <= 2**20:
        raise DataError(f"the size of a tokenizer must lie from {_BYTES + 1} to {2**20}, but got {size}")
    tokenizers = needed("tokenizers", "trained tokens")
    level = tokenizers.pre_tokenizers.ByteLevel
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, special_tokens=[_SPECIAL], initial_alphabet=sorted(level.alphabet()), show_progress=False
    )
    made.train_from_iterator(text.splitlines(keepends=True), trainer)
    pieces = sorted(made.get_vocab().items(), key=lambda one: one[1])
    byte = _byte_of_sign()
    vocabulary = [bytes(byte[sign] for sign in piece) for piece, _ in pieces[1:]]
    return Trained(made.to_str(), (_SPECIAL.encode(), *vocabulary))


def encoded(json: str, text: str) -> np.ndarray:
    """Return the tokens of a text, int32.

    Args:
        json: of the tokenizer.
        text: any.
    """
    tokens: list[int] = []
    for one in _tokenizer(json).encode_batch_fast(text.splitlines(keepends=True)):
        tokens += one.ids
    return np.array(tokens, np.int32)


@lru_cache(maxsize=4)
def _tokenizer(json: str) -> Any:
    return needed("tokenizers", "trained tokens").Tokenizer.from_str(json)


def _byte_of_sign() -> dict[str, int]:
    """Return which byte each sign of a byte-level tokenizer stands for.

    Bytes that print in Latin-1 stand for themselves, the others are counted from code point 256 on.
    """
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(_BYTES) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(_BYTES + place): byte for place, byte in enumerate(others)}
