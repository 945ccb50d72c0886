"""Everything that is needed to repeat a study: seeds, versions, parameters and digests."""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.study import Study

_PACKAGES = (
    "elastic-consistency",
    "numpy",
    "scipy",
    "simpy",
    "sympy",
    "pyarrow",
    "scikit-learn",
    "torch",
)


def manifest(study: Study, digests: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """What the study depends on, as plain JSON types.

    Args:
        study: The study.
        digests: Digests of the schedules of each contender.
    """
    certificate = study.certificate
    return {
        "study": study.name,
        "seeds": {
            "timing": list(study.seeds.timing),
            "tuning": list(study.seeds.tuning),
            "samples": {str(s): list(study.seeds.samples(s)) for s in study.seeds.timing},
            "certificate": plain(certificate),
        },
        "parameters": describe(study),
        "data_sha256": data_digest(study.oracle),
        "schedule_digests": plain(digests),
        "versions": versions(),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def describe(study: Study) -> dict[str, Any]:
    """The parameters of a study as plain JSON types; arrays are left to their digest."""
    return {
        "cluster": _parameters(study.cluster),
        "contenders": [_parameters(contender) for contender in study.contenders],
        "oracle": _parameters(study.oracle),
        "data": study.data,
        "target": study.target,
        "target_loss": study.target_loss(),
        "step_shares": list(study.step_shares),
        "confidence": study.confidence,
    }


def versions() -> dict[str, str]:
    """Version of every package that can change a number; "absent" if it is not installed."""
    return {name: _version(name) for name in _PACKAGES}


def data_digest(oracle: Any) -> str:
    """SHA-256 of the arrays of an oracle, in the order of its fields."""
    state = hashlib.sha256()
    for name in sorted(vars_of(oracle)):
        value = vars_of(oracle)[name]
        if isinstance(value, np.ndarray):
            state.update(f"{name}:{value.dtype.str}:{value.shape};".encode())
            state.update(np.ascontiguousarray(value).tobytes())
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def vars_of(value: Any) -> dict[str, Any]:
    """Fields of a dataclass by name."""
    from dataclasses import fields

    return {field.name: getattr(value, field.name) for field in fields(value)}


def _parameters(value: Any) -> Any:
    from dataclasses import is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        named = {name: _parameters(entry) for name, entry in vars_of(value).items()}
        return {"type": type(value).__name__} | {k: v for k, v in named.items() if v is not None}
    if isinstance(value, np.ndarray):
        return None
    if isinstance(value, tuple):
        return [_parameters(entry) for entry in value]
    return plain(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
