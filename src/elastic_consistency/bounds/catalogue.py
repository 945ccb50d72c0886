"""The catalogue of bounds: one explicit import line for each file of theorems."""

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.constants.combination import combined_gap
from elastic_consistency.bounds.constants.contraction import codec_contraction
from elastic_consistency.bounds.constants.crashes import (
    crash_gap,
    crash_substitution_gap,
    published_crash_gap,
    published_crash_substitution_gap,
)
from elastic_consistency.bounds.constants.elastic_scheduler import (
    elastic_norm_any_gap,
    elastic_norm_gap,
    elastic_variance_gap,
    published_elastic_variance_gap,
)
from elastic_consistency.bounds.constants.error_feedback import (
    error_feedback_gap,
    karimireddy_error_feedback_gap,
    published_error_feedback_gap,
)
from elastic_consistency.bounds.constants.gossip import (
    gossip_combine_first_gap,
    gossip_gap,
    one_peer_exponential_gap,
)
from elastic_consistency.bounds.constants.heavy_ball import heavy_ball_gap, nesterov_gap
from elastic_consistency.bounds.constants.local_sgd import local_sgd_gap, local_sgd_noise_gap
from elastic_consistency.bounds.constants.message_passing import (
    message_drop_gap,
    message_passing_gap,
    message_passing_noise_gap,
    published_message_drop_gap,
    published_message_passing_gap,
)
from elastic_consistency.bounds.constants.push_sum import push_sum_gap
from elastic_consistency.bounds.constants.server import (
    server_applied_gap,
    server_error_feedback_gap,
    server_in_flight_gap,
    server_started_gap,
)
from elastic_consistency.bounds.constants.shared_memory import (
    published_shared_memory_gap,
    shared_memory_gap,
)
from elastic_consistency.bounds.constants.staleness import (
    discarded_staleness,
    mean_staleness_scaled_step,
    total_staleness,
)
from elastic_consistency.bounds.constants.topk import (
    one_bit_gap,
    published_one_bit_gap,
    published_topk_gap,
    topk_gap,
)
from elastic_consistency.bounds.constants.worst_node import (
    one_peer_noise_gap,
    one_peer_worst_node_gap,
)
from elastic_consistency.bounds.convergence.asynchronous_minibatch import lian_nonconvex
from elastic_consistency.bounds.convergence.bounded_staleness_nonconvex import (
    bounded_staleness_nonconvex,
)
from elastic_consistency.bounds.convergence.complexity import (
    birch_steps,
    elastic_steps,
    published_rennala_steps,
    rennala_seconds,
    rennala_steps,
    ringmaster_steps,
)
from elastic_consistency.bounds.convergence.convex_single_step import (
    convex_sharp_step,
    convex_single_step,
)
from elastic_consistency.bounds.convergence.delay_adaptive_nonconvex import delay_adaptive_nonconvex
from elastic_consistency.bounds.convergence.delayed_descent import (
    delayed_gradient_descent,
    fixed_delay_stability,
)
from elastic_consistency.bounds.convergence.error_feedback_nonconvex import (
    error_feedback_nonconvex,
    error_feedback_parallel_nonconvex,
)
from elastic_consistency.bounds.convergence.nonconvex_sharp_family import nonconvex_sharp_family
from elastic_consistency.bounds.convergence.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.convergence.parallel_steps import (
    nonconvex_parallel_step,
    strongly_convex_parallel_step,
)
from elastic_consistency.bounds.convergence.published_convergence import (
    published_nonconvex_parallel_step,
    published_nonconvex_single_step,
    published_strongly_convex_parallel_step,
    published_strongly_convex_single_step,
)
from elastic_consistency.bounds.convergence.strongly_convex_contraction import (
    strongly_convex_contraction,
    strongly_convex_parallel_contraction,
)
from elastic_consistency.bounds.convergence.strongly_convex_single_step import (
    strongly_convex_single_step,
)
from elastic_consistency.bounds.convergence.topk_theorems import (
    aligned_contraction_gap,
    nonconvex_at_views,
    topk_convex_theorem,
    topk_nonconvex,
    topk_nonconvex_theorem,
)

_BOUNDS = (
    server_started_gap,
    server_in_flight_gap,
    server_applied_gap,
    server_error_feedback_gap,
    shared_memory_gap,
    published_shared_memory_gap,
    message_passing_gap,
    published_message_passing_gap,
    message_passing_noise_gap,
    message_drop_gap,
    published_message_drop_gap,
    crash_gap,
    published_crash_gap,
    crash_substitution_gap,
    published_crash_substitution_gap,
    elastic_variance_gap,
    published_elastic_variance_gap,
    elastic_norm_gap,
    elastic_norm_any_gap,
    error_feedback_gap,
    published_error_feedback_gap,
    karimireddy_error_feedback_gap,
    topk_gap,
    published_topk_gap,
    one_bit_gap,
    published_one_bit_gap,
    heavy_ball_gap,
    nesterov_gap,
    gossip_gap,
    gossip_combine_first_gap,
    one_peer_exponential_gap,
    push_sum_gap,
    local_sgd_gap,
    local_sgd_noise_gap,
    nonconvex_single_step,
    strongly_convex_single_step,
    nonconvex_sharp_family,
    nonconvex_parallel_step,
    strongly_convex_parallel_step,
    strongly_convex_contraction,
    strongly_convex_parallel_contraction,
    convex_single_step,
    convex_sharp_step,
    error_feedback_nonconvex,
    error_feedback_parallel_nonconvex,
    bounded_staleness_nonconvex,
    lian_nonconvex,
    delay_adaptive_nonconvex,
    delayed_gradient_descent,
    fixed_delay_stability,
    codec_contraction,
    total_staleness,
    discarded_staleness,
    mean_staleness_scaled_step,
    one_peer_worst_node_gap,
    one_peer_noise_gap,
    published_nonconvex_single_step,
    published_nonconvex_parallel_step,
    published_strongly_convex_single_step,
    published_strongly_convex_parallel_step,
    combined_gap,
    rennala_steps,
    published_rennala_steps,
    rennala_seconds,
    ringmaster_steps,
    birch_steps,
    elastic_steps,
    aligned_contraction_gap,
    topk_convex_theorem,
    topk_nonconvex_theorem,
    nonconvex_at_views,
    topk_nonconvex,
)


def list_bounds() -> tuple[Bound, ...]:
    """Return every bound of the catalogue."""
    return _BOUNDS


def get(name: str) -> Bound:
    """Return the bound called `name`.

    Raises:
        KeyError: If there is none; the message lists the names.
    """
    by_name = {bound.name: bound for bound in _BOUNDS}
    if name not in by_name:
        raise KeyError(f"get: name must be one of {', '.join(sorted(by_name))}, got {name!r}.")
    return by_name[name]
