"""Bounds as objects: assumptions, explicit constants, sources, and checked derivations."""

from elastic_consistency.bounds.bound import AssumptionError, Bound, Side, Source, Status
from elastic_consistency.bounds.catalogue import get, list_bounds
from elastic_consistency.bounds.claims import DerivationError
from elastic_consistency.bounds.derivation import Derivation
from elastic_consistency.bounds.region import Region
from elastic_consistency.bounds.requirements import Requirement

__all__ = [
    "AssumptionError",
    "Bound",
    "Derivation",
    "DerivationError",
    "Region",
    "Requirement",
    "Side",
    "Source",
    "Status",
    "get",
    "list_bounds",
]
