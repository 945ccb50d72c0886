"""What `elastic bounds verify` and `elastic bounds search` print."""

from typing import TYPE_CHECKING, Any

from elastic_consistency.cli.output import console, table

if TYPE_CHECKING:
    from elastic_consistency.bounds import Report
    from elastic_consistency.bounds.proofs.multiplier_search import Searched
    from elastic_consistency.bounds.verification import Row


def row_of(row: "Row", *, mutants: bool) -> dict[str, Any]:
    """One row of the report for programs, with its mutants if they are asked for."""
    from elastic_consistency.bounds.proofs.mutants import Verdict

    record = {"bound": row.name, "steps": row.steps}
    record |= {verdict.value: row.count(verdict) for verdict in Verdict}
    record |= {"undecided_share": row.undecided_share, "tight": row.tight}
    record |= {"status": row.status, "failure": row.failure or None}
    if mutants:
        record["mutants"] = [
            {
                "kind": judged.mutant.kind,
                "change": judged.mutant.description,
                "verdict": judged.verdict,
                "reason": judged.reason,
            }
            for judged in row.mutants
        ]
    return record


def show_report(report: "Report", *, mutants: bool) -> None:
    """Print the table of the catalogue, then what failed, then the sums."""
    from elastic_consistency.bounds.proofs.mutants import Verdict

    counted = (Verdict.REJECTED, Verdict.SHARPER, Verdict.UNDECIDED)
    headings = ("bound", "steps>", *(f"{verdict.value}>" for verdict in counted), "status")
    rows = [
        (row.name, row.steps, *(row.count(verdict) for verdict in counted), _status(row))
        for row in report.rows
    ]
    out = console()
    print_whole(table("", *headings, rows=rows))
    if mutants:
        judged = [
            (row.name, one.mutant.kind, one.mutant.description, one.verdict.value, one.reason)
            for row in report.rows
            for one in row.mutants
        ]
        print_whole(table("", "bound", "mutant", "change", "verdict", "because", rows=judged))
    for failure in report.failures:
        out.print(f"FAILED: {failure}", markup=False, soft_wrap=True)
    out.print(report.summary(), markup=False, soft_wrap=True)


def search_of(one: "Searched") -> dict[str, Any]:
    """What was found for one proof step, for programs."""
    return {
        "step": one.step,
        "own_premises": one.own,
        "further_premises": one.further,
        "points": one.points,
        "gain_of_own": one.best_own.gain,
        "gain": one.best.gain,
        "at": one.best.values,
        "multipliers": [
            {"premise": words, "multiplier": number} for words, number in one.best.used()
        ],
        "proved": one.proved,
        "catalogue": one.catalogue,
        "sharper_than_the_catalogue": one.is_sharper,
    }


def show_search(found: "tuple[Searched, ...]") -> None:
    """Print one row a proof step, then the multipliers of those that can be improved."""
    headings = ("step", "premises>", "tried besides>", "points>", "own>", "with all>", "sharper")
    words = {True: "YES", False: "no", None: "does not tell"}
    rows = [
        (
            one.step,
            one.own,
            one.further,
            one.points,
            f"{max(one.best_own.gain, 0):.1%}",
            f"{max(one.best.gain, 0):.1%}",
            words[one.is_sharper],
        )
        for one in found
    ]
    title = "Share of the constant that other multipliers save"
    print_whole(table(title, *headings, rows=rows))
    for one in found:
        if one.best.gain > 1e-6:
            _show_multipliers(one)
    if not any(one.is_sharper for one in found):
        console().print("Nothing sharper than the catalogue was found.")


def _show_multipliers(one: "Searched") -> None:
    values = ", ".join(f"{key} = {value:.4g}" for key, value in one.best.values.items())
    lines = [f"{one.step}, largest gain at {values}:"]
    lines += [f"  {number:.6g} x {premise}" for premise, number in one.best.used()]
    if one.proved is not None and one.catalogue is not None:
        name, value = one.catalogue
        proves = f"  proves {one.proved:.6g} for T without limit"
        lines.append(f"{proves}; the catalogue {value:.6g} ({name})")
    console().print("\n".join(lines), markup=False, soft_wrap=True)


def print_whole(found: Any) -> None:
    """Print a table as wide as its content: names stay whole, so that one can search for them."""
    out = console()
    out.width = 1000
    out.print(found)


def _status(row: "Row") -> str:
    if row.failure:
        return "FAILED"
    return row.status.name.lower() + (", tight" if row.tight else "")
