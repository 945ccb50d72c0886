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
    app.command(epilog="Example: elastic demo --slowdown 3 --output my-demo")(demo)
    app.command(epilog="Example: elastic new two_nodes")(new)
    app.command("run", epilog="Example: elastic run two_nodes.toml --output answer")(run_study)
    calibrate_example = "calibrate steps.csv --output mine.toml --latency-s 0.0005"
    app.command(epilog=f"Example: elastic {calibrate_example}")(calibrate)
    app.command(epilog="Example: elastic advise two_nodes.toml")(advise)
    app.command(epilog="Example: elastic simulate two_nodes.toml --seed 3")(simulate)
    replay_example = "replay asynchronous-0.parquet --study two_nodes.toml --ranks 2"
    app.command(epilog=f"Example: elastic {replay_example}")(replay)
    live_example = "live server --workers 3 --pause-s 0.01 --pause-s 0.01 --pause-s 0.1"
    app.command(epilog=f"Example: elastic {live_example}")(live)
    predict_example = "predict server --pause-s 0.02 --pause-s 0.02 --pause-s 0.05"
    app.command(epilog=f"Example: elastic {predict_example}")(predict)
    app.command(epilog="Example: elastic compare live-server.parquet simulated.parquet")(compare)
    app.command(epilog="Example: elastic inspect elastic-demo/asynchronous-0.parquet")(inspect)
    app.command(epilog="Example: elastic report live-server.parquet")(report)
    app.add_typer(bounds_verbs(), name="bounds")
    app.add_typer(papers_verbs(), name="papers")
    app.command(epilog="Example: elastic explain staleness")(explain)
    return app


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
