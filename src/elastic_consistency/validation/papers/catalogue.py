"""All claims, paper by paper."""

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
        KeyError: If there is none; names those that there are.
    """
    known = {claim.name: claim for claim in CLAIMS}
    if name not in known:
        raise KeyError(f"{name!r} is no claim; known are {', '.join(known)}")
    return known[name]
