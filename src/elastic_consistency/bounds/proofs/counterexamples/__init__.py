"""Concrete systems that attain a bound, or break it where an assumption is missing."""

from elastic_consistency.bounds.proofs.counterexamples.catalogue import systems_for
from elastic_consistency.bounds.proofs.counterexamples.system import System

__all__ = ["System", "systems_for"]
