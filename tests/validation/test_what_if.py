"""What is removed changes what it should and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker
from elastic_consistency.simulator.cluster import PeerLink
from elastic_consistency.simulator.delays import (
    Constant,
    Exponential,
    Preemption,
    TransientStraggler,
)
from elastic_consistency.simulator.faults.fault_script import FaultScript
from elastic_consistency.simulator.network.losses import GilbertElliott
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    BackupWorkers,
    LossyBroadcast,
    MessagePassing,
)
from elastic_consistency.validation.what_if import (
    Scenario,
    waterfall_text,
    what_if,
    without_compression,
    without_jitter,
    without_link,
    without_loss,
    without_network,
    without_slow_phases,
    without_slowest_link,
    without_slowest_worker,
    without_stragglers,
    without_worker,
)

PROBLEM = {
    "oracle": Quadratic(np.array([1.0, 0.5])),
    "rule": SGD(0.125),
    "target": 0.01,
}


def _scenario(cluster, protocol=None, jobs=120, **rest):
    method = AsynchronousServer() if protocol is None else protocol
    return Scenario(cluster, method, Until(jobs=jobs), **PROBLEM, **rest)


def test_without_its_straggler_a_synchronous_round_takes_a_tenth():
    cluster = Cluster((Worker(Constant(1.0)), Worker(Constant(1.0), slowdown=10.0)))
    scenario = _scenario(cluster, AllReduce(), jobs=200)

    itself, healthy = what_if(scenario, {"stragglers": without_stragglers}, seeds=(0, 1))

    assert healthy.time.value == pytest.approx(itself.time.value / 10)
    assert healthy.time_change.value == pytest.approx(-0.9 * itself.time.value)
    assert itself.time_change.value == 0


def test_a_removed_worker_takes_its_gap_with_it():
    cluster = Cluster.alike(4, Exponential(1.0))

    itself, fewer = what_if(_scenario(cluster), {"one": without_worker(1)}, seeds=(0, 1, 2))

    assert (itself.gap, fewer.gap, fewer.gap_change) == (3, 2, -1)


def test_the_others_keep_their_places_when_a_worker_is_removed():
    laws = [Constant(float(k)) for k in (1, 2, 3, 4)]
    scenario = _scenario(Cluster.of_laws(laws))

    seconds = [
        [w.compute.mean() for w in without_worker(k)(scenario).cluster.workers] for k in (0, 3)
    ]

    assert seconds == [[4, 2, 3], [1, 2, 3]]
    slowest_gone = without_slowest_worker(scenario).cluster.workers
    assert max(w.compute.mean() for w in slowest_gone) == 3


def test_what_would_change_nothing_is_not_tried():
    consequences = what_if(_scenario(Cluster.alike(2, Constant(1.0))), seeds=(0, 1))

    assert [c.removed for c in consequences] == ["nothing", "the slowest worker"]


def test_every_removal_takes_out_what_it_says():
    straggling = TransientStraggler(Exponential(1.0), 10.0, Constant(5.0), Constant(5.0))
    link = Link(0.5, Exponential(0.25), 100.0)
    codec = ErrorFeedback(TopK(1))
    scenario = _scenario(
        Cluster((Worker(straggling, 2.0, link, link),), fabric=link),
        codec=codec,
        payload=Payload(16.0, 8.0),
    )

    jitter = without_jitter(scenario).cluster.workers[0]
    assert jitter.compute == Constant(straggling.mean())
    assert jitter.uplink == Link(0.5, Constant(0.25), 100.0)
    assert without_slow_phases(scenario).cluster.workers[0].compute == Exponential(1.0)
    suspended = Preemption(Exponential(1.0), Constant(5.0), Constant(5.0))
    awake = without_slow_phases(_scenario(Cluster.alike(1, suspended)))
    assert awake.cluster == Cluster.alike(1, Exponential(1.0))
    free = without_network(scenario)
    assert (free.cluster.workers[0].downlink, free.cluster.fabric) == (Link(), Link())
    assert without_compression(scenario).payload == Payload(16.0, 16.0)
    assert without_stragglers(scenario).cluster.workers[0].slowdown == 1
    assert without_compression(scenario).cluster is scenario.cluster


def test_a_network_that_costs_nothing_saves_its_latency_in_every_step():
    """One worker: each step takes 1 s of work and 2 s on the wires, all of them in sequence."""
    wire = Link(1.0)
    scenario = _scenario(Cluster((Worker(Constant(1.0), uplink=wire, downlink=wire),)))

    itself, free = what_if(scenario, {"network": without_network}, seeds=(0, 1))

    assert free.time.value == pytest.approx(itself.time.value / 3)


class TestLinks:
    def test_a_link_that_costs_nothing_saves_its_latency_in_every_step(self):
        """Of two synchronous workers the far one keeps all waiting, 1 s there and 1 s back."""
        far = Worker(Constant(1.0), uplink=Link(1.0), downlink=Link(1.0))
        scenario = _scenario(Cluster((Worker(Constant(1.0)), far)), BackupWorkers(2), jobs=400)

        itself, near = what_if(scenario, {"link": without_link(1)}, seeds=(0, 1))

        assert near.time.value == pytest.approx(itself.time.value / 3)
        assert scenario.cluster.workers[0] == without_link(1)(scenario).cluster.workers[0]

    def test_the_slowest_link_is_the_one_whose_messages_take_longest(self):
        """Latency 2 s against 8 bytes at 2 bytes/s; what is not sent does not count."""
        late, narrow = Link(2.0), Link(bandwidth_bytes_per_s=2.0)
        cluster = Cluster(tuple(Worker(Constant(1.0), uplink=link) for link in (late, narrow)))

        sized = without_slowest_link(_scenario(cluster, payload=Payload(0.0, 8.0)))
        unsized = without_slowest_link(_scenario(cluster, payload=Payload(8.0, 0.0)))

        assert [w.uplink for w in sized.cluster.workers] == [late, Link()]
        assert [w.uplink for w in unsized.cluster.workers] == [Link(), narrow]

    def test_a_worker_s_links_to_all_others_are_freed_and_only_those(self):
        cluster = Cluster.alike(3, Constant(1.0), link=Link(1.0))
        cluster = replace(
            cluster, exceptions=(PeerLink(0, 1, Link(9.0)), PeerLink(0, 2, Link(5.0)))
        )

        made = without_link(1)(_scenario(cluster)).cluster

        latencies = {
            (a, b): made.link(a, b).latency_s for a in range(3) for b in range(3) if a != b
        }
        assert latencies == {pair: 0.0 if 1 in pair else 1.0 for pair in latencies} | {(0, 2): 5.0}


def test_every_cause_has_its_line_in_the_waterfall():
    """A worker, the jitter, a link, the loss and the compression, all in one study."""
    link = Link(0.1, Exponential(0.1), loss=0.1, resend_s=1.0)
    slow = Worker(Exponential(1.0), slowdown=5.0, uplink=Link(2.0), downlink=link)
    scenario = _scenario(
        Cluster((Worker(Exponential(1.0), uplink=link, downlink=link), slow)),
        codec=ErrorFeedback(TopK(1)),
        payload=Payload(16.0, 8.0),
        jobs=300,
    )

    text = waterfall_text(what_if(scenario, seeds=(0, 1)))

    for cause in ("the slowest worker", "the slowest link", "jitter", "losses", "compression"):
        assert sum(line.startswith(cause) for line in text.splitlines()) == 1


class TestLosses:
    def test_a_link_that_loses_nothing_saves_every_repetition_and_nothing_else(self):
        """The jitter of the link is drawn as before: without losses it is the calm run."""
        calm = Link(0.5, Exponential(0.25))
        lossy = Link(0.5, Exponential(0.25), loss=0.5, resend_s=2.0)
        scenario = _scenario(Cluster.alike(3, Exponential(1.0), link=lossy))
        quiet = _scenario(Cluster.alike(3, Exponential(1.0), link=calm))

        itself, safe = what_if(scenario, {"losses": without_loss}, seeds=(0, 1, 2))
        (reference,) = what_if(quiet, {}, seeds=(0, 1, 2))

        assert safe.time == reference.time
        assert safe.time_change.value == pytest.approx(reference.time.value - itself.time.value)
        # Two transfers an exchange, each repeated once on average after 2 s.
        assert itself.time.value > 1.5 * safe.time.value

    def test_a_broadcast_that_loses_nothing_has_no_gap(self):
        cluster = Cluster.alike(3, Constant(1.0))
        scenario = _scenario(
            cluster, LossyBroadcast(0.3, resync=4), jobs=300, sequence=Sequence.AGGREGATE
        )

        itself, safe = what_if(scenario, seeds=(0, 1))[::2]

        assert safe.removed == "losses"
        assert itself.gap > 0.1
        assert safe.gap == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("loss", [0.5, GilbertElliott(0.5, 0.5)])
    def test_messages_that_are_not_lost_need_no_timeout(self, loss):
        cluster = Cluster.alike(2, Constant(1.0))
        scenario = _scenario(cluster, MessagePassing(0, loss, timeout_s=3.0), jobs=200)

        itself, safe = what_if(scenario, {"losses": without_loss}, seeds=(0, 1))

        rounds = safe.time.value
        assert rounds == round(rounds)  # one second a round, no more
        assert itself.time.value > 2 * rounds

    def test_an_acknowledgement_that_is_not_lost_need_not_be_awaited(self):
        cluster = Cluster(
            (Worker(Constant(1.0)),),
            faults=FaultScript((), lost_acknowledgements=0.5, resend_s=1.0),
        )

        assert without_loss(_scenario(cluster)).cluster == Cluster((Worker(Constant(1.0)),))

    def test_every_link_is_made_safe(self):
        lossy, safe = Link(1.0, loss=0.1, resend_s=1.0), Link(1.0)
        cluster = Cluster(
            (Worker(Constant(1.0), uplink=lossy, downlink=lossy),) * 2,
            fabric=lossy,
            exceptions=(PeerLink(0, 1, lossy),),
        )

        made = without_loss(_scenario(cluster)).cluster

        assert made == Cluster(
            (Worker(Constant(1.0), uplink=safe, downlink=safe),) * 2,
            fabric=safe,
            exceptions=(PeerLink(0, 1, safe),),
        )


def test_pairs_share_their_randomness():
    """Twice as slow on the same draws is exactly twice the time, without an interval."""
    slow = Worker(Exponential(1.0), slowdown=2.0)
    scenario = _scenario(Cluster((slow,)))

    itself, fast = what_if(scenario, {"half speed": without_stragglers}, seeds=(3, 4, 5))

    assert fast.time.lower == pytest.approx(itself.time.lower / 2)
    assert fast.time_change.value == pytest.approx(-itself.time.value / 2)


def test_a_target_that_is_not_reached_is_refused():
    scenario = _scenario(Cluster.alike(1, Constant(1.0)), jobs=2)

    with pytest.raises(ValueError, match=r"must let every run reach the target 0\.01; seed 0"):
        what_if(scenario, seeds=(0, 1))


def test_a_waterfall_has_a_line_for_each_removal():
    consequences = what_if(_scenario(Cluster.alike(3, Exponential(1.0))), seeds=(0, 1))

    lines = waterfall_text(consequences).splitlines()

    assert len(lines) == 1 + len(consequences)
    assert lines[1].startswith("nothing ")
