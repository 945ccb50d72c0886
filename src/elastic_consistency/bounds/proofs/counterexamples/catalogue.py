"""The systems for each bound of the catalogue: one line a bound."""

from collections.abc import Callable

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.proofs.counterexamples import (
    descents,
    exact,
    gaps,
    memories,
    special,
    targets,
)
from elastic_consistency.bounds.proofs.counterexamples.descents import Descent
from elastic_consistency.bounds.proofs.counterexamples.rescaling import rescaled
from elastic_consistency.bounds.proofs.counterexamples.system import System

_TOPK = {"d": 32.0, "K": 1.0}
_SIGN = {"d": 100.0}
_GAPS: dict[str, Callable[[], list[System]]] = {
    "server_started_gap": gaps.started_order,
    "server_in_flight_gap": gaps.in_flight,
    "server_applied_gap": gaps.applied_order,
    "shared_memory_gap": gaps.shared_memory,
    "aligned_contraction_gap": lambda: memories.residuals({"xi": 0.0}),
    "push_sum_gap": memories.masses,
    "server_error_feedback_gap": memories.residuals_on_a_server,
    "published_shared_memory_gap": lambda: gaps.shared_memory({"d": 1.0}),
    "message_passing_gap": gaps.late_messages,
    "message_passing_noise_gap": gaps.late_means_or_noises,
    "published_message_passing_gap": gaps.late_messages,
    "message_drop_gap": gaps.missing_messages,
    "published_message_drop_gap": gaps.missing_messages,
    "published_crash_gap": gaps.missing_messages,
    "crash_gap": gaps.missing_messages,
    "crash_substitution_gap": gaps.crash_stand_in,
    "published_crash_substitution_gap": gaps.crash_stand_in,
    "elastic_variance_gap": gaps.elastic_stand_in,
    "published_elastic_variance_gap": gaps.elastic_stand_in,
    "elastic_norm_gap": gaps.late_parts,
    "elastic_norm_any_gap": gaps.late_wholes,
    "error_feedback_gap": memories.residuals,
    "published_error_feedback_gap": memories.residuals,
    "karimireddy_error_feedback_gap": memories.residuals,
    "topk_gap": lambda: memories.codecs(sends_in_turn=True, named=_TOPK),
    "published_topk_gap": lambda: memories.codecs(sends_in_turn=True, named=_TOPK),
    "one_bit_gap": lambda: memories.codecs(sends_in_turn=False, named=_SIGN),
    "published_one_bit_gap": lambda: memories.codecs(sends_in_turn=False, named=_SIGN),
    "heavy_ball_gap": memories.momentum,
    "nesterov_gap": lambda: memories.momentum(nesterov=True),
    "gossip_gap": lambda: memories.mixing(combine_first=False),
    "gossip_combine_first_gap": lambda: memories.mixing(combine_first=True),
    "one_peer_exponential_gap": memories.exact_after_two,
    "local_sgd_gap": memories.local_steps,
    "local_sgd_noise_gap": memories.local_noise,
    "combined_gap": gaps.two_parts,
    "total_staleness": exact.staleness_sums,
    "discarded_staleness": exact.discarded_sums,
    "codec_contraction": exact.left_out_shares,
    "mean_staleness_scaled_step": exact.mean_scales,
    "fixed_delay_stability": exact.stability_limits,
    "one_peer_worst_node_gap": exact.worst_nodes,
    "one_peer_noise_gap": exact.node_noises,
    "published_strongly_convex_single_step": lambda: targets.logarithmic_steps({}),
    "published_strongly_convex_parallel_step": lambda: targets.logarithmic_steps({"p": 1}),
    "lian_nonconvex": targets.tuned_minibatches,
    "rennala_steps": lambda: targets.steps_to_target(lambda v: 1 / (2 * v["L"])),
    "published_rennala_steps": lambda: targets.steps_to_target(lambda v: 1 / (2 * v["L"])),
    "rennala_seconds": targets.seconds_to_target,
    "ringmaster_steps": lambda: targets.steps_to_target(
        lambda v: 1 / (2 * v["L"] + 4 * v["L"] * v["sigma"] ** 2 / v["epsilon"])
    ),
    "elastic_steps": lambda: targets.steps_to_target(
        lambda v: 1 / (v["L"] + 3 * v["L"] * v["sigma"] ** 2 / v["epsilon"])
    ),
}
_DESCENTS: dict[str, tuple[Callable[[Descent], float], float, dict[str, float]]] = {
    "nonconvex_single_step": (Descent.mean_squared_gradient, 1.0, {}),
    "published_nonconvex_single_step": (Descent.mean_squared_gradient, 1 / 6, {}),
    "published_nonconvex_parallel_step": (Descent.mean_squared_gradient, 1 / 8, {"p": 1.0}),
    "nonconvex_sharp_family": (Descent.mean_squared_gradient, 0.9, {"theta": 0.5}),
    "nonconvex_parallel_step": (Descent.mean_squared_gradient, 1.0, {"w_min": 1.0, "p": 1.0}),
    "strongly_convex_single_step": (Descent.squared_distance, 0.5, {}),
    "strongly_convex_parallel_step": (Descent.squared_distance, 0.5, {"w_min": 1.0, "p": 1.0}),
    "strongly_convex_contraction": (Descent.squared_distance, 0.99, {}),
    "strongly_convex_parallel_contraction": (
        Descent.squared_distance,
        0.99,
        {"w_min": 1.0, "p": 1.0},
    ),
    "convex_single_step": (Descent.suboptimality_at_views, 0.25, {}),
    "convex_sharp_step": (Descent.suboptimality_at_views, 0.99, {}),
    "error_feedback_nonconvex": (Descent.mean_squared_gradient, 1.0, {"gamma": 0.0}),
    "error_feedback_parallel_nonconvex": (
        Descent.mean_squared_gradient,
        1.0,
        {"gamma": 0.0, "p": 1.0},
    ),
    "nonconvex_at_views": (Descent.mean_squared_gradient_at_views, 1.0, {}),
    "topk_nonconvex": (Descent.mean_squared_gradient_at_views, 1.0, {"d": 2.0, "K": 2.0}),
    "topk_nonconvex_theorem": (
        Descent.mean_squared_gradient_at_views,
        1.0,
        {"d": 1e3, "K": 999.0, "xi": 0.0},
    ),
    "bounded_staleness_nonconvex": (Descent.mean_squared_gradient, 0.5, {"R": 1.0}),
    "delay_adaptive_nonconvex": (Descent.mean_squared_gradient, 1 / 3, {"n": 1.0}),
    "delayed_gradient_descent": (Descent.mean_squared_gradient_at_views, 0.6, {"tau": 1e-9}),
}
_NEARLY_ROUND = frozenset({"strongly_convex_contraction", "strongly_convex_parallel_contraction"})
_SPECIAL: dict[str, Callable[[], list[System]]] = {
    "nonconvex_parallel_step": lambda: special.common_noise({}, limit=1.0),
    "strongly_convex_parallel_step": lambda: special.common_noise({}, limit=0.5, distance=True),
    "strongly_convex_contraction": lambda: special.swinging_gaps({}),
    "strongly_convex_parallel_contraction": lambda: (
        special.common_noise({"c": 0.999}, limit=0.99, distance=True)
        + special.swinging_gaps({"w_min": 1.0, "p": 1.0})
    ),
    "convex_single_step": special.plateau,
    "convex_sharp_step": lambda: (
        special.plateau() + special.swinging_gaps({}, convex=True) + special.rounded_cones()
    ),
    "error_feedback_nonconvex": lambda: special.codec_without_memory({}),
    "error_feedback_parallel_nonconvex": lambda: (
        special.codec_without_memory({"p": 1.0}) + special.common_noise({"gamma": 0.0}, limit=1.0)
    ),
    "bounded_staleness_nonconvex": lambda: special.too_stale(
        alpha=0.5, staleness=10, extra={"R": 1.0}
    ),
    "delayed_gradient_descent": lambda: special.too_stale(
        alpha=0.5, staleness=10, extra={"tau": 1.0}
    ),
}


def systems_for(bound: Bound) -> list[System]:
    """Return the systems that test a bound; empty for bounds without any."""
    found = _systems(bound)
    return found + rescaled(bound, found)


def _systems(bound: Bound) -> list[System]:
    if bound.name in _GAPS:
        return [s for s in _GAPS[bound.name]() if s.lacks <= bound.requirements]
    if bound.name in _DESCENTS:
        measure, limit, extra = _DESCENTS[bound.name]
        share = 0.999 if bound.name in _NEARLY_ROUND else 1.0
        found = descents.descents(bound, measure, limit=limit, extra=extra, convexity=share)
        further = _SPECIAL[bound.name]() if bound.name in _SPECIAL else []
        return found + [s for s in further if s.lacks <= bound.requirements]
    return []
