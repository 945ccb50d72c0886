"""The whole result of a study, and whether it is fine."""

from dataclasses import dataclass
from typing import Any, final

from elastic_consistency.studies.comparison.contenders import ContenderResult
from elastic_consistency.studies.comparison.divergence import diverged_sentences
from elastic_consistency.studies.comparison.savings import Saving
from elastic_consistency.studies.comparison.what_if import WhatIf
from elastic_consistency.studies.judging.certification import Certification
from elastic_consistency.studies.real_processes.parity_check import ParityCheck
from elastic_consistency.studies.summaries.inert import inert_sentences
from elastic_consistency.validation import Outcome


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyOutcome:
    """What came out of a study.

    Attributes:
        name: Name of the study.
        data: Name of the data.
        target_loss: Loss to be reached.
        infimum: Smallest loss, f*.
        start_loss: Loss of the start.
        target: Target as a share of the way from the start to the smallest loss.
        confidence: Of every interval.
        contenders: One result each.
        savings: Of every contender over the last one.
        certification: Of the first contender; None if none was asked for or possible.
        uncertified: Why there is none; "" if there is one.
        causes: What slows the last contender down.
        parity: Replays on real processes.
        manifest: Seeds, versions and digests.
        files: Names of the files that were written, by what they hold.
    """

    name: str
    data: str
    target_loss: float
    infimum: float
    start_loss: float
    target: float
    confidence: float
    contenders: tuple[ContenderResult, ...]
    savings: tuple[Saving, ...]
    certification: Certification | None
    uncertified: str
    causes: tuple[WhatIf, ...]
    parity: tuple[ParityCheck, ...]
    manifest: dict[str, Any]
    files: dict[str, str]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody has set and should know to be without effect."""
        return inert_sentences(contender.summary for contender in self.contenders)

    @property
    def failures(self) -> tuple[str, ...]:
        """What makes the study fail: divergence, a violated bound, or a replay that differs."""
        verdicts = self.certification.verdicts if self.certification else ()
        violated = [v.sentence for v in verdicts if v.outcome is Outcome.VIOLATED]
        differs = [
            f"the replay of {check.schedule} differs by {check.error:.1e}"
            for check in self.parity
            if check.holds is False
        ]
        return (*diverged_sentences(self.contenders), *self._judged_run(), *violated, *differs)

    def _judged_run(self) -> tuple[str, ...]:
        judged = self.certification
        if judged is None or judged.diverged is None:
            return ()
        return (f"the judged run of {judged.contender} diverged: {judged.diverged.sentence}",)
