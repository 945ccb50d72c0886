"""`elastic bounds`: the catalogue of theorems."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency._checks import nearest
from elastic_consistency.cli.bounds_tables import (
    print_whole,
    row_of,
    search_of,
    show_report,
    show_search,
)
from elastic_consistency.cli.completion import bounds_from
from elastic_consistency.cli.failures import FAILED, BadInputError
from elastic_consistency.cli.output import Json, console, print_json, table
from elastic_consistency.cli.waiting import measured_bar

if TYPE_CHECKING:
    from elastic_consistency.bounds import Bound

_Name = Annotated[
    str,
    typer.Argument(help="Name of a bound; see elastic bounds list.", autocompletion=bounds_from),
]
_Names = Annotated[list[str], typer.Argument(help="Bounds.", autocompletion=bounds_from)]
_NamesIfAny = Annotated[
    list[str] | None,
    typer.Argument(help="Bounds; all without one.", autocompletion=bounds_from),
]
_Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SYMBOL=NUMBER", help="Value of a symbol; repeat it."),
]


def bounds_verbs() -> typer.Typer:
    """The verbs of `elastic bounds`."""
    verbs = typer.Typer(
        help="Convergence bounds with explicit constants and checked proofs.",
        no_args_is_help=True,
        epilog="Example: elastic bounds evaluate server_started_gap --set n=16 --set M=2",
    )
    example = "Example: elastic bounds "
    verbs.command("list", epilog=example + "list")(list_bounds)
    verbs.command(epilog=example + "show strongly_convex_single_step")(show)
    verbs.command(epilog=example + "evaluate server_started_gap --set n=16 --set M=2")(evaluate)
    verbs.command(epilog=example + "verify server_started_gap --mutants")(verify)
    compare_example = "compare server_started_gap server_applied_gap --set n=16 --set M=2"
    verbs.command(epilog=f"{example}{compare_example} --set tau_max=40")(compare)
    plan_example = (
        "plan convex_sharp_step --target 0.01 --set L=2 --set R0=1 --set B=1 --set sigma=0.5"
    )
    verbs.command(epilog=example + plan_example)(plan)
    verbs.command(epilog=example + "search strongly_convex_single_step")(search)
    return verbs


def list_bounds(json: Json = False) -> None:
    """List every bound: what it bounds, and whether a proof is checked."""
    from elastic_consistency.bounds import list_bounds as every_bound

    found = [
        {
            "name": bound.name,
            "title": bound.title,
            "quantity": bound.quantity,
            "sequence": bound.sequence,
            "proof": bound.proof is not None,
        }
        for bound in every_bound()
    ]
    if json:
        print_json(found)
        return
    rows = [
        (b["name"], b["quantity"].value, b["sequence"].value, "checked" if b["proof"] else "none")
        for b in found
    ]
    print_whole(table("", "bound", "bounds the", "sequence", "proof", rows=rows))


def show(name: _Name, json: Json = False) -> None:
    """Show one bound: statement, assumptions, source and status, derivation, an example."""
    from elastic_consistency.bounds import explain

    bound = _bound(name)
    if json:
        print_json(_record(bound))
    else:
        console().print(explain(bound), markup=False, soft_wrap=True)


def evaluate(name: _Name, values: _Values = None, json: Json = False) -> None:
    """Evaluate one bound; a violated assumption is refused with exit code 2."""
    bound, numbers = _bound(name), _numbers(values or [])
    value = bound.evaluate(numbers)
    record = {"bound": name, "values": numbers, "value": value, "quantity": bound.quantity}
    if json:
        print_json(record)
    else:
        console().print(f"{_statement(bound)}\n  = {value:.6g}", markup=False, soft_wrap=True)


def verify(
    names: _NamesIfAny = None,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="List every mutant and the counterexample that rejects it."),
    ] = False,
    json: Json = False,
) -> None:
    """Check proofs, units and relations by machine, and what no altered bound may claim.

    A mutant is a bound that claims more: a coefficient 10 % smaller, an exponent moved, an
    assumption weakened by 10 %, a requirement left out. It is rejected by a concrete system that
    violates it, or sharper where a certificate proves it all the same, or undecided; the undecided
    share measures how loose a bound may be. Exit code 1 if a check fails.
    """
    from elastic_consistency.bounds import list_bounds as every_bound
    from elastic_consistency.bounds import verify_all

    chosen = [_bound(name) for name in names] if names else every_bound()
    with measured_bar(quiet=json) as progress:
        report = verify_all(bounds=chosen, listener=progress.say)
    if json:
        rows = [row_of(row, mutants=mutants) for row in report.rows]
        print_json(
            {
                "verified": not report.failures,
                "bounds": rows,
                "relations": report.relations,
                "failures": report.failures,
            }
        )
    else:
        show_report(report, mutants=mutants)
    if report.failures:
        raise typer.Exit(FAILED)


def search(name: _Name, json: Json = False) -> None:
    """Search better multipliers for the proof of a bound, by linear programming at points.

    A proof step adds premises, each times a multiplier. For each step that ends in a constant,
    and at points all over the assumed region, a linear programme finds the multipliers that
    prove the smallest constant: first with the premises that the step uses, then with every
    lemma about the loss that such systems satisfy, at all points of the step, and with Young's
    inequality at several ratios. A gain that is also below all other bounds of the catalogue
    is a new theorem at these numbers: write its multipliers as formulas and let verify check.
    """
    from elastic_consistency.bounds.proofs.multiplier_search import search_bound

    bound = _bound(name)
    if bound.proof is None:
        raise BadInputError(f"NAME must be a bound with a certificate, got {name!r}, without one")
    found = search_bound(bound)
    if json:
        print_json({"bound": name, "steps": [search_of(one) for one in found]})
        return
    show_search(found)


def plan(
    name: _Name,
    target: Annotated[float, typer.Option(help="What the bounded quantity shall not exceed.")],
    values: _Values = None,
    worker_seconds: Annotated[
        list[float] | None,
        typer.Option(help="Seconds of a worker for one gradient; repeat it for each worker."),
    ] = None,
    json: Json = False,
) -> None:
    """Plan a run: the certified step size that needs the fewest steps, their number, the time.

    The time is that of workers that never wait, whose gradients are applied one by one.
    """
    from elastic_consistency.bounds import largest_certified_step
    from elastic_consistency.bounds import plan as find_plan
    from elastic_consistency.bounds.cluster_time import asynchronous_seconds
    from elastic_consistency.bounds.step_size import formulas

    bound, numbers = _bound(name), _numbers(values or [])
    found = find_plan(bound, numbers, target=target)
    seconds = asynchronous_seconds(worker_seconds, found.steps) if worker_seconds else None
    solved = formulas(bound)
    record = {
        "bound": name,
        "largest_certified_step": largest_certified_step(bound, numbers),
        "step_size": found.step_size,
        "steps": found.steps,
        "value": found.bound,
        "seconds": seconds,
        "step_size_formula": solved and str(solved[0]),
        "steps_formula": solved and str(solved[1]),
    }
    if json:
        print_json(record)
        return
    if seconds is None:
        record["seconds"] = "unknown without --worker-seconds"
    for key, value in record.items():
        text = f"{value:.6g}" if isinstance(value, float) else str(value or "found numerically")
        console().print(f"{key.replace('_', ' '):<24}{text}", markup=False, soft_wrap=True)


def compare(
    names: _Names,
    values: _Values = None,
    json: Json = False,
) -> None:
    """Evaluate several bounds at the same values, smallest first."""
    numbers = _numbers(values or [])
    records = [_compared(_bound(name), numbers) for name in names]
    records.sort(key=lambda record: (record["value"] is None, record["value"] or 0.0))
    if json:
        print_json({"values": numbers, "bounds": records})
        return
    rows = [
        (r["bound"], "" if r["value"] is None else f"{r['value']:.6g}", "; ".join(r["failed"]))
        for r in records
    ]
    print_whole(table("", "bound", "value>", "not applicable because it needs", rows=rows))


def _compared(bound: "Bound", numbers: dict[str, float]) -> dict[str, Any]:
    failed = bound.failed_assumptions(numbers)
    value = None if failed else bound.evaluate(numbers)
    return {"bound": bound.name, "value": value, "failed": list(failed)}


def _bound(name: str) -> "Bound":
    from elastic_consistency.bounds import get, list_bounds

    names = [bound.name for bound in list_bounds()]
    if name not in names:
        allowed = f"one of {len(names)} bounds (see elastic bounds list)"
        raise BadInputError(f"NAME must be {allowed}, got {name!r}{nearest(name, names)}")
    return get(name)


def _numbers(settings: list[str]) -> dict[str, float]:
    numbers = {}
    for setting in settings:
        symbol, equals, text = setting.partition("=")
        try:
            numbers[symbol.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            raise BadInputError(f"--set must be SYMBOL=NUMBER, as in M=1.5, got {setting!r}")
    return numbers


def _record(bound: "Bound") -> dict[str, Any]:
    from elastic_consistency.bounds.explain import derivation_lines, example_values

    derivation, example = bound.derivation, example_values(bound)
    return {
        "name": bound.name,
        "title": bound.title,
        "statement": _statement(bound),
        "latex": bound.latex(),
        "symbols": [symbol.name for symbol in bound.symbols],
        "assumptions": [str(relation) for relation in bound.assumptions] or ["none"],
        "requirements": sorted(requirement.value for requirement in bound.requirements),
        "source": f"{bound.source.text} ({bound.status.value})",
        "proof": [step.name for step in derivation.steps] if derivation else ["no certificate"],
        "derivation": derivation_lines(bound),
        "example": {"values": example, "value": bound.evaluate(example)},
        "tight": bound.tight,
        "note": bound.note or "none",
    }


def _statement(bound: "Bound") -> str:
    from elastic_consistency.bounds import Side

    sign = {Side.UPPER: "<=", Side.LOWER: ">=", Side.EQUAL: "="}[bound.side]
    return f"{bound.quantity.value} ({bound.sequence.value}) {sign} {bound.expression}"
