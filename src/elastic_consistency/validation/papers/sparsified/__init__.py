"""Sparsified gradients: what TopK leaves out, and how it learns."""

from elastic_consistency.validation.papers.claim import PaperClaim
from elastic_consistency.validation.papers.sparsified import learning, residuals

CLAIMS: tuple[PaperClaim, ...] = (*residuals.CLAIMS, *learning.CLAIMS)
