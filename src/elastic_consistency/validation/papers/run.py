"""Running rows: each is written as soon as it is finished, and never computed twice."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from elastic_consistency.validation.papers.claim import Effort, PaperClaim
from elastic_consistency.validation.papers.records import Record, load, record_of, save

Listener = Callable[[str, float], None]


def run_claims(
    claims: tuple[PaperClaim, ...],
    folder: Path,
    *,
    effort: Effort | None = None,
    listener: Listener = lambda _what, _done: None,
) -> Iterator[Record]:
    """The record of each claim, computed now or read from `folder`.

    Whoever is interrupted runs the same again: rows that were finished are read, the others
    computed, and the outcome is the same.

    Args:
        claims: The rows.
        folder: Where records are written, one file a row.
        effort: How much is computed; scaled down by default.
        listener: Called with the row that begins and the share of the work done.
    """
    effort = effort or Effort()
    found = {claim.name: load(claim, effort, folder) for claim in claims}
    missing = sum(claim.seconds for claim in claims if not found[claim.name]) or 1.0
    done = 0.0
    for claim in claims:
        listener(claim.name, done / missing)
        record = found[claim.name]
        if record is None:
            record = _compute(claim, effort)
            save(record, folder)
            done += claim.seconds
        yield record
    listener("done", 1.0)


def _compute(claim: PaperClaim, effort: Effort) -> Record:
    begin = perf_counter()
    finding = claim.experiment(effort, claim.value)
    return record_of(claim, finding, effort, perf_counter() - begin)
