"""Twenty-four faults, each one a small change of the source that a tired developer might make."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change of one place in one file.

    Attributes:
        name: What is wrong, in words.
        file: Path below src/elastic_consistency.
        right: The text as it is; it must occur exactly once.
        wrong: The text that takes its place.
    """

    name: str
    file: str
    right: str
    wrong: str


BOUNDS = (
    Fault(
        "half of the jobs in flight are forgotten in the gap of a server",
        "bounds/server.py",
        "expression=(n - 1) * M,",
        "expression=(n - 1) * M / 2,",
    ),
    Fault(
        "wrong tau: one step of staleness too few",
        "bounds/server.py",
        "expression=tau_max * M,",
        "expression=(tau_max - 1) * M,",
    ),
    Fault(
        "messages of one sender instead of p - 1",
        "bounds/message_passing.py",
        "expression=(p - 1) * tau * M / p,",
        "expression=tau * M / p,",
    ),
    Fault(
        "gamma for its square root in error feedback",
        "bounds/error_feedback.py",
        "expression=_ROOT / (1 - _ROOT) * M,",
        "expression=gamma / (1 - _ROOT) * M,",
    ),
    Fault(
        "only the last momentum counts",
        "bounds/heavy_ball.py",
        "expression=mu * M / (1 - mu),",
        "expression=mu * M,",
    ),
    Fault(
        "the delay term is lost in the non-convex theorem",
        "bounds/nonconvex_single_step.py",
        "2 * Delta / (alpha * T) + L**2 * alpha**2 * B**2 +",
        "2 * Delta / (alpha * T) +",
    ),
    Fault(
        "the delay term is lost in the strongly convex theorem",
        "bounds/strongly_convex_single_step.py",
        "contracted + 2 * (2 * L + c) / c * alpha**2 * B**2 +",
        "contracted +",
    ),
    Fault(
        "rho squared for rho in gossip",
        "bounds/gossip.py",
        "expression=rho * M / (1 - rho),",
        "expression=rho**2 * M / (1 - rho),",
    ),
)
SIMULATOR = (
    Fault(
        "swapped order: a worker reads before its own update is applied",
        "simulator/protocols/asynchronous_server.py",
        "_ENCODE + _APPLY + _READ)",
        "_ENCODE + _READ + _APPLY)",
    ),
    Fault(
        "the server applies half of each update",
        "simulator/protocols/asynchronous_server.py",
        "RowPattern(Op.ADD, job=0, fixed_replica=0, weight=1.0)",
        "RowPattern(Op.ADD, job=0, fixed_replica=0, weight=0.5)",
    ),
    Fault(
        "lost 1/p in the all-reduce",
        "simulator/protocols/all_reduce.py",
        "record.put(self._message, job=job, weight=1 / len(self._jobs))",
        "record.put(self._message, job=job, weight=1.0)",
    ),
    Fault(
        "off by one: messages may be a round later than allowed",
        "simulator/protocols/message_passing.py",
        "due = self._round[worker] - self._protocol.lag",
        "due = self._round[worker] - self._protocol.lag - 1",
    ),
    Fault(
        "lost 1/p in message passing",
        "simulator/protocols/message_passing.py",
        "record.add(worker, job=job, weight=1 / p)",
        "record.add(worker, job=job, weight=1.0)",
    ),
    Fault(
        "a replica too many in the average of local SGD",
        "simulator/protocols/local_sgd.py",
        "replica=worker, weight=1 / self._p)",
        "replica=worker, weight=1 / (self._p + 1))",
    ),
)
SCHEDULE = (
    Fault(
        "off by one: a step of staleness is not counted",
        "schedule/staleness.py",
        "return last - np.searchsorted(keys, base + np.minimum(after, stride - 1))",
        "return np.maximum(last - np.searchsorted(keys, base + np.minimum(after, stride)) - 1, 0)",
    ),
    Fault(
        "off by one: a job is in flight with itself",
        "schedule/staleness.py",
        "return np.searchsorted(started, rows) - np.searchsorted(ended, rows)",
        'return np.searchsorted(started, rows, side="right") - np.searchsorted(ended, rows)',
    ),
)
EXECUTION = (
    Fault(
        "stale buffer: an update is applied in every later step again",
        "execution/executor.py",
        "self._rule.step(x[b], buffer.pop(b), state[b])",
        "self._rule.step(x[b], buffer[b], state[b])",
    ),
    Fault(
        "the weight of a contribution is ignored",
        "execution/executor.py",
        "factor = weight * self._rule.scale(stale)",
        "factor = self._rule.scale(stale)",
    ),
    Fault(
        "off by one: the auxiliary iterate already holds the job's own gradient",
        "execution/probes/started.py",
        "self._traces.add(event.time, event.job, self._x, executor.view(event.job))",
        "self._traces.add(event.time, event.job, self._x - float(self._weights[event.job])"
        " * executor.gradient_of(event.job), executor.view(event.job))",
    ),
)
OPTIMIZATION = (
    Fault(
        "stale momentum: the new one is not kept",
        "optimization/update_rules/heavy_ball.py",
        "return x - self.step_size * velocity, velocity",
        "return x - self.step_size * velocity, state",
    ),
    Fault(
        "error feedback forgets what it held back",
        "optimization/compression/error_feedback.py",
        "corrected = residual + vector",
        "corrected = vector",
    ),
    Fault(
        "TopK sends the smallest entries",
        "optimization/compression/top_k.py",
        "largest_entries(xp.abs(vector),",
        "largest_entries(-xp.abs(vector),",
    ),
    Fault(
        "biased codec: it shrinks by more than it says",
        "optimization/compression/scaling.py",
        "return (1 - self.gamma**0.5) * vector, state",
        "return (1 - self.gamma**0.25) * vector, state",
    ),
    Fault(
        "the smallest eigenvalue is called the smoothness",
        "optimization/oracles/quadratic.py",
        "smoothness = float(self.spectrum.max())",
        "smoothness = float(self.spectrum.min())",
    ),
)
FAULTS = (*BOUNDS, *SIMULATOR, *SCHEDULE, *EXECUTION, *OPTIMIZATION)
