"""`elastic calibrate`: a cluster that fits what was measured."""

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.failures import BadInputError
from elastic_consistency.cli.output import Json, console, print_json, table
from elastic_consistency.cli.waiting import clock_bar

if TYPE_CHECKING:
    from elastic_consistency.studies.traces import StepTimes
    from elastic_consistency.studies.traces.fitting import Fit
    from elastic_consistency.studies.traces.table_columns import Columns

_Trace = Annotated[
    list[Path],
    typer.Argument(
        help="Kineto or Chakra (one file a rank), a table (CSV, parquet), or PipeDream."
    ),
]
_Output = Annotated[
    Path | None, typer.Option(help="Write a study of this cluster here.", dir_okay=False)
]
_SecondsPerUnit = Annotated[
    float | None, typer.Option(help="If the name of the time column has no unit.")
]


def calibrate(
    trace: _Trace,
    output: _Output = None,
    worker_column: Annotated[str | None, typer.Option(help="Of a table.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Of a table.")] = None,
    seconds_per_unit: _SecondsPerUnit = None,
    latency_s: Annotated[float | None, typer.Option(help="Of every link; for --output.")] = None,
    rtt: Annotated[
        Path | None, typer.Option(help="Matrix of round-trip times, s, instead of --latency-s.")
    ] = None,
    bandwidth: Annotated[float, typer.Option(help="Bytes a second of every link.")] = inf,
    bytes_sent: Annotated[float, typer.Option(help="Bytes of the model and of an update.")] = 0.0,
    workers: Annotated[int | None, typer.Option(help="Number of workers in the study.")] = None,
    empirical: Annotated[bool, typer.Option("--empirical", help="Keep the data as laws.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw quantiles of data and laws here, as .svg or .png.")
    ] = None,
    json: Json = False,
) -> None:
    """Fit computation times to a trace, say how well they fit, and write a study."""
    from elastic_consistency.studies.expected_reading import seconds_of_traces
    from elastic_consistency.studies.on_disk.whole_files import write_whole
    from elastic_consistency.studies.traces.table_columns import Columns

    _require_drawable(plot)
    columns = Columns(worker_column, time_column, seconds_per_unit)
    sizes = {"bandwidth_bytes_per_s": bandwidth, "bytes_sent": bytes_sent, "workers": workers}
    _require_sizes(workers, bandwidth, bytes_sent)  # before what may take minutes
    links = {} if output is None else _latencies(latency_s, rtt)
    long = seconds_of_traces(trace, lambda piece: _fitted([piece], columns))
    with clock_bar("reading and fitting", long, quiet=json):
        times, fits = _fitted(trace, columns)
    if output is not None:
        write_whole(output, _study(times, sizes | links, empirical=empirical))
    if plot is not None:
        write_whole(plot, _drawing(times, fits, plot.suffix))
    return print_json(_record(times, fits)) if json else _show(times, fits, output)


def _fitted(
    paths: list[Path], columns: "Columns"
) -> tuple["StepTimes", tuple[tuple["Fit", ...], ...]]:
    from elastic_consistency.studies.traces import read_trace
    from elastic_consistency.studies.traces.fitting import fit_laws

    times = read_trace(paths, columns)
    return times, tuple(fit_laws(seconds) for seconds in times.seconds)


def _require_drawable(plot: Path | None) -> None:
    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise BadInputError(f"--plot must end in .svg or .png, got {plot}")


def _require_sizes(workers: int | None, bandwidth: float, bytes_sent: float) -> None:
    if workers is not None and workers < 1:
        raise BadInputError(f"--workers must be a number >= 1, got {workers}")
    if not bandwidth > 0:
        raise BadInputError(f"--bandwidth must be bytes a second > 0, got {bandwidth}")
    if not 0 <= bytes_sent < inf:
        raise BadInputError(f"--bytes-sent must be a finite number >= 0, got {bytes_sent}")


def _drawing(times: "StepTimes", fits: tuple[tuple["Fit", ...], ...], suffix: str) -> str | bytes:
    from elastic_consistency.report.drawing import standalone
    from elastic_consistency.report.plots.quantiles import quantile_plot

    figure = quantile_plot(times.workers, times.seconds, [own[0].law for own in fits])
    return figure.png if suffix == ".png" else standalone(figure.svg)


def _study(times: "StepTimes", options: dict[str, Any], *, empirical: bool) -> str:
    from elastic_consistency.studies.traces.fitted_study import fitted_study
    from elastic_consistency.studies.traces.fitting import law_of

    laws = tuple(law_of(seconds, empirical=empirical) for seconds in times.seconds)
    return fitted_study(times, laws, **options)


def _latencies(latency_s: float | None, rtt: Path | None) -> dict[str, Any]:
    """Latency to the server of each worker in turn, and between workers, s."""
    from elastic_consistency.studies.traces.rtt import place_server, read_rtt

    if rtt is not None and latency_s is None:
        placed = place_server(read_rtt(rtt))
        return {"latencies_s": placed.latencies_s, "between_s": placed.between_s}
    if rtt is not None or latency_s is None or not 0 <= latency_s < inf:
        raise BadInputError(
            f"--latency-s must be seconds >= 0 with --output, or --rtt a file, got {latency_s}"
        )
    return {"latencies_s": (latency_s,), "between_s": latency_s}


def _record(times: "StepTimes", fits: tuple[tuple["Fit", ...], ...]) -> dict[str, Any]:
    from elastic_consistency.studies.traces.fitted_study import law_text

    return {
        "source": times.source,
        "kind": times.kind,
        "records": times.tally,
        "workers": [
            {
                "worker": name,
                "steps": len(seconds),
                "mean_s": seconds.mean(),
                "deviation_s": seconds.std(),
                "mean_wait_s": waits.mean() if len(waits) else None,
                "fits": [
                    {
                        "law": law_text(f.law),
                        "distance": f.distance,
                        "mean_error": f.mean_error,
                        "tail": f.tail,
                        "holds": f.holds,
                    }
                    for f in own
                ],
            }
            for name, seconds, waits, own in zip(
                times.workers, times.seconds, times.waits, fits, strict=True
            )
        ],
    }


def _show(times: "StepTimes", fits: tuple[tuple["Fit", ...], ...], output: Path | None) -> None:
    from elastic_consistency.report.wording import number
    from elastic_consistency.studies.traces.fitted_study import law_words

    rows = [
        (
            name,
            len(seconds),
            number(float(seconds.mean())),
            number(float(seconds.std())),
            number(own[0].distance),
            number(own[0].band),
            f"{own[0].tail:.0%}",
        )
        for name, seconds, own in zip(times.workers, times.seconds, fits, strict=True)
    ]
    headings = ("worker", "steps>", "mean [s]>", "deviation [s]>")
    out = console()
    fit = ("distance>", "5 % at>", "tail>")
    out.print(table(f"{times.source} ({times.kind})", *headings, *fit, rows=rows))
    laws = [(name, law_words(own[0].law)) for name, own in zip(times.workers, fits, strict=True)]
    out.print(table("", "worker", "nearest law", rows=laws))
    tally = times.tally
    skipped = "; ".join(f"{count} {reason}" for reason, count in tally.skipped.items()) or "none"
    out.print(f"Records: {tally.read} read, {tally.kept} used. Skipped: {skipped}.", markup=False)
    if output is not None:
        out.print(f"Wrote {output}. Next: elastic advise {output}", markup=False, soft_wrap=True)
