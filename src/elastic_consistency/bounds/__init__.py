"""Bounds as objects: assumptions, explicit constants, sources, and checked derivations."""

from elastic_consistency.bounds.bound import (
    AssumptionError,
    Bound,
    Side,
    Source,
    Status,
    evaluate,
)
from elastic_consistency.bounds.catalogue import get, list_bounds
from elastic_consistency.bounds.explain import explain
from elastic_consistency.bounds.pages import write_pages
from elastic_consistency.bounds.proofs.claims import DerivationError
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.mutants import judge_mutants
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.rate import Rate
from elastic_consistency.bounds.rate_catalogue import list_rates
from elastic_consistency.bounds.relation_catalogue import list_relations
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.step_size import Plan, largest_certified_step, plan, steps_to_target
from elastic_consistency.bounds.verification import Report, verify_all

__all__ = [
    "AssumptionError",
    "Bound",
    "Derivation",
    "DerivationError",
    "Plan",
    "Rate",
    "Region",
    "Report",
    "Requirement",
    "Scope",
    "Side",
    "Source",
    "Status",
    "System",
    "evaluate",
    "explain",
    "get",
    "judge_mutants",
    "largest_certified_step",
    "list_bounds",
    "list_rates",
    "list_relations",
    "plan",
    "steps_to_target",
    "verify_all",
    "write_pages",
]
