"""IDX files, the format of MNIST and Fashion-MNIST, from a local folder."""

import gzip
import struct
from pathlib import Path

import numpy as np

from elastic_consistency.optimization.oracles.datasets import Dataset, with_intercept

_KINDS = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def fashion_mnist(folder: Path, *, train: bool = True) -> Dataset:
    """Fashion-MNIST: 28 x 28 pixels in [0, 1] and an intercept, 10 classes.

    Args:
        folder: Where the four published files lie, with or without the ending .gz.
        train: The 60000 training images, or else the 10000 test images.

    Raises:
        FileNotFoundError: If a file is missing; the message says which, and where to get it.
        ValueError: If a file is no IDX file, or is cut short.

    Source: Xiao, Rasul, Vollgraf (2017), arXiv:1708.07747.
    """
    part = "train" if train else "t10k"
    images = read_idx(_find(folder, f"{part}-images-idx3-ubyte"))
    labels = read_idx(_find(folder, f"{part}-labels-idx1-ubyte"))
    features = images.reshape(len(images), -1) / 255
    return Dataset("Fashion-MNIST", with_intercept(features), labels.astype(np.int64), 10)


def read_idx(path: Path) -> np.ndarray:
    """The array of an IDX file, with its own shape and kind of numbers.

    Args:
        path: The file; one whose name ends in .gz is decompressed.

    Raises:
        ValueError: If it is no IDX file, or is cut short.

    Source: LeCun, Cortes, Burges, The MNIST database, format of the files.
    """
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _KINDS:
        raise ValueError(f"{path} must be an IDX file, got the first bytes {content[:4]!r}.")
    kind, n_axes = np.dtype(_KINDS[content[2]]), content[3]
    first = 4 + 4 * n_axes
    shape = struct.unpack(f">{n_axes}I", content[4:first]) if len(content) >= first else (0,)
    expected = first + int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if len(content) != expected:
        raise ValueError(f"{path} must have {expected} bytes, got {len(content)}.")
    return np.frombuffer(content, kind, offset=first).reshape(shape).astype(kind.newbyteorder("="))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise FileNotFoundError(
        f"{folder} needs the file {name} or {name}.gz; the four files of Fashion-MNIST are "
        "published at https://github.com/zalandoresearch/fashion-mnist."
    )
