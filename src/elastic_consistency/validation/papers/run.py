"""Running rows: each is written as soon as it is finished, and never computed twice."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from threadpoolctl import threadpool_limits

from elastic_consistency.validation.papers.claim import Effort, PaperClaim
from elastic_consistency.validation.papers.records import Record, key_of, load, record_of, save

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

    Raises:
        OSError: If nothing can be written there; before anything is computed.
    """
    effort = effort or Effort()
    folder.mkdir(parents=True, exist_ok=True)
    missing = {c.name: c.seconds for c in claims if load(c, effort, folder) is None}
    work, done = sum(missing.values()) or 1.0, 0.0
    for claim in claims:
        listener(claim.name, done / work)
        # Another process may have finished it meanwhile.
        record = load(claim, effort, folder)
        if record is None:
            record = _compute(claim, effort)
            save(record, folder)
        done += missing.get(claim.name, 0.0)
        yield record
    listener("done", 1.0)


def seconds_of_claims(claims: tuple[PaperClaim, ...], folder: Path, *, effort: Effort) -> float:
    """Seconds that the claims without a record take on the machine that the catalogue knows.

    Args:
        claims: The rows.
        folder: Where finished records are.
        effort: How much is computed; the catalogue's times are those of the scaled-down work.
    """
    return sum(claim.seconds for claim in claims if load(claim, effort, folder) is None)


def _compute(claim: PaperClaim, effort: Effort) -> Record:
    # The key is that of the code as it was when the experiment began.
    key, begin = key_of(claim, effort), perf_counter()
    # Arrays are small: threads of the BLAS wait for each other and make a row ten times slower.
    with threadpool_limits(1):
        finding = claim.experiment(effort, claim.value)
    return record_of(claim, finding, effort, perf_counter() - begin, key=key)
