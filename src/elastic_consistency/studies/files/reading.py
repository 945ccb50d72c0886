"""Plain values from TOML or YAML; nothing in the file is executed."""

import tomllib
from pathlib import Path
from typing import Any

from elastic_consistency.studies.files.errors import StudyFileError

_LARGEST = 4 * 2**20
_TOML, _YAML = (".toml",), (".yaml", ".yml")


def read_file(path: Path) -> dict[str, Any]:
    """The table that a file holds.

    Raises:
        FileNotFoundError: If there is no such file.
        StudyFileError: If it is too large, not text, not TOML or YAML, or not a table.
    """
    if path.suffix.lower() not in _TOML + _YAML:
        raise StudyFileError(f"{path}: a study must end in .toml, .yaml or .yml.")
    if path.stat().st_size > _LARGEST:
        raise StudyFileError(f"{path}: a study must have at most {_LARGEST} bytes.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyFileError(f"{path}: must be UTF-8 text; byte {error.start} is not.") from error
    try:
        content = _toml(path, text) if path.suffix.lower() in _TOML else _yaml(path, text)
    except RecursionError as error:
        raise StudyFileError(f"{path}: is nested too deeply.") from error
    if not isinstance(content, dict):
        got = "nothing" if content is None else type(content).__name__
        raise StudyFileError(f"{path}: must hold a table of fields, got {got}.")
    return content


def _toml(path: Path, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyFileError(f"{path}: is not TOML: {error}.") from error
    except ValueError as error:  # a whole number of thousands of digits
        why = str(error).partition(";")[0]
        raise StudyFileError(f"{path}: has a number that is too long: {why}.") from error


def _yaml(path: Path, text: str) -> Any:
    import yaml

    from elastic_consistency.studies.files.plain_yaml import load

    try:
        return load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise StudyFileError(f"{path}: is not plain YAML: {problem}{where}.") from error
    except ValueError as error:  # a day that no calendar has, or thousands of digits
        why = str(error).partition(";")[0]
        raise StudyFileError(f"{path}: is not plain YAML: {why}.") from error
