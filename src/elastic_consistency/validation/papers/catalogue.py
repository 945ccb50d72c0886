"""All claims, paper by paper."""

from elastic_consistency._checks import nearest
from elastic_consistency.validation.papers import (
    asynchronous,
    elastic_consistency,
    energy_matching,
    sparsified,
)
from elastic_consistency.validation.papers.claim import PaperClaim

CLAIMS: tuple[PaperClaim, ...] = (
    *elastic_consistency.CLAIMS,
    *sparsified.CLAIMS,
    *energy_matching.CLAIMS,
    *asynchronous.CLAIMS,
)


def find(name: str) -> PaperClaim:
    """The claim of that name.

    Raises:
        KeyError: If there is none; names the one that is near.
    """
    known = {claim.name: claim for claim in CLAIMS}
    if name not in known:
        allowed = f"one of {len(known)} claims (see elastic papers list)"
        raise KeyError(f"NAME must be {allowed}, got {name!r}{nearest(name, known)}")
    return known[name]
