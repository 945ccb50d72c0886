"""`elastic run`: a study from its file to its report."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.demo import present
from elastic_consistency.cli.output import Json

Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-module",
        metavar="MODULE",
        help="Import this module, so that the study can name its classes; only if you trust it.",
    ),
]
StudyFile = Annotated[Path, typer.Argument(help="A study as TOML or YAML; see elastic new.")]


def run(
    study: StudyFile,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; named after the study by default.")
    ] = None,
    ranks: Annotated[int, typer.Option(help="Processes of the replay; 0 leaves it out.")] = 0,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Run a study: compare its contenders, judge the first one, write report and data."""
    from elastic_consistency.studies.files import load_study

    loaded = load_study(study, modules=tuple(allow_module or ()))
    present(loaded, output or Path(f"{study.stem}-result"), ranks=ranks, json=json)
