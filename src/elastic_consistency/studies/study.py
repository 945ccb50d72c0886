"""What a study compares: contenders on one cluster and one problem, with all of its seeds."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import SGD, AbstractRule
from elastic_consistency.simulator import Cluster, Payload
from elastic_consistency.simulator.protocols import AbstractProtocol
from elastic_consistency.studies.on_disk.finished_work import FinishedWork, digest_of

if TYPE_CHECKING:
    from elastic_consistency.bounds import Bound


@final
@dataclass(frozen=True, slots=True)
class Contender:
    """One algorithm: protocol x rule x codec.

    Attributes:
        name: What reports call it.
        protocol: Who meets whom, when.
        jobs: Gradients after which a run ends, >= 1.
        rule: The update rule; its step size is replaced by the one that is chosen.
        codec: Compression of updates.
        loss_every: Changes of the model from one look at the loss to the next, >= 1.
    """

    name: str
    protocol: AbstractProtocol
    jobs: int
    rule: AbstractRule = field(default_factory=lambda: SGD(1.0))
    codec: AbstractCodec = field(default_factory=Identity)
    loss_every: int = 1

    def __post_init__(self) -> None:
        check(bool(self.name.strip()), self, "name", "a name")
        check(self.jobs >= 1, self, "jobs", "a number of gradients >= 1")
        check(self.loss_every >= 1, self, "loss_every", "a number of changes >= 1")
        if getattr(self.protocol, "asks", False):
            plain = self.rule.additive and self.rule.constant_step
            check(plain, self, "rule", "an additive one of constant step for this protocol")


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """How the first contender is measured against the bounds.

    Attributes:
        jobs: Gradients of the measured run, >= 1.
        replicates: Independent replicates on its schedule, >= 2.
        timing_seed: Seed of its schedule.
        first_sample_seed: Replicate k samples with seed first_sample_seed + k.
        radius: The constants hold on the ball around the minimiser of this radius, in units
            of the distance of the start; > 1. A run that leaves it is not judged.
        error_rate: Probability with which some true bound may be called violated, in (0, 1).
        bounds: Names of the bounds to check; by default all that speak about the contender.
        own_bounds: Bounds beside those of the catalogue, under names of their own.
    """

    jobs: int = 400
    replicates: int = 256
    timing_seed: int = 0
    first_sample_seed: int = 1_000_000
    radius: float = 1.25
    error_rate: float = 0.01
    bounds: tuple[str, ...] = ()
    own_bounds: tuple["Bound", ...] = ()

    def __post_init__(self) -> None:
        check(self.jobs >= 1, self, "jobs", "a number of gradients >= 1")
        check(self._names_are_new(), self, "own_bounds", "bounds under names of their own")
        check(self.replicates >= 2, self, "replicates", "a number of replicates >= 2")
        check(self.radius > 1, self, "radius", "a number > 1")
        check(0 < self.error_rate < 1, self, "error_rate", "a probability in (0, 1)")

    def _names_are_new(self) -> bool:
        if not self.own_bounds:
            return True
        from elastic_consistency.bounds import list_bounds  # loads sympy

        names = [bound.name for bound in (*list_bounds(), *self.own_bounds)]
        return len(set(names)) == len(names)

    @property
    def sample_seeds(self) -> tuple[int, ...]:
        """One seed a replicate."""
        return tuple(range(self.first_sample_seed, self.first_sample_seed + self.replicates))


@final
@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds of a comparison; all contenders share them.

    Step sizes are chosen on other seeds than those on which the contenders are compared, so
    that the choice does not flatter the result.

    Attributes:
        timing: Seed of each schedule of the comparison, >= 2 of them.
        tuning: Seed of each schedule on which step sizes are chosen.
        replicates: Sample seeds a schedule, >= 1; schedule s uses its own block of them.
    """

    timing: tuple[int, ...] = tuple(range(12))
    tuning: tuple[int, ...] = tuple(range(1000, 1003))
    replicates: int = 16

    def __post_init__(self) -> None:
        check(len(self.timing) >= 2, self, "timing", "at least two seeds, to give an interval")
        check(len(self.tuning) >= 1, self, "tuning", "at least one seed")
        apart = not set(self.timing) & set(self.tuning)
        check(apart, self, "tuning", "other seeds than those of the comparison")
        check(self.replicates >= 1, self, "replicates", "a number of replicates >= 1")

    def samples(self, timing_seed: int) -> tuple[int, ...]:
        """Sample seeds of the replicates on the schedule of `timing_seed`."""
        first = timing_seed * self.replicates
        return tuple(range(first, first + self.replicates))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A comparison on common random numbers, with verdicts on the first contender.

    Attributes:
        name: What it is called.
        cluster: The machines.
        oracle: The problem, with a known minimum.
        contenders: At least one; the last one is the baseline.
        data: Name of the data, for people.
        target: Loss to be reached: f* + target * (f(x_0) - f*), in (0, 1).
        step_shares: Candidate step sizes in units of 1 / L, each > 0.
        seeds: Of the comparison.
        certificate: Of the verdicts; None leaves them out.
        confidence: Of every interval, in (0, 1).
        payload: Bytes that travel, uncompressed.
        operations_per_s: Elementary operations of a codec that a worker does in a second, > 0.
        finished: Where finished parts are kept, for those who are interrupted; nowhere by default.
    """

    name: str
    cluster: Cluster
    oracle: AbstractOracle
    contenders: tuple[Contender, ...]
    data: str = ""
    target: float = 0.01
    step_shares: tuple[float, ...] = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
    seeds: Seeds = field(default_factory=Seeds)
    certificate: Certificate | None = field(default_factory=Certificate)
    confidence: float = 0.95
    payload: Payload = field(default_factory=Payload)
    operations_per_s: float = 1e9
    finished: FinishedWork = field(default_factory=FinishedWork)

    def __post_init__(self) -> None:
        names = [contender.name for contender in self.contenders]
        sound = 0 < len(names) == len(set(names))
        check(sound, self, "contenders", "at least one, each with a name of its own")
        check(0 < self.target < 1, self, "target", "a share in (0, 1)")
        positive = len(self.step_shares) > 0 and min(self.step_shares) > 0
        check(positive, self, "step_shares", "at least one number > 0")
        check(0 < self.confidence < 1, self, "confidence", "a probability in (0, 1)")
        check(self.operations_per_s > 0, self, "operations_per_s", "a number > 0")
        known = self.oracle.constants().infimum is not None
        check(known, self, "oracle", "a problem whose minimum is known")
        if self.finished.folder is not None:
            # What cannot be kept is named here, before anything runs.
            digest_of(self.cluster, self.oracle, self.contenders)

    def samples(self, contender: Contender, timing_seed: int) -> tuple[int, ...]:
        """Sample seeds of the replicates of a contender on the schedule of `timing_seed`.

        A schedule that was decided by gradients holds for those alone: there it is one.
        """
        seeds = self.seeds.samples(timing_seed)
        return seeds[:1] if contender.protocol.asks else seeds

    def infimum(self) -> float:
        """f*, the smallest loss."""
        infimum = self.oracle.constants().infimum
        assert infimum is not None, "the constructor has refused such oracles"
        return infimum

    def start_loss(self) -> float:
        """f(x_0)."""
        return float(self.oracle.loss(self.oracle.start()[None])[0])

    def target_loss(self) -> float:
        """The loss to be reached."""
        return self.infimum() + self.target * (self.start_loss() - self.infimum())
