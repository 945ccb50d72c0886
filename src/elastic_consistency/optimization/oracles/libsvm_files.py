"""LIBSVM files: one labelled sparse row a line."""

from pathlib import Path

import numpy as np

from elastic_consistency.optimization.oracles.datasets import Dataset


def read_libsvm(path: Path, *, n_features: int | None = None) -> Dataset:
    """Labelled rows of `label index:value index:value ...`, indices from 1 on.

    The labels, sorted, become classes 0, 1, ...; rows are stored densely. A comment begins with
    the sign #.

    Args:
        path: The file.
        n_features: Columns; None takes the largest index that occurs.

    Raises:
        ValueError: If a line is malformed or has an index out of range; the message names it.

    Source: Chang, Lin (2011), doi:10.1145/1961189.1961199, file format.
    """
    labels, entries = [], []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        content = line.split("#", maxsplit=1)[0].split()
        if content:
            label, row = _parse(path, number, content)
            labels.append(label)
            entries.append(row)
    if not entries:
        raise ValueError(f"{path} must hold at least one row, got none.")
    largest = max((index for row in entries for index, _ in row), default=0)
    width = largest if n_features is None else n_features
    if largest > width:
        raise ValueError(f"{path} must have indices up to {width}, got {largest}.")
    classes, numbers = np.unique(labels, return_inverse=True)
    return Dataset(path.name, _dense(entries, width), numbers.astype(np.int64), len(classes))


def _parse(path: Path, number: int, content: list[str]) -> tuple[float, list[tuple[int, float]]]:
    try:
        pairs = [entry.split(":") for entry in content[1:]]
        row = [(int(index), float(value)) for index, value in pairs]
        label = float(content[0])
    except ValueError as error:
        raise ValueError(f"{path} must have label index:value ... at line {number}.") from error
    if any(index < 1 for index, _ in row):
        raise ValueError(f"{path} must have indices from 1 on at line {number}.")
    return label, row


def _dense(entries: list[list[tuple[int, float]]], width: int) -> np.ndarray:
    features = np.zeros((len(entries), width))
    for position, row in enumerate(entries):
        for index, value in row:
            features[position, index - 1] = value
    return features
