"""Tiny files in the published formats."""

import gzip

import numpy as np


def idx(array):
    """An IDX file of unsigned bytes."""
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


def write_mnist(folder, train=40, test=10, classes=10, seed=0):
    """The four files of MNIST, images gzipped; returns what they hold."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, made = np.random.default_rng(seed), {}
    for split, count in (("train", train), ("t10k", test)):
        images = rng.integers(0, 256, (count, 28, 28), np.uint8)
        labels = (np.arange(count) % classes).astype(np.uint8)
        (folder / f"{split}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images), mtime=0))
        (folder / f"{split}-labels-idx1-ubyte").write_bytes(idx(labels))
        made[split] = (images, labels)
    return made
