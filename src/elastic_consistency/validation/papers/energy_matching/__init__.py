"""Gradient energy matching: its figures, its dynamics on quadratics, and what needs hardware."""

from elastic_consistency.validation.papers.claim import PaperClaim
from elastic_consistency.validation.papers.energy_matching import (
    dynamics,
    energy_factor,
    fashion,
    figures,
    generalisation,
    halved_batches,
    hardware,
)

CLAIMS: tuple[PaperClaim, ...] = (
    *figures.CLAIMS,
    *energy_factor.CLAIMS,
    *halved_batches.CLAIMS,
    *generalisation.CLAIMS,
    *fashion.CLAIMS,
    *dynamics.CLAIMS,
    *hardware.CLAIMS,
)
