"""What goes wrong between ranks, said once and clearly."""

from collections.abc import Mapping
from typing import final


@final
class ContactLostError(ConnectionError):
    """A rank waited for another one and did not get an answer.

    Attributes:
        row: Row of the schedule at which it waited, -1 for none.
    """

    def __init__(self, what: str, row: int, cause: BaseException) -> None:
        where = f" at row {row}" if row >= 0 else ""
        first_line = (str(cause).splitlines() or [type(cause).__name__])[0]
        super().__init__(f"{what} failed{where}: {first_line}")
        self.row = row


@final
class MismatchError(ValueError):
    """Ranks were about to replay different things."""


@final
class RanksError(RuntimeError):
    """At least one rank failed; the others were stopped.

    Attributes:
        failures: What each failed rank said, or what was seen of it, the first one first.
    """

    def __init__(self, failures: Mapping[int, str], n_ranks: int) -> None:
        lines = "\n".join(f"  rank {rank}: {text}" for rank, text in failures.items())
        super().__init__(f"{len(failures)} of {n_ranks} ranks failed:\n{lines}")
        self.failures = dict(failures)
