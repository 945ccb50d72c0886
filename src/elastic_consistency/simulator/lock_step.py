"""Lock-step: timing and values together, for protocols whose timing depends on values."""

from itertools import repeat
from typing import Any, final

from array_api_compat import array_namespace

from elastic_consistency.execution import Executor
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Metadata, Schedule
from elastic_consistency.simulator.answers import AbstractAnswers
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.engine import simulate
from elastic_consistency.simulator.payload import Payload
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.until import Until

LEAST_NORM_SHARE = "least norm share"
Array = Any


@final
class ExecutorAnswers(AbstractAnswers):
    """Answers from an executor that follows the schedule.

    Args:
        executor: One replicate of the run.
        block_sizes: Parameters in each block.
    """

    __slots__ = ("_bounds", "_executor")

    def __init__(self, executor: Executor, block_sizes: tuple[int, ...]) -> None:
        self._executor = executor
        ends = [sum(block_sizes[: k + 1]) for k in range(len(block_sizes))]
        self._bounds = list(zip([0, *ends[:-1]], ends, strict=True))

    def follow(self, rows):
        # The rule scales nothing by staleness, which lock_step has made sure of.
        self._executor.execute(rows, repeat(0))

    def answer(self, question, operands):
        if question != LEAST_NORM_SHARE:
            raise ValueError(f"Only {LEAST_NORM_SHARE!r} can be answered, got {question!r}.")
        n_jobs = operands[0]
        blocks = operands[1 + n_jobs :]
        return min(self._norm_share(job, blocks) for job in operands[1 : 1 + n_jobs])

    def _norm_share(self, job: int, blocks: tuple[int, ...]) -> float:
        """||g restricted to the blocks|| / ||g||; 1 where the gradient is zero."""
        gradient = self._executor.gradient_of(job)
        xp = array_namespace(gradient)
        total = float(xp.sum(gradient * gradient))
        parts = (gradient[:, low:high] for low, high in (self._bounds[b] for b in blocks))
        inside = sum(float(xp.sum(part * part)) for part in parts)
        return (inside / total) ** 0.5 if total > 0 else 1.0


def lock_step(
    protocol: AbstractProtocol,
    cluster: Cluster,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    start: Array,
    until: Until,
    seed: int,
    sample_seed: int | None = None,
    payload: Payload | None = None,
    codec: AbstractCodec | None = None,
) -> Schedule:
    """The schedule of a protocol that asks about gradients; its decisions are recorded.

    Samples are those of an execution with the sample seed. Replaying the schedule needs no
    answers, but holds for this seed and this start only.

    Args:
        protocol: Who meets whom, when and with which weight.
        cluster: The machines.
        oracle: The problem.
        rule: The update rule; it must be additive and scale nothing by staleness.
        start: (1, d) first model.
        until: The limit.
        seed: Seed of the timing, >= 0.
        sample_seed: Seed of the samples, >= 0; that of the timing by default.
        payload: Bytes that travel.
        codec: Compression of updates.

    Raises:
        ValueError: If there is more than one replicate, or the rule does not suit.
    """
    if start.shape[0] != 1:
        raise ValueError(f"lock_step takes one replicate, got {start.shape[0]}.")
    if not rule.additive or rule.scale(7) != 1:
        raise ValueError(f"lock_step takes an additive rule without scaling, got {rule!r}.")

    def follow(metadata: Metadata) -> ExecutorAnswers:
        samples = (seed if sample_seed is None else sample_seed,)
        executor = Executor(metadata, oracle, rule, seeds=samples, start=start, codec=codec)
        return ExecutorAnswers(executor, metadata.block_sizes)

    return simulate(protocol, cluster, until=until, seed=seed, payload=payload, answers=follow)
