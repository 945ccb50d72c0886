"""All claims, paper by paper."""

from difflib import get_close_matches

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
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        allowed = f"one of {len(known)} claims (see elastic papers list)"
        raise KeyError(f"NAME must be {allowed}, got {name!r}{hint}")
    return known[name]
