"""Elastic consistency: constants B, theorems, schedulers, and version 1's remark."""

from elastic_consistency.validation.papers.claim import PaperClaim
from elastic_consistency.validation.papers.elastic_consistency import (
    constants,
    feedback_curve,
    message_drop,
)

CLAIMS: tuple[PaperClaim, ...] = (
    *constants.CLAIMS,
    *feedback_curve.CLAIMS,
    *message_drop.CLAIMS,
)
