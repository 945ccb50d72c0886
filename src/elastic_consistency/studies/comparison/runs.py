"""One contender on one schedule: the schedule, and how its loss falls."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from elastic_consistency.execution import DivergenceError, Execution
from elastic_consistency.execution.probes.loss import Loss
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator import Payload, Until, simulate
from elastic_consistency.simulator.lock_step import lock_step
from elastic_consistency.studies.comparison.divergence import (
    Place,
    place_as_array,
    place_from,
    place_of,
)
from elastic_consistency.studies.study import Contender, Study

_ITEM_BYTES = 4  # updates travel in single precision


@final
@dataclass(frozen=True, slots=True, eq=False)
class LossRun:
    """The loss of R replicates on one schedule; P looks.

    Attributes:
        reached_s: (R,) seconds until the loss was at most the target; infinity if it never was.
        time_s: (P,) time of each look, s.
        gradients: (P,) gradients that the model had taken in by then.
        loss: (P, R) losses.
        diverged: Where the model left the finite numbers; None if it did not.
    """

    reached_s: np.ndarray
    time_s: np.ndarray
    gradients: np.ndarray
    loss: np.ndarray
    diverged: Place | None


def schedule_of(
    study: Study, contender: Contender, timing_seed: int, step_size: float | None = None
) -> Schedule:
    """The schedule of `contender` with the delays of `timing_seed`.

    Args:
        study: Cluster, problem and payload.
        contender: Who meets whom.
        timing_seed: Of the delays.
        step_size: Of a protocol that asks about gradients, whose schedule is decided while its
            first replicate is executed; the first candidate by default.
    """
    until = Until(jobs=contender.jobs)
    payload = payload_of(study, contender)
    of = (study.cluster, contender.protocol, until, timing_seed, payload)
    if not contender.protocol.asks:
        return study.finished.schedule(
            of,
            lambda: simulate(
                contender.protocol, study.cluster, until=until, seed=timing_seed, payload=payload
            ),
        )
    if step_size is None:
        step_size = study.step_shares[0] / study.oracle.constants().smoothness
    rule, (sample,) = (
        with_step_size(contender.rule, step_size),
        study.samples(contender, timing_seed),
    )
    return study.finished.schedule(
        (*of, study.oracle, rule, contender.codec, sample),
        lambda: lock_step(
            contender.protocol,
            study.cluster,
            study.oracle,
            rule,
            start=study.oracle.start()[None],
            until=until,
            seed=timing_seed,
            sample_seed=sample,
            payload=payload,
            codec=contender.codec,
        ),
    )


def payload_of(study: Study, contender: Contender) -> Payload:
    """What travels for `contender`: its codec sends fewer bytes and takes time to do so.

    The codec compresses the study's own problem; the same ratio and the same work per number
    are taken for the payload of the system that the study has in mind.
    """
    d = study.oracle.dimension
    ratio = contender.codec.wire_bytes(d, _ITEM_BYTES) / (d * _ITEM_BYTES)
    numbers = study.payload.update_bytes / _ITEM_BYTES
    operations = contender.codec.encode_operations(d) / d * numbers
    return replace(
        study.payload,
        update_bytes=study.payload.update_bytes * ratio,
        encode_s=study.payload.encode_s + operations / study.operations_per_s,
    )


def with_step_size(rule: Any, step_size: float) -> Any:
    """`rule` with another step size."""
    return replace(rule, step_size=step_size)


def run_loss(
    study: Study,
    contender: Contender,
    schedule: Schedule,
    step_size: float,
    *,
    sample_seeds: tuple[int, ...],
    stop_at_target: bool = False,
) -> LossRun:
    """Execute `schedule` and watch the loss.

    Args:
        study: Problem and target.
        contender: Rule and codec.
        schedule: Of the contender.
        step_size: Step size.
        sample_seeds: One a replicate.
        stop_at_target: Stop soon after every replicate has reached the target.
    """
    rule = with_step_size(contender.rule, step_size)
    probe = Loss(every=contender.loss_every, target=study.target_loss())
    depends_on = (schedule.digest(), study.oracle, rule, contender.codec, probe)
    found = study.finished.arrays(
        (*depends_on, sample_seeds, stop_at_target),
        lambda: _arrays(
            Execution(
                schedule,
                study.oracle,
                rule,
                seeds=sample_seeds,
                codec=contender.codec,
                probes=(probe,),
            ),
            stop_at_target=stop_at_target,
        ),
    )
    return LossRun(
        reached_s=found["reached_s"],
        time_s=found["time_s"],
        gradients=found["changes"] * gradients_per_change(schedule),
        loss=found["loss"],
        diverged=place_from(found["diverged"]),
    )


def _arrays(execution: Execution, *, stop_at_target: bool) -> dict[str, np.ndarray]:
    # A step size that is too large may overflow on its way to the check that refuses it.
    with np.errstate(over="ignore", invalid="ignore"):
        diverged = _finish(execution, stop_at_target=stop_at_target)
        measured = execution.measurement()
    curve = measured["loss"]
    return {
        "reached_s": measured["time_to_target_s"].values[0],
        "time_s": curve.time,
        "changes": curve.position,
        "loss": curve.values,
        "diverged": place_as_array(diverged),
    }


def gradients_per_change(schedule: Schedule) -> float:
    """Gradients that enter replica 0 with each of its changes, on average."""
    rows = schedule.rows
    changes = (rows.op == Op.STEP) | (rows.op == Op.MIX)
    count = int((changes & (rows.replica == 0)).sum())
    used = int((schedule.jobs.share != 0).sum())
    return used / count if count else 0.0


def _finish(execution: Execution, *, stop_at_target: bool) -> Place | None:
    """Execute to the end, or to the target; return where the model left the finite numbers."""
    try:
        for _ in execution.chunks(512):
            if stop_at_target and _everybody_is_there(execution):
                break
    except DivergenceError as error:
        return place_of(error)
    return None


def _everybody_is_there(execution: Execution) -> bool:
    reached = execution.measurement()["time_to_target_s"].values[0]
    return bool(np.isfinite(reached).all())
