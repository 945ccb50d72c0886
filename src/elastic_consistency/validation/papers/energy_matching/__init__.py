"""Gradient energy matching: its figures, its dynamics on quadratics, and what needs hardware."""

from elastic_consistency.validation.papers.claim import PaperClaim
from elastic_consistency.validation.papers.energy_matching import dynamics, figures, hardware

CLAIMS: tuple[PaperClaim, ...] = (*figures.CLAIMS, *dynamics.CLAIMS, *hardware.CLAIMS)
