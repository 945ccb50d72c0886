"""What a verb prints: a table for people, or JSON for programs, and nothing else on stdout."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from elastic_consistency.studies.progress import Progress

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def print_json(record: Any) -> None:
    """Print dataclasses, arrays and plain types as strict JSON; what is not finite is null."""
    from elastic_consistency.studies.on_disk.records import (
        plain,  # loads NumPy, which help does not need
    )

    sys.stdout.write(json.dumps(plain(record), indent=2, allow_nan=False) + "\n")


def console() -> Any:
    """A console on stdout."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def table(title: str, *columns: str, rows: Any = ()) -> Any:
    """A table with one string a cell; a column is right-aligned if its heading ends in >."""
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD)
    # So that nine columns of numbers fit 80 characters.
    made.show_edge, made.padding = False, (0, 0, 0, 1)
    for column in columns:
        # A number that is parted is read wrongly: words give way first. Where that is not enough
        # it is folded all the same, since one that is cut says something else.
        number = column.endswith(">")
        justify = "right" if number else "left"
        made.add_column(Text(column.rstrip(">")), justify=justify, overflow="fold", no_wrap=number)
    for row in rows:
        # As Text, since [s] is a unit and not a style.
        made.add_row(*(Text(str(cell), no_wrap=False) for cell in row))
    return Padding(made, (1, 0))


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A bar with the time left on stderr; nothing where nobody watches."""
    from rich.console import Console

    shown = Console(stderr=True)
    if quiet or not shown.is_terminal:
        yield Progress()
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Bars(*columns, console=shown, transient=True) as bars:
        task = bars.add_task("starting", total=1.0)
        yield Progress(lambda what, done: bars.update(task, description=what, completed=done))


def say_aside(line: str, *, quiet: bool = False) -> None:
    """One line on stderr for people who wait; nothing on stdout changes."""
    if not quiet:
        sys.stderr.write(f"elastic: {line}\n")
