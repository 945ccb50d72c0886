"""`elastic advise`: is relaxing consistency worth it on this cluster?"""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.failures import FAILED, BadInputError, keeping
from elastic_consistency.cli.output import Json, console, print_json, progress_bar, say_aside, table
from elastic_consistency.cli.run import Modules
from elastic_consistency.cli.waiting import announce, clock_bar

if TYPE_CHECKING:
    from elastic_consistency.studies.advice.ranking import Advice
    from elastic_consistency.studies.study import Study
    from elastic_consistency.studies.traces import StepTimes

_StudyFile = Annotated[
    Path | None, typer.Argument(help="A study as TOML or YAML; or give --trace instead.")
]
_Trace = Annotated[
    list[Path] | None,
    typer.Option(help="Measured step times, instead of a study; see elastic calibrate."),
]
_ModelMegabytes = Annotated[
    float | None, typer.Option(help="Size of the model, 10^6 bytes; with --trace.")
]
_Gigabits = Annotated[
    float | None, typer.Option(help="Bandwidth of a link, 10^9 bits a second; with --trace.")
]
_Latency = Annotated[
    float, typer.Option(help="Latency of a link beside the transfer, s; with --trace.")
]
_ServerGigabits = Annotated[
    float | None,
    typer.Option(
        help="What all links to the server share, 10^9 bits a second; no limit unless "
        "given, as with a server that is spread over many machines; with --trace."
    ),
]
_Workers = Annotated[
    int | None, typer.Option(help="Number of workers; those of the trace by default.")
]
_Given = tuple[float | None, float | None, float, float | None, int | None]
_Output = Annotated[
    Path | None, typer.Option(help="Folder for the files; named after the study by default.")
]


def advise(
    study: _StudyFile = None,
    trace: _Trace = None,
    model_mb: _ModelMegabytes = None,
    gbit_s: _Gigabits = None,
    latency_s: _Latency = 0.0,
    server_gbit_s: _ServerGigabits = None,
    workers: _Workers = None,
    own: Annotated[
        bool, typer.Option("--own", help="Compare the contenders of the study, not the usual ones.")
    ] = False,
    output: _Output = None,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Say whether relaxing pays, which way is fastest, what slows you down, what to set.

    From a study, or from a trace and two numbers:
    elastic advise --trace steps.csv --model-mb 102 --gbit-s 10
    """
    from elastic_consistency.report.advice_page import advice_page
    from elastic_consistency.studies.advice.ranking import advise as find_advice
    from elastic_consistency.studies.expected_seconds import seconds_of_advice
    from elastic_consistency.studies.on_disk.whole_files import write_json, write_whole

    given = (model_mb, gbit_s, latency_s, server_gbit_s, workers)
    path, folder = _study_file(study, trace, output, given, quiet=json)
    asked = _asked(path, folder, own=own, modules=tuple(allow_module or ()))
    with keeping(asked.finished.told):
        announce(seconds_of_advice(asked), quiet=json, finished=asked.finished.count())
        with progress_bar(quiet=json) as progress:
            advice = find_advice(asked, progress)
        write_json(folder / "advice.json", advice)
        write_whole(folder / "advice.html", advice_page(advice, asked))
    asked.finished.clear()
    if json:
        print_json(advice)
    else:
        _show(advice, asked)
        console().print(f"Files in {folder}/: advice.html, advice.json", markup=False)
    for sentence in advice.diverged:
        say_aside(sentence)
    if advice.diverged:
        raise typer.Exit(FAILED)


def _study_file(
    study: Path | None,
    trace: list[Path] | None,
    output: Path | None,
    given: _Given,
    *,
    quiet: bool,
) -> tuple[Path, Path]:
    """The study that is asked about, and the folder of the answer."""
    if (study is None) == (trace is None):
        raise BadInputError("advise needs a STUDY or --trace, and not both.")
    if study is not None:
        if given != (None, None, 0.0, None, None):
            raise BadInputError(
                "--model-mb, --gbit-s, --latency-s, --server-gbit-s and --workers go with --trace."
            )
        return study, output or Path(f"{study.stem}-advice")
    assert trace is not None
    folder = output or Path(f"{trace[0].name.split('.')[0]}-advice")
    links, workers = _links(*given), given[-1]
    return _study_of_trace(trace, folder, links, workers, quiet=quiet), folder


def _asked(path: Path, folder: Path, *, own: bool, modules: tuple[str, ...]) -> "Study":
    from elastic_consistency.studies.advice.usual_ways import usual_ways
    from elastic_consistency.studies.files import load_study
    from elastic_consistency.studies.on_disk.finished_work import FinishedWork

    loaded = load_study(path, modules=modules)
    asked = loaded if own else usual_ways(loaded)
    return replace(asked, finished=FinishedWork(folder / "unfinished"))


def _links(
    model_mb: float | None,
    gbit_s: float | None,
    latency_s: float,
    server_gbit_s: float | None,
    workers: int | None,
) -> dict[str, float]:
    """Bytes sent, bandwidths and latency, as `fitted_study` takes them."""
    server = math.inf if server_gbit_s is None else server_gbit_s
    if not server > 0:
        raise BadInputError(f"--server-gbit-s must be a number > 0, got {server_gbit_s}")
    for name, value in (("--model-mb", model_mb), ("--gbit-s", gbit_s)):
        if value is None or not 0 < value < float("inf"):
            raise BadInputError(f"{name} must be a number > 0 with --trace, got {value}")
    if not 0 <= latency_s < float("inf"):
        raise BadInputError(f"--latency-s must be seconds >= 0, got {latency_s}")
    if workers is not None and workers < 1:
        raise BadInputError(f"--workers must be a number >= 1, got {workers}")
    assert model_mb is not None
    assert gbit_s is not None
    return {
        "bytes_sent": model_mb * 1e6,
        "bandwidth_bytes_per_s": gbit_s * 1e9 / 8,
        "between_s": latency_s,
        "server_bandwidth_bytes_per_s": server * 1e9 / 8,
    }


def _study_of_trace(
    trace: list[Path], folder: Path, links: dict[str, float], workers: int | None, *, quiet: bool
) -> Path:
    """Write the study of what was measured into `folder`, and say what was taken for granted."""
    from elastic_consistency.studies.expected_reading import seconds_of_traces
    from elastic_consistency.studies.on_disk.whole_files import write_whole
    from elastic_consistency.studies.traces import read_trace
    from elastic_consistency.studies.traces.fitted_study import fitted_study
    from elastic_consistency.studies.traces.fitting import law_of

    def fitted(paths: list[Path]) -> tuple["StepTimes", tuple[Any, ...]]:
        times = read_trace(paths)
        return times, tuple(law_of(seconds) for seconds in times.seconds)

    long = seconds_of_traces(trace, lambda piece: fitted([piece]))
    with clock_bar("reading and fitting", long, quiet=quiet):
        times, laws = fitted(trace)
    latencies = (links["between_s"],)
    path = folder / "fitted.toml"
    write_whole(path, fitted_study(times, laws, latencies_s=latencies, workers=workers, **links))
    transfer = links["bytes_sent"] / links["bandwidth_bytes_per_s"]
    say_aside(
        f"{path} has {workers or len(laws)} workers as in {times.source}; a link takes "
        f"{transfer:.3g} s for the model and {latency_words(links['between_s'])}; the loss is that "
        "of a stand-in, logistic regression on breast_cancer"
    )
    return path


def latency_words(latency_s: float) -> str:
    """What is assumed of the latency."""
    return f"{latency_s:g} s of latency" if latency_s else "no latency (--latency-s gives one)"


def _show(advice: "Advice", study: "Study") -> None:
    from elastic_consistency.report.advice_page import CAUSES, AdviceTables

    out = console()
    out.print(f"[bold]{advice.answer}[/bold]")
    if advice.ties:
        out.print(f"Not to be told from {advice.best}: {', '.join(advice.ties)}.")
    for sentence in filter(None, (advice.limits, advice.assumed)):
        out.print(sentence)
    tables = AdviceTables(advice, study)
    headings = (
        "contender",
        "time to target [s]",
        "saving",
        "step size>",
        "p99 staleness\n[steps]>",
    )
    out.print(table("Fastest first", *headings, rows=tables.ranking()))
    out.print(table(tables.causes_title(), *CAUSES[:-1], f"{CAUSES[-1]}>", rows=tables.causes()))
    out.print(f"Breaks first: {advice.weakest}.")
    out.print(f"Gradients a second, asynchronous over baseline: {tables.throughput()}")
    headings = ("theorem", "binding assumption", "largest\nstep size>", "says something\nup to>")
    out.print(table("Step sizes of the theorems", *headings, rows=tables.steps()))
    out.print(table("Constants to paste", "constant", "value>", "why", rows=tables.settings()))
