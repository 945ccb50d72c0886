"""The command `elastic`: its verbs, and the way from arguments to an exit code."""

import typer

from elastic_consistency.cli.advise import advise
from elastic_consistency.cli.bounds import bounds_verbs
from elastic_consistency.cli.calibrate import calibrate
from elastic_consistency.cli.compare import compare
from elastic_consistency.cli.demo import demo
from elastic_consistency.cli.explain import explain
from elastic_consistency.cli.failures import exit_code_of
from elastic_consistency.cli.inspect import inspect
from elastic_consistency.cli.live import live
from elastic_consistency.cli.new import new
from elastic_consistency.cli.papers import papers_verbs
from elastic_consistency.cli.predict import predict
from elastic_consistency.cli.replay import replay
from elastic_consistency.cli.report import report
from elastic_consistency.cli.run import run as run_study
from elastic_consistency.cli.simulate import simulate

_HELP = (
    "Does it pay to let workers run ahead of each other, and is it safe?\n\n"
    "Simulates distributed stochastic gradient descent, measures it, and checks what it measures "
    "against convergence bounds with verified proofs. Start with: elastic demo"
)
_EPILOG = (
    "Exit codes: 0 fine; 1 a verdict or a run failed; 2 bad input, with one line on stderr that "
    "says which field, what is allowed and what was given; 130 interrupted. "
    "Every verb takes --json and --help."
)
# What the examples need, and how a newcomer comes by it.
_STUDY = "elastic new two_nodes"
_SIMULATE = "simulate two_nodes.toml --seed 3 --output simulated.parquet"
_SIMULATED = f"{_STUDY}; elastic {_SIMULATE}"
_STEPS = 'write steps.csv: a line "worker,duration_ms", then a line a step, such as "0,104.5"'


def application() -> typer.Typer:
    """The command with all of its verbs."""
    app = typer.Typer(
        name="elastic",
        help=_HELP,
        epilog=_EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # rich help takes longer to load than everything else
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_every_verb)
    app.command(epilog=_example("demo --slowdown 3 --output my-demo"))(demo)
    app.command(epilog=_example("new two_nodes"))(new)
    app.command("run", epilog=_example("run two_nodes.toml --output answer", _STUDY))(run_study)
    calibrate_example = "calibrate steps.csv --output mine.toml --latency-s 0.0005"
    app.command(epilog=_example(calibrate_example, _STEPS))(calibrate)
    app.command(epilog=_example("advise two_nodes.toml", _STUDY))(advise)
    app.command(epilog=_example(_SIMULATE, _STUDY))(simulate)
    replay_example = "replay simulated.parquet --study two_nodes.toml --ranks 2"
    app.command(epilog=_example(replay_example, _SIMULATED))(replay)
    live_example = "live server --workers 3 --pause-s 0.01 --pause-s 0.01 --pause-s 0.1"
    app.command(epilog=_example(live_example))(live)
    predict_example = "predict server --pause-s 0.02 --pause-s 0.02 --pause-s 0.05"
    app.command(epilog=_example(predict_example))(predict)
    compare_example = "compare live-server.parquet simulated.parquet"
    both = f"elastic live server --workers 2; {_SIMULATED}"
    app.command(epilog=_example(compare_example, both))(compare)
    app.command(epilog=_example("inspect simulated.parquet", _SIMULATED))(inspect)
    app.command(epilog=_example("report live-server.parquet", "elastic live server"))(report)
    app.add_typer(bounds_verbs(), name="bounds")
    app.add_typer(papers_verbs(), name="papers")
    app.command(epilog=_example("explain staleness"))(explain)
    return app


def _example(words: str, first: str = "") -> str:
    """The end of a verb's help: an example, and what makes the files that it reads."""
    return f"Example: elastic {words}" + (f"\n\nFirst: {first}" if first else "")


def run(words: list[str]) -> int:
    """Run the verb that `words` begin with, and return the exit code."""
    traceback = "--traceback" in words

    def command() -> object:
        return application()(words, prog_name="elastic", standalone_mode=False)

    return exit_code_of(command, traceback=traceback)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("elastic-consistency"))
        raise typer.Exit


def _every_verb(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
    traceback: bool = typer.Option(
        False, "--traceback", help="Show where in the code an error arose."
    ),
) -> None:
    """What `elastic` itself accepts, before the verb."""
