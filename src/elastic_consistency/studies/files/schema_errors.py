"""What the schema complains of, in our words."""

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from elastic_consistency.studies.files.errors import FieldError, shown, unknown_field

# What pydantic calls a type, in the words of `building`.
_WORDS = {
    "string_type": "a text",
    "string_pattern_mismatch": "a text on one line",
    "string_too_short": "a text that is not empty",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of usual size",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "too_short": "a list that is long enough",
    "dict_type": "a table of fields",
    "model_type": "a table of fields",
    "invalid_key": "a field whose name is a text",
}
Location = tuple[int | str, ...]


def first_problem(error: ValidationError, table: type[BaseModel], place: str = "") -> FieldError:
    """The first complaint; a misspelt field goes first, since it explains a missing one.

    Args:
        error: What pydantic found.
        table: What it validated.
        place: Path of that table in the file.
    """
    every = error.errors(include_url=False)
    first = next((e for e in every if e["type"] == "extra_forbidden"), every[0])
    # A union of types adds their names to the place, as in ("fabric", "dict[str,any]").
    location = tuple(part for part in first["loc"] if isinstance(part, int) or part.isidentifier())
    if first["type"] == "extra_forbidden":
        inside = _where(location[:-1], place)
        return unknown_field(inside, str(location[-1]), _fields_of(location[:-1], table))
    where = _where(location, place)
    if len(location) < len(first["loc"]):
        return FieldError(
            where, f"must be a name or a table of fields, got {shown(first['input'])}."
        )
    if first["type"] == "missing":
        return FieldError(where, "must be given; it has no default.")
    message = _WORDS.get(first["type"]) or first["msg"].removeprefix("Input should be ")
    return FieldError(where, f"must be {message}, got {shown(first.get('input'))}.")


def _where(location: Location, place: str) -> str:
    text = place
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _fields_of(location: Location, table: type[BaseModel]) -> list[str]:
    """Names of the fields of the table at `location`."""
    model = table
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _table_in(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def _table_in(annotation: Any) -> type[BaseModel] | None:
    """The table that an annotation such as list[Table] | None speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_table_in(part) for part in get_args(annotation))
    return next((table for table in found if table is not None), None)
