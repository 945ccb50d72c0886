"""What is wrong with a schedule, and at which row."""

from typing import final


@final
class ScheduleError(ValueError):
    """A schedule breaks one of its invariants.

    Attributes:
        rule: Short name of the broken rule, for programs and for reports.
        row: Number of the first offending row, -1 when no single row is to blame.
    """

    def __init__(self, rule: str, message: str, *, row: int = -1) -> None:
        where = f" at row {row}" if row >= 0 else ""
        super().__init__(f"Schedule breaks the rule '{rule}'{where}: {message}")
        self.rule = rule
        self.row = row
