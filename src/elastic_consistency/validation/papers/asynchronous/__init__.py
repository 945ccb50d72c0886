"""Asynchronous optimisation: times, delays, decentralised methods, and later results."""

from elastic_consistency.validation.papers.asynchronous import (
    decentralised,
    hardware,
    large_cluster,
    least_squares,
    rates,
    staleness,
    time_complexity,
    waiting,
)
from elastic_consistency.validation.papers.claim import PaperClaim

CLAIMS: tuple[PaperClaim, ...] = (
    *large_cluster.CLAIMS,
    *decentralised.CLAIMS,
    *rates.CLAIMS,
    *staleness.CLAIMS,
    *waiting.CLAIMS,
    *least_squares.CLAIMS,
    *time_complexity.CLAIMS,
    *hardware.CLAIMS,
)
