"""Faults, each one a small change of the source that a tired developer might make."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change of one place in one file.

    Attributes:
        name: What is wrong, in words.
        file: Path below src/elastic_consistency.
        right: The text as it is; it must occur exactly once.
        wrong: The text that takes its place.
        caught_by: Part of the names of the property tests that catch it.
    """

    name: str
    file: str
    right: str
    wrong: str
    caught_by: str


BOUNDS = (
    Fault(
        "half of the jobs in flight are forgotten in the gap of a server",
        "bounds/constants/server.py",
        "expression=(n - 1) * M,",
        "expression=(n - 1) * M / 2,",
        "gaps_of_a_server_hold",
    ),
    Fault(
        "wrong tau: one step of staleness too few",
        "bounds/constants/server.py",
        "expression=tau_max * M,",
        "expression=(tau_max - 1) * M,",
        "gaps_of_a_server_hold",
    ),
    Fault(
        "messages of one sender instead of p - 1",
        "bounds/constants/message_passing.py",
        "expression=(p - 1) * tau * M / p,",
        "expression=tau * M / p,",
        "late_messages_stay",
    ),
    Fault(
        "gamma for its square root in error feedback",
        "bounds/constants/error_feedback.py",
        "expression=_ROOT / (1 - _ROOT) * M,",
        "expression=gamma / (1 - _ROOT) * M,",
        "error_feedback_of_one_node",
    ),
    Fault(
        "only the last momentum counts",
        "bounds/constants/heavy_ball.py",
        "expression=mu * M / (1 - mu),",
        "expression=mu * M,",
        "heavy_ball_stays",
    ),
    Fault(
        "the delay term is lost in the non-convex theorem",
        "bounds/convergence/nonconvex_single_step.py",
        "2 * Delta / (alpha * T) + L**2 * alpha**2 * B**2 +",
        "2 * Delta / (alpha * T) +",
        "convergence_theorems_hold",
    ),
    Fault(
        "the delay term is lost in the strongly convex theorem",
        "bounds/convergence/strongly_convex_single_step.py",
        "contracted + 2 * (2 * L + c) / c * alpha**2 * B**2 +",
        "contracted +",
        "convergence_theorems_hold",
    ),
    Fault(
        "rho squared for rho in gossip",
        "bounds/constants/gossip.py",
        "expression=rho * M / (1 - rho),",
        "expression=rho**2 * M / (1 - rho),",
        "no_system_exceeds",
    ),
)
SIMULATOR = (
    Fault(
        "swapped order: a worker reads before its own update is applied",
        "simulator/protocols/asynchronous_server.py",
        "_ENCODE + _APPLY + _READ)",
        "_ENCODE + _READ + _APPLY)",
        "tested_in_five_lines",
    ),
    Fault(
        "the server applies half of each update",
        "simulator/protocols/asynchronous_server.py",
        "RowPattern(Op.ADD, job=0, fixed_replica=0, weight=1.0)",
        "RowPattern(Op.ADD, job=0, fixed_replica=0, weight=0.5)",
        "tested_in_five_lines",
    ),
    Fault(
        "lost 1/p in the all-reduce",
        "simulator/protocols/all_reduce.py",
        "record.put(self._message, job=job, weight=1 / len(self._jobs))",
        "record.put(self._message, job=job, weight=1.0)",
        "synchronous_workers_have_no_gap",
    ),
    Fault(
        "off by one: messages may be a round later than allowed",
        "simulator/protocols/message_passing.py",
        "due = self._rounds.present[worker] - self._protocol.lag",
        "due = self._rounds.present[worker] - self._protocol.lag - 1",
        "simulated_messages_stay",
    ),
    Fault(
        "lost 1/p in message passing",
        "simulator/protocols/message_passing.py",
        "record.add(worker, job=job, weight=1 / p)",
        "record.add(worker, job=job, weight=1.0)",
        "simulated_messages_stay",
    ),
    Fault(
        "a replica too many in the average of local SGD",
        "simulator/protocols/local_sgd.py",
        "replica=worker, weight=1 / self._p)",
        "replica=worker, weight=1 / (self._p + 1))",
        "local_steps_stay",
    ),
)
SCHEDULE = (
    Fault(
        "off by one: a step of staleness is not counted",
        "schedule/staleness.py",
        "return last - np.searchsorted(keys, base + np.minimum(after, stride - 1))",
        "return np.maximum(last - np.searchsorted(keys, base + np.minimum(after, stride)) - 1, 0)",
        "applied_gap_of_a_server",
    ),
    Fault(
        "off by one: a job is in flight with itself",
        "schedule/staleness.py",
        "return np.searchsorted(started, rows) - np.searchsorted(ended, rows)",
        'return np.searchsorted(started, rows, side="right") - np.searchsorted(ended, rows)',
        "started_gap_of_a_server",
    ),
)
EXECUTION = (
    Fault(
        "stale buffer: an update is applied in every later step again",
        "execution/executor.py",
        "self._rule.step(x[b], buffer.pop(b), state[b])",
        "self._rule.step(x[b], buffer[b], state[b])",
        "coefficients_foretell",
    ),
    Fault(
        "the weight of a contribution is ignored",
        "execution/executor.py",
        "factor = weight * self._rule.scale(stale)",
        "factor = self._rule.scale(stale)",
        "coefficients_foretell",
    ),
    Fault(
        "a fast engine forgets its momentum, the specification does not",
        "execution/programs/in_place_steps.py",
        "np.multiply(velocity, momentum, velocity)",
        "np.multiply(velocity, 0 * momentum, velocity)",
        "heavy_ball_stays",
    ),
    Fault(
        "off by one: the auxiliary iterate already holds the job's own gradient",
        "execution/probes/started.py",
        "self._traces.add(event.time, event.job, self._x, executor.view(event.job))",
        "self._traces.add(event.time, event.job, self._x - float(self._weights[event.job])"
        " * executor.gradient_of(event.job), executor.view(event.job))",
        "coefficients_foretell",
    ),
)
OPTIMIZATION = (
    Fault(
        "stale momentum: the new one is not kept",
        "optimization/update_rules/heavy_ball.py",
        "return x - self.step_size * velocity, velocity",
        "return x - self.step_size * velocity, state",
        "heavy_ball_stays",
    ),
    Fault(
        "error feedback forgets what it held back",
        "optimization/compression/error_feedback.py",
        "corrected = residual + vector",
        "corrected = vector",
        "error_feedback_of_one_node",
    ),
    Fault(
        "TopK sends the smallest entries",
        "optimization/compression/top_k.py",
        "largest_entries(xp.abs(vector),",
        "largest_entries(-xp.abs(vector),",
        "error_feedback_of_one_node",
    ),
    Fault(
        "biased codec: it shrinks by more than it says",
        "optimization/compression/scaling.py",
        "return (1 - self.gamma**0.5) * vector, state",
        "return (1 - self.gamma**0.25) * vector, state",
        "error_feedback_of_one_node",
    ),
    Fault(
        "the smallest eigenvalue is called the smoothness",
        "optimization/oracles/quadratic.py",
        "smoothness = float(self.spectrum.max())",
        "smoothness = float(self.spectrum.min())",
        "convergence_theorems_hold or theorems_without_bounded_gradients",
    ),
)
EXPECTATIONS = (
    Fault(
        "the noise of a gradient is forgotten where it is taken",
        "validation/expectations.py",
        "gradient[:, 1:] += identity",
        "gradient[:, 1:] += 0 * identity",
        "has_its_closed_form or gap_of_pure_noise",
    ),
    Fault(
        "a codec is measured without what error feedback held back",
        "validation/contraction.py",
        "vector = vector + self._held_back[event.worker]",
        "vector = vector + 0 * self._held_back[event.worker]",
        "what_is_held_back_counts",
    ),
    Fault(
        "an effect is removed from the whole study instead of from what is left of it",
        "validation/slack.py",
        "used[effect], figure = figure - left, left",
        "used[effect] = figure - left",
        "removed_in_turn or add_up_to_the_margin",
    ),
)
STATISTICS = (
    Fault(
        "one side of an interval gets the whole error rate",
        "validation/intervals/empirical_bernstein.py",
        "logarithm = np.log(4 / error_rate)",
        "logarithm = np.log(2 / error_rate)",
        "formula_of_maurer",
    ),
    Fault(
        "a bet is made after its sample is seen",
        "validation/intervals/confidence_sequence.py",
        "variance[..., :-1]], axis=-1)",
        "variance[..., 1:]], axis=-1)",
        "betting_excludes_exactly",
    ),
    Fault(
        "what was excluded is forgotten again",
        "validation/intervals/confidence_sequence.py",
        "np.cumsum(gains, axis=-1).max(axis=-1)",
        "np.cumsum(gains, axis=-1)[..., -1]",
        "never_takes_back or betting_excludes",
    ),
    Fault(
        "every step of a supremum has the whole error rate",
        "validation/intervals/supremum.py",
        "share = checked_confidence(confidence) / len(values)",
        "share = checked_confidence(confidence)",
        "supremum_gives_each_step",
    ),
    Fault(
        "a verdict reads the figure and not its interval",
        "validation/judge.py",
        "above = estimate.lower > most + scale",
        "above = estimate.value > most + scale",
        "whole_interval_decides",
    ),
    Fault(
        "approximate methods may say VIOLATED",
        "validation/judge.py",
        "if not estimate.method.may_violate:",
        "if False:",
        "approximate_method_never",
    ),
    Fault(
        "estimated constants cost nothing",
        "validation/judge.py",
        "spent = estimate.error_rate + sum(",
        "spent = estimate.error_rate + 0 * sum(",
        "spend_part_of_the_error_budget",
    ),
    Fault(
        "every claim of a report has the whole error rate",
        "validation/judge.py",
        "share = error_rate / max(1,",
        "share = error_rate / min(1,",
        "error_rate_is_shared",
    ),
    Fault(
        "replicates of a ratio are taken as unpaired",
        "validation/paired.py",
        "(v11, v12), (_, v22) = covariance",
        "(v11, v12), (_, v22) = covariance * np.eye(2)",
        "ends_of_a_ratio",
    ),
)
FAULTS = (*BOUNDS, *SIMULATOR, *SCHEDULE, *EXECUTION, *OPTIMIZATION, *EXPECTATIONS, *STATISTICS)
