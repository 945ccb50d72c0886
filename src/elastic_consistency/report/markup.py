"""HTML from plain values; everything that is not markup is escaped here."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, final

from elastic_consistency.report.wording import number


@final
@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is HTML already.

    Attributes:
        html: The text.
    """

    html: str


def text(value: Any) -> str:
    """`value` as HTML: markup as it is, numbers rounded, everything else escaped."""
    if isinstance(value, Markup):
        return value.html
    if value is None or isinstance(value, float):
        return escape(number(value, digits=4))
    return escape(str(value))


def breakable(name: str) -> Markup:
    """A name whose parts are joined by underscores, which may be broken after each of them."""
    return Markup(escape(name).replace("_", "_<wbr>"))


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, sortable: bool = True
) -> Markup:
    """A table; numbers are aligned to the right and sorted by their exact values.

    Among numbers, None is a dash.

    Args:
        caption: What the table holds.
        columns: Headings, with the unit where there is one.
        rows: One sequence a row.
        sortable: Whether a click on a heading sorts.
    """
    content = [list(row) for row in rows]
    numeric = [_is_numeric([row[k] for row in content]) for k in range(len(columns))]
    head = "".join(_heading(*pair, sortable) for pair in zip(columns, numeric, strict=True))
    body = "".join(_row(row, numeric) for row in content)
    return Markup(
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _heading(column: str, numeric: bool, sortable: bool) -> str:  # noqa: FBT001
    label = f"<button>{escape(column)}</button>" if sortable else escape(column)
    return f'<th scope="col"{_class(numeric)}>{label}</th>'


def _row(row: Sequence[Any], numeric: Sequence[bool]) -> str:
    cells = zip(row, numeric, strict=True)
    return "<tr>" + "".join(_cell(value, right) for value, right in cells) + "</tr>"


def _cell(value: Any, numeric: bool) -> str:  # noqa: FBT001
    exact = f' data-value="{float(value)!r}"' if _is_number(value) and _is_finite(value) else ""
    return f"<td{_class(numeric)}{exact}>{text(value)}</td>"


def _class(numeric: bool) -> str:  # noqa: FBT001
    return ' class="number"' if numeric else ""


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(map(_is_number, known))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: float) -> bool:
    return math.isfinite(value)
