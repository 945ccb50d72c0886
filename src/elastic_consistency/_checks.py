"""One message pattern for every refused argument, and one hint for every misspelt name."""

from collections.abc import Iterable
from difflib import get_close_matches


def check(condition: bool, owner: object, field: str, allowed: str) -> None:
    """Refuse a field of `owner` unless `condition` holds.

    Args:
        condition: What must be true.
        owner: The object whose constructor checks its field.
        field: Name of the attribute, already set on `owner`.
        allowed: What the field must be, as in "a number of seconds > 0".

    Raises:
        ValueError: If `condition` is false; the message names the class, the field, what is
            allowed and what was given.
    """
    if not condition:
        given = getattr(owner, field)
        raise ValueError(f"{type(owner).__name__}.{field} must be {allowed}, got {given!r}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
