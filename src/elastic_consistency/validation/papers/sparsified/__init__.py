"""Claims of one paper."""

from elastic_consistency.validation.papers.claim import PaperClaim

CLAIMS: tuple[PaperClaim, ...] = ()
