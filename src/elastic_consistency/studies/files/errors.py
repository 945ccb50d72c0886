"""What is wrong with a study file, and where."""

from collections.abc import Iterable
from pathlib import Path
from typing import final

from elastic_consistency._checks import nearest

_LONGEST = 100  # characters of a value in a message


@final
class StudyFileError(ValueError):
    """A study file cannot be used; the message names file, field, what is allowed and given."""


@final
class FieldError(ValueError):
    """One field of a file is wrong.

    Attributes:
        where: Path of the field, as in cluster.workers[0].compute.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(problem)
        self.where = where

    def in_file(self, path: Path) -> StudyFileError:
        """The same, with the file."""
        where = f"{self.where} " if self.where else ""
        return StudyFileError(f"{path}: {where}{self}")


def shown(value: object) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def unknown_field(where: str, name: str, allowed: Iterable[str]) -> FieldError:
    """The error for a field that does not exist, with the nearest one that does."""
    known = sorted(allowed)
    hint = nearest(name, known)
    place = f"{where}.{name}" if where else name
    listed = ", ".join(known) or "nothing"
    return FieldError(place, f"is no field; allowed are {listed}{hint}.")


def unknown_value(where: str, value: object, allowed: Iterable[str]) -> FieldError:
    """The error for a value that is none of a list, with the nearest one that is."""
    known = sorted(allowed)
    hint = nearest(str(value)[:_LONGEST], known)
    return FieldError(where, f"must be one of {', '.join(known)}, got {shown(value)}{hint}.")
