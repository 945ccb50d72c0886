"""Layer-wise schedulers: constants of theory, times in closed form, the gain at stake."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap, noise_gap
from elastic_consistency.simulator import (
    Cluster,
    Layer,
    LayerProfile,
    Link,
    Payload,
    Ring,
    Until,
    Worker,
    ideal_overlap,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce, Layerwise, Scheduler

PROFILE = LayerProfile((Layer("a", 10, 1, 2), Layer("b", 100, 2, 2), Layer("c", 400, 1, 1)))
LINK = Link(0.05, bandwidth_bytes_per_s=2e3)
BYTES = 2000.0


def _run(scheduler, p=4, link=LINK, steps=20, profile=PROFILE, seconds=1.0):
    cluster = Cluster((Worker(Constant(seconds)),) * p, fabric=link)
    return simulate(Layerwise(profile, scheduler), cluster, until=Until(jobs=steps * p), seed=0,
                    payload=Payload(0.0, BYTES))  # fmt: skip


def _period(schedule, steps=20):
    """Seconds a step in the long run, from the begin of step 5 to that of the last."""
    begins = schedule.jobs.begin[schedule.jobs.worker == 0]
    return (begins[steps - 1] - begins[5]) / (steps - 6)


@pytest.mark.parametrize(("p", "gap"), [(2, 0.70711), (8, 0.93541)])
def test_the_variance_bounded_scheduler_reaches_its_constant(p, gap):
    """sqrt((p - 1) / p) for noise, when every layer is late (design, section 9)."""
    schedule = _run(Scheduler.VARIANCE_BOUNDED, p, Link(0.3, bandwidth_bytes_per_s=1e4), steps=8)

    difference = compute_influence(schedule).aggregate_difference()

    assert noise_gap(difference) == pytest.approx(sqrt((p - 1) / p), abs=1e-9)
    assert noise_gap(difference) == pytest.approx(gap, abs=5e-6)


@pytest.mark.parametrize("scheduler", [Scheduler.BARRIER, Scheduler.CROSS_BARRIER])
def test_who_waits_for_a_layer_never_sees_it_stale(scheduler):
    influence = compute_influence(_run(scheduler, steps=6))

    assert largest_gap(influence.aggregate_difference()) <= 1e-12


@pytest.mark.parametrize("scheduler", Scheduler)
def test_every_update_arrives_in_the_end(scheduler):
    influence = compute_influence(_run(scheduler, steps=6))

    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)


@given(
    sizes=st.lists(st.integers(1, 500), min_size=2, max_size=6),
    work=st.lists(st.floats(0.1, 5), min_size=12, max_size=12),
    latency=st.sampled_from([0.0, 0.01, 0.3]),
    p=st.integers(2, 5),
)
def test_a_barrier_takes_its_closed_form_and_nobody_beats_the_ideal(sizes, work, latency, p):
    layers = tuple(Layer("l", s, f, b) for s, f, b in zip(sizes, work, work[6:], strict=False))
    profile, link = LayerProfile(layers), Link(latency, bandwidth_bytes_per_s=2e3)

    gain = ideal_overlap(profile, Ring(), n_workers=p, compute_s=1.0, link=link,
                         update_bytes=BYTES)  # fmt: skip
    schedules = {s: _run(s, p, link, profile=profile) for s in Scheduler}

    assert _period(schedules[Scheduler.BARRIER]) == pytest.approx(gain.barrier_s)
    for schedule in schedules.values():
        # When step 19 begins, workers have done 19 steps and the link at least 17.
        assert schedule.jobs.begin.max() >= 17 * gain.ideal_s * (1 - 1e-9)
    assert 0 <= gain.largest_gain < 1


def test_the_schedulers_are_faster_in_their_order():
    """Communication as long as computation: there is something to overlap."""
    periods = [_period(_run(scheduler)) for scheduler in Scheduler]

    gain = ideal_overlap(PROFILE, Ring(), n_workers=4, compute_s=1.0, link=LINK,
                         update_bytes=BYTES)  # fmt: skip
    assert periods[0] > periods[1] > periods[2] >= gain.ideal_s * (1 - 1e-9)


def test_with_free_links_it_is_all_reduce():
    cluster = Cluster.alike(3, Exponential(1.0))
    until = Until(jobs=30)

    layered = simulate(Layerwise(PROFILE), cluster, until=until, seed=1)

    reduced = simulate(AllReduce(), cluster, until=until, seed=1)
    begins = reduced.jobs.begin.reshape(-1, 3)
    np.testing.assert_allclose(layered.jobs.begin.reshape(-1, 3), begins, rtol=1e-12)


def test_the_link_serves_what_the_next_forward_pass_needs_first():
    """All layers are ready long before the first is sent: a, b and c follow the one that blocks."""
    slow = Link(5.0)
    order = {}
    for scheduler in (Scheduler.BARRIER, Scheduler.CROSS_BARRIER):
        rows = _run(scheduler, p=2, link=slow, steps=1).rows
        drops = (rows.op == Op.DROP) & (rows.message >= 0)
        put = rows.op == Op.PUT
        block_of = dict(zip(rows.message[put], rows.block[put], strict=True))
        order[scheduler] = [int(block_of[m]) for m in rows.message[drops]]

    assert order[Scheduler.BARRIER] == [2, 1, 0]
    assert order[Scheduler.CROSS_BARRIER] == [2, 0, 1]


@pytest.mark.parametrize(
    ("name", "parameters", "layers"),
    [
        ("alexnet_imagenet_224", 61_100_840, 8),
        ("vgg16_imagenet_224", 138_357_544, 16),
        ("resnet18_cifar10_32", 11_173_962, 41),
        ("resnet50_imagenet_224", 25_557_032, 107),
    ],
)
def test_a_profile_has_the_published_number_of_parameters(name, parameters, layers):
    profile = LayerProfile.load(name)

    assert sum(profile.sizes()) == parameters
    assert len(profile.layers) == layers
    assert sum(map(sum, profile.parts())) == pytest.approx(1)


def test_every_profile_loads_and_an_unknown_one_is_named():
    assert all(LayerProfile.load(name).layers for name in LayerProfile.names())
    with pytest.raises(ValueError, match=r"LayerProfile.load needs one of alexnet.*got 'lenet'"):
        LayerProfile.load("lenet")


def test_the_gain_is_a_sentence():
    gain = ideal_overlap(PROFILE, Ring(), n_workers=4, compute_s=1.0, link=LINK,
                         update_bytes=BYTES)  # fmt: skip

    assert str(gain).startswith("compute 1 s, communicate ")
    assert "overlapping saves at most" in str(gain)
