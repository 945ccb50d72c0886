"""A schedule as a few lines of text, for the messages of failed property tests."""

from elastic_consistency.schedule import Op, Schedule

_LONGEST = 40


def timeline_text(schedule: Schedule, *, longest: int = _LONGEST) -> str:
    """One line an instant, one column a worker, the server last.

    Args:
        schedule: A small schedule.
        longest: Lines shown; the rest is counted.
    """
    n_workers = schedule.metadata.n_workers
    lines: list[tuple[str, list[str]]] = []
    for row in range(len(schedule.rows)):
        word = _word(schedule, row)
        if not word:
            continue
        time = f"{schedule.rows.time[row]:.6g}"
        actor = int(schedule.rows.worker[row])
        column = actor if actor >= 0 else n_workers
        # Whatever happens at one instant shares a line until a column is taken.
        if not lines or lines[-1][0] != time or any(lines[-1][1][column:]):
            lines.append((time, [""] * (n_workers + 1)))
        lines[-1][1][column] = word
    return _table(lines, n_workers, longest)


def _word(schedule: Schedule, row: int) -> str:
    rows = schedule.rows
    op, job, message = Op(rows.op[row]), int(rows.job[row]), int(rows.message[row])
    what = f"#{job}" if job >= 0 else f"m{message}" if message >= 0 else ""
    if op is Op.READ:
        return f"read {what}"
    if op is Op.ADD:
        return f"add {what}" + _scaled(rows.weight[row])
    if op in (Op.PUT, Op.MIX):
        return f"{op.name.lower()} {what}" + _scaled(rows.weight[row])
    return "crash" if op is Op.CRASH else ""


def _scaled(weight: float) -> str:
    return "" if weight == 1 else f" x {weight:.3g}"


def _table(lines: list[tuple[str, list[str]]], n_workers: int, longest: int) -> str:
    head = ["time", *(f"worker {k}" for k in range(n_workers)), "server"]
    body = [[time, *cells] for time, cells in lines[:longest]]
    widths = [max(len(row[k]) for row in [head, *body]) for k in range(len(head))]
    used = [k for k in range(len(head)) if any(row[k] for row in body) or not body]
    text = "\n".join(
        "  ".join(row[k].ljust(widths[k]) for k in used).rstrip() for row in [head, *body]
    )
    hidden = len(lines) - longest
    return text + (f"\n... and {hidden} more lines" if hidden > 0 else "")
