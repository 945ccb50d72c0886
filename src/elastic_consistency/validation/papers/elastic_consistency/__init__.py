"""Elastic consistency: constants B, theorems, schedulers, and version 1's remark."""

from elastic_consistency.validation.papers.claim import PaperClaim
from elastic_consistency.validation.papers.elastic_consistency import (
    accuracy,
    component_accuracy,
    constants,
    feedback_curve,
    message_drop,
    schedulers,
    theorems,
    version_1,
)

CLAIMS: tuple[PaperClaim, ...] = (
    *constants.CLAIMS,
    *feedback_curve.CLAIMS,
    *message_drop.CLAIMS,
    *theorems.CLAIMS,
    *schedulers.CLAIMS,
    *accuracy.CLAIMS,
    *component_accuracy.CLAIMS,
    *version_1.CLAIMS,
)
