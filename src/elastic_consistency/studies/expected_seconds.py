"""How long a study will take, from a short run of each of its contenders."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, final

from threadpoolctl import threadpool_limits

from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.comparison.runs import run_loss, schedule_of
from elastic_consistency.studies.comparison.what_if import simulations
from elastic_consistency.studies.on_disk.finished_work import FinishedWork
from elastic_consistency.studies.study import Certificate, Contender, Study

_PILOT = 16  # a pilot has a sixteenth of the gradients, and at least three a worker
_LONGEST_PILOT = 20_000


@final
@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run of a contender.

    Attributes:
        simulating: Of its schedule.
        executing: Of one execution of it.
    """

    simulating: float
    executing: float


def seconds_of_study(study: Study) -> float:
    """Seconds that `run_study` will take without replays, roughly; see `seconds_of_advice`."""
    costs = _costs(study)
    judged = 0.0 if study.certificate is None else _judged(study, study.certificate, costs[0])
    return _compared(study, costs) + _causes(study, costs[-1]) + judged


def seconds_of_advice(study: Study) -> float:
    """Seconds that `advise` will take, roughly.

    Short pilots are timed and scaled by the gradients and the runs of the whole. Runs that stop
    early at the target make it less.
    """
    costs = _costs(study)
    return _compared(study, costs) + _causes(study, costs[-1])


def seconds_of_comparison(study: Study) -> float:
    """Seconds that `compare` will take, roughly; see `seconds_of_advice`."""
    return _compared(study, _costs(study))


def seconds_of_simulation(
    study: Study, contender: Contender, work: Callable[[Schedule], Any]
) -> float:
    """Seconds that one schedule will take, roughly.

    Args:
        study: Its cluster.
        contender: Its protocol and its number of gradients.
        work: What is done with the schedule then.
    """
    unkept, seed = replace(study, finished=FinishedWork()), study.seeds.tuning[0]
    short, schedule = _pilot(unkept, contender, seed)
    work(schedule)  # pays for what is loaded
    seconds = _seconds_of(lambda: work(schedule_of(unkept, short, seed)))
    return contender.jobs / short.jobs * seconds


@threadpool_limits.wrap(limits=1, user_api="blas")
def _costs(study: Study) -> list[Cost]:
    unkept = replace(study, finished=FinishedWork())
    return [cost_of(unkept, contender) for contender in study.contenders]


def cost_of(study: Study, contender: Contender) -> Cost:
    """What one run of `contender` costs, from a pilot."""
    seed = study.seeds.tuning[0]
    step_size = min(study.step_shares) / study.oracle.constants().smoothness
    samples = study.samples(contender, seed)

    def execute() -> Any:
        return run_loss(study, short, schedule, step_size, sample_seeds=samples)

    short, schedule = _pilot(study, contender, seed)  # the first one pays for what is loaded
    execute()
    scale = contender.jobs / short.jobs
    return Cost(
        scale * _seconds_of(lambda: schedule_of(study, short, seed)),
        scale * _seconds_of(execute),
    )


def _pilot(study: Study, contender: Contender, seed: int) -> tuple[Contender, Schedule]:
    """A short run; the whole one where a protocol refuses what is less than one of its rounds."""
    least, share = 3 * study.cluster.n_workers, min(contender.jobs // _PILOT, _LONGEST_PILOT)
    short = replace(contender, jobs=min(contender.jobs, max(least, share)))
    try:
        return short, schedule_of(study, short, seed)
    except ValueError:
        return contender, schedule_of(study, contender, seed)


def _compared(study: Study, costs: list[Cost]) -> float:
    timing, tuning = len(study.seeds.timing), len(study.seeds.tuning)
    executions = timing + tuning * len(study.step_shares)
    return sum((timing + tuning) * c.simulating + executions * c.executing for c in costs)


def _causes(study: Study, baseline: Cost) -> float:
    count = simulations(study, study.contenders[-1])
    return count * len(study.seeds.timing) * baseline.simulating


def _judged(study: Study, certificate: Certificate, cost: Cost) -> float:
    gradients = certificate.jobs * certificate.replicates
    return cost.executing * gradients / (study.contenders[0].jobs * study.seeds.replicates)


def _seconds_of(work: Callable[[], Any]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin
