"""A finished row as a JSON file: written whole or not at all, and read back."""

import hashlib
import inspect
import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from elastic_consistency._whole_files import whole_file
from elastic_consistency.validation.papers.claim import Effort, PaperClaim
from elastic_consistency.validation.papers.finding import Finding, PaperVerdict
from elastic_consistency.validation.papers.sources import digest

Record = dict[str, Any]


def record_of(
    claim: PaperClaim, finding: Finding, effort: Effort, seconds: float, *, key: str
) -> Record:
    """Everything that the table and the page show of a row, in the types of JSON."""
    return {
        "name": claim.name,
        "paper": claim.paper.value,
        "statement": claim.statement,
        "value": _plain(claim.value),
        **_plain(finding),
        "extent": _extent(claim, finding, effort),
        "seconds": round(seconds, 2),
        "key": key,
    }


def _extent(claim: PaperClaim, finding: Finding, effort: Effort) -> str:
    if finding.verdict is PaperVerdict.NEEDS_HARDWARE:
        return "to be run"
    return "whole" if claim.whole or effort.full else "scaled down"


def key_of(claim: PaperClaim, effort: Effort) -> str:
    """Digest of what a record depends on: the claim, the effort, and all code that it can reach."""
    function = inspect.unwrap(getattr(claim.experiment, "func", claim.experiment))
    code = digest(Path(inspect.getfile(function)))
    parts = (claim.name, claim.statement, repr(claim.value), repr(effort), code)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def save(record: Record, folder: Path) -> None:
    """Write the record of a row; a reader sees the old file or the new one, never a part."""
    with whole_file(folder / f"{record['name']}.json") as beside:
        beside.write_text(json.dumps(record, indent=1, allow_nan=False), "utf-8")


def load(claim: PaperClaim, effort: Effort, folder: Path) -> Record | None:
    """The record of a row that was finished before, if it is still true.

    Rows that need hardware or data are never kept: they cost nothing, and both may be there next
    time.
    """
    path = folder / f"{claim.name}.json"
    if not path.exists():
        return None
    try:
        record = json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError:
        return None
    if record.get("verdict") == PaperVerdict.NEEDS_HARDWARE.value:
        return None
    return record if record.get("key") == key_of(claim, effort) else None


def _plain(value: Any) -> Any:
    """`value` in the types of JSON; numbers that are not finite become text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
