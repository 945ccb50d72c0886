"""`elastic explain`: what a figure means."""

from typing import Annotated

import typer

from elastic_consistency.cli.completion import figures_from
from elastic_consistency.cli.output import Json, console, print_json, table


def explain(
    metric: Annotated[
        str | None,
        typer.Argument(
            help="Name of a figure; all of them without it.", autocompletion=figures_from
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say in one sentence what a figure means, with its unit and its formula."""
    from elastic_consistency.report.glossary import entries, entry

    found = entries() if metric is None else (entry(metric),)
    if json:
        print_json(found if metric is None else found[0])
    elif metric is None:
        console().print(table("", "figure", "unit", rows=[(e.name, e.unit) for e in found]))
    else:
        (only,) = found
        console().print(
            f"[bold]{only.name}[/bold] \\[{only.unit}]\n{only.sentence}", soft_wrap=True
        )
        console().print(f"  {only.formula}", markup=False)
