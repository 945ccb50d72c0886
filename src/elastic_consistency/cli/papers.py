"""`elastic papers`: the claims of the papers, rebuilt."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.completion import claims_from
from elastic_consistency.cli.failures import BadInputError, keeping
from elastic_consistency.cli.output import Json, console, print_json, progress_bar, table
from elastic_consistency.cli.waiting import announce

if TYPE_CHECKING:
    from elastic_consistency.validation.papers.claim import PaperClaim

_Name = Annotated[
    str | None,
    typer.Argument(help="Name of a claim; see elastic papers list.", autocompletion=claims_from),
]
_All = Annotated[bool, typer.Option("--all", help="All claims; under half an hour on 2 cores.")]
_Full = Annotated[bool, typer.Option("--full", help="At the papers' scale, as far as a CPU can.")]
_Output = Annotated[
    Path, typer.Option("--output", help="Folder of the records, the page and the table.")
]


def papers_verbs() -> typer.Typer:
    """The verbs of `elastic papers`."""
    verbs = typer.Typer(
        help="Claims of the papers: the papers' values, ours with intervals, and verdicts.",
        no_args_is_help=True,
        epilog="Example: elastic papers run sampled-clients",
    )
    verbs.command("list", epilog="Example: elastic papers list")(list_papers)
    verbs.command(epilog="Example: elastic papers run sampled-clients")(run)
    return verbs


def list_papers(json: Json = False) -> None:
    """List every claim: the paper, what is claimed, and how far its value was checked."""
    from elastic_consistency.validation.papers.catalogue import CLAIMS

    if json:
        print_json([_described(claim) for claim in CLAIMS])
        return
    rows = [(claim.name, claim.statement) for claim in CLAIMS]
    console().print(table("", "name", "claim", rows=rows))


def run(
    name: _Name = None,
    everything: _All = False,
    full: _Full = False,
    output: _Output = Path("papers"),
    json: Json = False,
) -> None:
    """Rebuild one claim or all; what was finished before is read, not computed again."""
    from elastic_consistency.validation.papers.claim import Effort
    from elastic_consistency.validation.papers.run import run_claims, seconds_of_claims

    claims, records = _chosen(name, everything), []
    effort = Effort(full=full)
    announce(seconds_of_claims(claims, output, effort=effort), quiet=json or full)
    with keeping(lambda: f"{len(records)} finished claims are in {output}"):
        with progress_bar(quiet=json) as progress:
            for record in run_claims(claims, output, effort=effort, listener=progress.say):
                records.append(record)
                if not json:
                    _print_row(record)
        if everything:
            _write(records, output)
    if json:
        print_json(records)


def _chosen(name: str | None, everything: bool) -> "tuple[PaperClaim, ...]":
    from elastic_consistency.validation.papers.catalogue import CLAIMS, find

    if (name is None) != everything:
        raise BadInputError("papers run needs the name of a claim or --all, and not both.")
    if name is None:
        return CLAIMS
    return (find(name),)


def _print_row(record: dict[str, Any]) -> None:
    from elastic_consistency.validation.papers.wording import figure

    figures = "; ".join(figure(measured) for measured in record["measured"])
    line = f"{record['name']}: {record['verdict']} ({record['seconds']:.1f} s)"
    console().print(f"{line}\n    {figures}" if figures else line, markup=False)


def _write(records: list[dict[str, Any]], output: Path) -> None:
    """One HTML page and one markdown table beside the records."""
    from elastic_consistency.studies.on_disk.whole_files import write_whole
    from elastic_consistency.validation.papers.page import html
    from elastic_consistency.validation.papers.table import markdown

    about = _about()
    write_whole(output / "papers.html", html(records, about=about))
    write_whole(output / "papers.md", markdown(records, about=about))


def _about() -> str:
    import platform
    from importlib.metadata import version

    parts = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "simpy"))
    own = f"elastic-consistency {version('elastic-consistency')}"
    return f"{date.today().isoformat()}; {own}, Python {platform.python_version()}, {parts}."


def _described(claim: "PaperClaim") -> dict[str, Any]:
    return {
        "name": claim.name,
        "paper": claim.paper,
        "statement": claim.statement,
        "value": claim.value.text,
        "place": claim.value.place,
        "status": claim.value.status,
    }
