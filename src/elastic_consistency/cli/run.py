"""`elastic run`: a study from its file to its report."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.demo import present
from elastic_consistency.cli.failures import BadInputError
from elastic_consistency.cli.output import Json
from elastic_consistency.cli.pools import PoolChoice
from elastic_consistency.cli.sweep_view import present_sweep

Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-module",
        metavar="MODULE",
        help="Import this module, so that the study can name its classes and is judged by its "
        "bounds; only if you trust it.",
    ),
]
StudyFile = Annotated[Path, typer.Argument(help="A study as TOML or YAML; see elastic new.")]


def run(
    study: StudyFile,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; named after the study by default.")
    ] = None,
    ranks: Annotated[int, typer.Option(help="Processes of the replay; 0 leaves it out.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; for studies with a sweep.")] = 1,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler that runs the points.")
    ] = None,
    slurm: Annotated[
        str | None, typer.Option(help="Partition of Slurm whose jobs run the points.")
    ] = None,
    slurm_minutes: Annotated[int, typer.Option(help="Time limit of one job of Slurm.")] = 60,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Run a study: compare its contenders, judge the first one, write report and data.

    A study with a [[sweep]] is run at every point of it instead; finished points are kept in
    points.jsonl, and the same command goes on where it was interrupted.
    """
    from elastic_consistency.studies.files.reading import read_file
    from elastic_consistency.studies.files.study_file import study_of

    modules = tuple(allow_module or ())
    content, folder = read_file(study), output or Path(f"{study.stem}-result")
    loaded = study_of(content, study, modules=modules)
    pool = PoolChoice(jobs, dask, slurm, slurm_minutes)
    if content.get("sweep") and ranks:
        raise BadInputError(f"--ranks must be 0 with the [[sweep]] in {study}, got {ranks}")
    if content.get("sweep"):
        present_sweep(content, study, folder, pool=pool, modules=modules, json=json)
    elif pool != PoolChoice():
        raise BadInputError(f"--jobs, --dask and --slurm need a [[sweep]] in {study}.")
    else:
        present(loaded, folder, ranks=ranks, json=json)
