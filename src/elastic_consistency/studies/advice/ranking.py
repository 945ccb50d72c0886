"""Is relaxing consistency worth it here? A ranking, its reasons, and constants to paste."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import final

from threadpoolctl import threadpool_limits

from elastic_consistency.bounds import get
from elastic_consistency.simulator import Cluster
from elastic_consistency.studies.advice.settings_to_paste import Setting, settings_to_paste
from elastic_consistency.studies.comparison.contenders import ContenderResult, compare
from elastic_consistency.studies.comparison.divergence import diverged_sentences
from elastic_consistency.studies.comparison.durations import seconds_per_gradient
from elastic_consistency.studies.comparison.savings import Saving, savings
from elastic_consistency.studies.comparison.what_if import (
    LINK_CAUSES,
    WhatIf,
    slowest_link,
    slowest_worker,
    what_if,
)
from elastic_consistency.studies.judging.certified_step import CertifiedStep, certified_step
from elastic_consistency.studies.judging.limits import limits_of
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Certificate, Study
from elastic_consistency.validation import Estimate, paired_difference, ratio_of_means

_LEVEL = 1.1  # a gain of throughput below this is none


@final
@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The answer for one cluster and one problem.

    Attributes:
        answer: Whether relaxing pays, and by how much.
        best: Name of the contender that reaches the target first; "" if none always does.
        ties: Names of those that cannot be told from the best.
        results: Every contender, fastest first, the baseline among them.
        savings: Of each over the baseline.
        throughput_gain: Gradients a second of the asynchronous server over those of the baseline.
        limits: When asynchrony cannot win here, and why; "" if it can.
        assumed: What is taken for granted about the server; "" if nothing is.
        steps: Largest step size of each theorem.
        estimated: Constants that are estimates; nothing is certified if there are any.
        causes: What slows the baseline down.
        weakest: What breaks first: worker and link.
        settings: Constants to paste.
    """

    answer: str
    best: str
    ties: tuple[str, ...]
    results: tuple[ContenderResult, ...]
    savings: tuple[Saving, ...]
    throughput_gain: Estimate
    limits: str
    assumed: str
    steps: tuple[CertifiedStep, ...]
    estimated: tuple[str, ...]
    causes: tuple[WhatIf, ...]
    weakest: str
    settings: tuple[Setting, ...]

    @property
    def diverged(self) -> tuple[str, ...]:
        """One sentence a contender whose runs left the finite numbers."""
        return diverged_sentences(self.results)


@threadpool_limits.wrap(limits=1, user_api="blas")
def advise(study: Study, progress: Progress) -> Advice:
    """Advice for the cluster and the problem of `study`.

    Args:
        study: Its last contender is the baseline; see `usual_ways`.
        progress: Who wants to know how far it is.
    """
    compared = compare(study, progress.part(0.0, 0.9))
    results = tuple(result for result, _ in compared)
    stated = savings(study, results)
    progress.say("looking for causes", 0.9)
    causes = what_if(study, study.contenders[-1])
    gain = _throughput_gain(study, results)
    ranked = sorted(results, key=lambda r: r.time_s.value if r.time_s else float("inf"))
    best = ranked[0].name if ranked[0].time_s else ""
    steps, estimated = _steps(study)
    return Advice(
        answer=_answer(best, results[-1], stated),
        best=best,
        ties=_ties(study, ranked),
        results=tuple(ranked),
        savings=stated,
        throughput_gain=gain,
        limits=_limits(gain),
        assumed=_assumed(study),
        steps=steps,
        estimated=estimated,
        causes=causes,
        weakest=_weakest(study, causes),
        settings=settings_to_paste(study, results),
    )


def _ties(study: Study, ranked: list[ContenderResult]) -> tuple[str, ...]:
    best, *others = ranked
    if best.time_s is None:
        return ()
    return tuple(other.name for other in others if not _is_slower(study, other, best))


def _is_slower(study: Study, other: ContenderResult, best: ContenderResult) -> bool:
    """Whether `other` needs more time than `best`, in pairs, beyond its interval."""
    if other.time_s is None:
        return True
    times = (result.times_s.mean(axis=1) for result in (other, best))
    return paired_difference(*times, confidence=study.confidence).lower > 0


def _throughput_gain(study: Study, results: tuple[ContenderResult, ...]) -> Estimate:
    """Ratio of gradients a second, paired by schedule."""
    first, baseline = study.contenders[0], study.contenders[-1]
    return ratio_of_means(
        seconds_per_gradient(study, baseline),
        seconds_per_gradient(study, first),
        confidence=study.confidence,
        seed=study.seeds.timing[0],
    )


def _answer(best: str, baseline: ContenderResult, stated: tuple[Saving, ...]) -> str:
    if not best:
        return "No contender reached the target in every run: raise the target or the gradients."
    if best == baseline.name:
        return f"Relaxing consistency does not pay here: {best} reaches the target first."
    (own,) = (saving for saving in stated if saving.contender == best)
    return own.sentence


def _limits(gain: Estimate) -> str:
    span = f"[{gain.lower:.3g}, {gain.upper:.3g}]"
    if gain.upper < _LEVEL:
        return (
            f"Not waiting yields {gain.value:.3g} {span} times the gradients a second, so it "
            "cannot win by throughput: the workers are nearly equal, or the links to the server "
            "cost more than the waiting does. What it may still gain, it gains by stepping after "
            "every gradient instead of after every round."
        )
    return ""


def _assumed(study: Study) -> str:
    cluster = study.cluster
    narrow = any(isfinite(each.uplink.bandwidth_bytes_per_s) for each in cluster.workers)
    unlimited = cluster.n_workers > 1 and cluster.server_bandwidth_bytes_per_s == inf
    if not (unlimited and narrow and study.payload.update_bytes):
        return ""
    return (
        "Taken for granted: the server serves all workers at once, each at the full bandwidth of "
        "its link, as one that is spread over many machines does; server_bandwidth_bytes_per_s "
        "of the cluster sets what they share."
    )


def _steps(study: Study) -> tuple[tuple[CertifiedStep, ...], tuple[str, ...]]:
    certificate = study.certificate or Certificate()
    if study.oracle.minimiser() is None:
        return (), tuple(sorted(study.oracle.constants().estimated))
    limits = limits_of(study.oracle, certificate.radius)
    constants = limits.constants
    values = {
        "L": constants.smoothness,
        "c": constants.strong_convexity,
        "sigma": constants.variance**0.5,
        "B": (study.cluster.n_workers - 1) * constants.second_moment**0.5,
        "T": study.contenders[0].jobs,
        "Delta": limits.start_excess,
        "R0": limits.start_distance,
    }
    names = ["nonconvex_single_step"]
    if constants.strong_convexity > 0:
        names.insert(0, "strongly_convex_single_step")
    steps = tuple(
        certified_step(get(n), values, ceiling=limits.ceiling(get(n).quantity)) for n in names
    )
    return steps, tuple(sorted(constants.estimated))


def _weakest(study: Study, causes: tuple[WhatIf, ...]) -> str:
    worker, link = _worker_words(study.cluster), _link_words(study)
    gains = [cause for cause in causes if cause.gain is not None and cause.gain.lower > 0]
    if not gains:
        unsure = "none of the causes that were tried costs the baseline anything for sure"
        return f"{worker}; {link}; {unsure}"
    top = max(gains, key=lambda cause: cause.gain.value if cause.gain else 0.0)
    assert top.gain is not None
    words = (link, worker) if top.cause in LINK_CAUSES else (worker, link)
    most = f"synchronous training would gain most from {top.cause} ({top.gain.value:.1%})"
    return "; ".join((*words, most))


def _worker_words(cluster: Cluster) -> str:
    means = [each.mean_seconds() for each in cluster.workers]
    alike = min(means) == max(means)
    return "all workers are equally fast" if alike else f"worker {slowest_worker(cluster)}"


def _link_words(study: Study) -> str:
    links = {(each.uplink, each.downlink) for each in study.cluster.workers}
    if len(links) == 1:
        return "the links, which are all alike"
    return f"the link of worker {slowest_link(study.cluster, study.payload)}"
