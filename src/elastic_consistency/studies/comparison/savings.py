"""Does it pay? Each contender against the baseline, in pairs, and the answer in a sentence."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.studies.comparison.contenders import ContenderResult
from elastic_consistency.studies.study import Study
from elastic_consistency.validation import Estimate, saving


@final
@dataclass(frozen=True, slots=True)
class Saving:
    """What one contender saves over the baseline.

    Attributes:
        contender: Who.
        baseline: Over whom.
        share: 1 - E[time] / E[time of the baseline]; None unless every run of both reached
            the target.
        pays: True if the whole interval says so, False if all of it says the contrary or the
            contender does not get there, None if it cannot be told.
        sentence: The answer in words.
    """

    contender: str
    baseline: str
    share: Estimate | None
    pays: bool | None
    sentence: str


def savings(study: Study, results: tuple[ContenderResult, ...]) -> tuple[Saving, ...]:
    """The saving of every contender but the last one over the last one."""
    *challengers, baseline = results
    return tuple(_saving(study, challenger, baseline) for challenger in challengers)


def _saving(study: Study, challenger: ContenderResult, baseline: ContenderResult) -> Saving:
    if challenger.time_s is None or baseline.time_s is None:
        return _without_interval(challenger, baseline)
    # Replicates of one schedule share its delays: pairs of schedules are what is independent.
    share = saving(
        challenger.times_s.mean(axis=1),
        baseline.times_s.mean(axis=1),
        confidence=study.confidence,
        seed=study.seeds.timing[0],
    )
    pays = None if share.lower <= 0 <= share.upper else share.lower > 0
    sentence = _sentence(challenger.name, baseline.name, share, pays)
    return Saving(challenger.name, baseline.name, share, pays, sentence)


def _sentence(who: str, whom: str, share: Estimate, pays: bool | None) -> str:  # noqa: FBT001
    if not math.isfinite(share.lower):
        few = f"{share.n_replicates} schedules are too few for an interval"
        return f"It cannot be told whether {who} pays here: {few}."
    span = f"between {share.lower:.1%} and {share.upper:.1%}"
    sure = f"{share.confidence:.0%} confidence, approximate, {share.n_replicates} paired schedules"
    if pays is None:
        return (
            f"It cannot be told whether {who} pays here: it saves {span} of the time of {whom} "
            f"({sure})."
        )
    if pays:
        return f"It pays here: {who} saves {span} of the time of {whom} ({sure})."
    longer = f"between {-share.upper:.1%} and {-share.lower:.1%}"
    return f"It does not pay here: {who} takes {longer} longer than {whom} ({sure})."


def _without_interval(challenger: ContenderResult, baseline: ContenderResult) -> Saving:
    there = challenger.reached == challenger.runs
    counts = (
        f"{challenger.name} reached the target in {challenger.reached} of {challenger.runs} runs, "
        f"{baseline.name} in {baseline.reached} of {baseline.runs}"
    )
    pays = None
    if there and baseline.reached < baseline.runs and _always_first(challenger, baseline):
        pays, start = True, "It pays here, by an amount that has no interval"
    elif not there and baseline.reached == baseline.runs:
        pays, start = False, "It does not pay here"
    else:
        start = "No saving can be stated"
    return Saving(challenger.name, baseline.name, None, pays, f"{start}: {counts}.")


def _always_first(challenger: ContenderResult, baseline: ContenderResult) -> bool:
    return bool(np.all(challenger.times_s < baseline.times_s))
