"""`elastic new`: a commented study file to start from."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.completion import presets_from
from elastic_consistency.cli.failures import BadInputError
from elastic_consistency.cli.output import Json, console, print_json, table


def new(
    preset: Annotated[
        str | None,
        typer.Argument(help="Name of a preset; a list without.", autocompletion=presets_from),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write; PRESET.toml by default.", dir_okay=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of study files instead.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a commented study file, or list the presets."""
    if schema:
        from elastic_consistency.studies.files.json_schema import study_schema

        print_json(study_schema())
    elif preset is None:
        _list(json=json)
    else:
        _write(preset, output or Path(f"{preset}.toml"), force=force, json=json)


def _list(*, json: bool) -> None:
    from elastic_consistency.studies.files.presets import presets

    rows = [(preset.name, preset.about) for preset in presets()]
    if json:
        print_json(dict(rows))
    else:
        console().print(table("", "preset", "describes", rows=rows))


def _write(preset: str, path: Path, *, force: bool, json: bool) -> None:
    from elastic_consistency.studies.files.presets import preset_text
    from elastic_consistency.studies.on_disk.whole_files import write_whole

    text = preset_text(preset)
    if path.exists() and not force:
        raise BadInputError(f"--output must be a new file, got {path}; --force replaces it")
    write_whole(path, text)
    if json:
        print_json({"preset": preset, "file": path})
    else:
        console().print(f"Wrote {path}. Next: elastic run {path}", markup=False, soft_wrap=True)
