"""Strategies draw legal things of every kind, and a method is tested in five lines."""

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from elastic_consistency.bounds import get
from elastic_consistency.execution import Engine, execute
from elastic_consistency.optimization.compression import Identity
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Link, protocols
from elastic_consistency.simulator.delays import (
    Constant,
    Pareto,
    Preemption,
    TransientStraggler,
)
from elastic_consistency.simulator.faults.fault_script import (
    Crash,
    FaultScript,
    LateStart,
    Partition,
    RandomCrashes,
)
from elastic_consistency.simulator.network.losses import GilbertElliott
from elastic_consistency.simulator.protocols import (
    AbstractBlockProtocol,
    AbstractUnreliableProtocol,
    AllReduce,
    AsynchronousElasticAveraging,
    AsynchronousServer,
    BlockCoordinate,
    CrashFaults,
    ElasticAveraging,
    EnergyMatchingServer,
    Gossip,
    Layerwise,
    LossyBroadcast,
    MessagePassing,
    PairwiseAveraging,
    SharedMemory,
)
from elastic_consistency.validation import strategies as drawn
from elastic_consistency.validation.adversaries import late_messages, server_schedule
from elastic_consistency.validation.small_study import SmallStudy
from elastic_consistency.validation.timeline_text import timeline_text

BLOCKS = (1, 2)
FRAGILE = [
    kind
    for kind in vars(protocols).values()
    if isinstance(kind, type)
    and issubclass(kind, AbstractUnreliableProtocol)
    and not inspect.isabstract(kind)
]
KINDS = (
    AsynchronousElasticAveraging,
    ElasticAveraging,
    EnergyMatchingServer,
    Gossip,
    LossyBroadcast,
    MessagePassing,
    PairwiseAveraging,
)
BLOCK_KINDS = (BlockCoordinate, Layerwise, SharedMemory)


def _is_a(kind):
    return lambda protocol: isinstance(protocol, kind)


def _has(kind):
    return lambda script: any(isinstance(fault, kind) for fault in script.faults)


# No shrinking: what is found need not be small.
SEARCH = settings(max_examples=3000, database=None, phases=(Phase.generate,))
FEW = settings(max_examples=settings().max_examples // 2)


@FEW
@given(drawn.schedules())
def test_every_schedule_that_is_drawn_is_legal(schedule):
    schedule.check()


@FEW
@given(st.data())
def test_every_protocol_recognises_its_schedules(data):
    protocol = data.draw(drawn.protocols())

    protocol.restate(data.draw(drawn.simulated_schedules(protocol=st.just(protocol))))


@FEW
@given(drawn.runs())
def test_every_run_is_legal_and_is_recognised_by_its_protocol(run):
    run.schedule.check()
    run.protocol.restate(run.schedule)


@FEW
@given(drawn.runs(sizes=BLOCKS))
def test_every_run_with_blocks_is_legal_and_is_recognised_by_its_protocol(run):
    run.schedule.check()
    run.protocol.restate(run.schedule)


def _models(study):
    """The models at the end, by the rows and by the fastest engine."""
    return [replace(study, engine=e).measurement.models for e in (Engine.ROWS, Engine.FASTEST)]


@FEW
@given(drawn.runs(), drawn.oracles(), drawn.step_sizes())
def test_every_run_can_be_studied_by_every_engine(run, oracle, step_size):
    by_rows, fastest = _models(SmallStudy(run.schedule, oracle, SGD(step_size)))

    assert len(by_rows) == len(run.schedule.metadata.hosts)
    assert np.allclose(by_rows, fastest, rtol=1e-12, atol=1e-12)


@FEW
@given(drawn.runs(sizes=BLOCKS), drawn.step_sizes())
def test_every_run_with_blocks_can_be_studied_by_every_engine(run, step_size):
    oracle = Quadratic(np.array([1.0, 0.5, 0.25]))

    by_rows, fastest = _models(SmallStudy(run.schedule, oracle, SGD(step_size)))

    assert np.allclose(by_rows, fastest, rtol=1e-12, atol=1e-12)


@FEW
@given(drawn.schedules(), drawn.oracles(), drawn.rules(), drawn.codecs(), st.integers(0, 9))
def test_all_that_is_drawn_can_be_executed_together(schedule, oracle, rule, codec, seed):
    if isinstance(rule, HeavyBall) and not isinstance(codec, Identity):
        codec = Identity()  # large momentum on a lossy codec may diverge, which is its right

    by_rows, fastest = (
        execute(schedule, oracle, rule, codec=codec, seeds=(seed,), engine=engine)
        for engine in (Engine.ROWS, Engine.FASTEST)
    )

    assert len(by_rows.models) == len(schedule.metadata.hosts)
    assert np.allclose(by_rows.models, fastest.models, rtol=1e-9, atol=1e-12)


@FEW
@given(drawn.quadratics(noise=True))
def test_noisy_problems_are_noisy(oracle):
    assert oracle.constants().variance > 0


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        (drawn.compute_laws(), lambda law: isinstance(law, TransientStraggler)),
        (drawn.compute_laws(), lambda law: isinstance(law, Pareto)),
        (drawn.compute_laws(), lambda law: law == Constant(0.0)),
        (drawn.clusters(), lambda cluster: cluster.n_workers == 4),
        (drawn.links(), lambda link: link.latency_s > 0 and link.jitter != Constant(0.0)),
        (drawn.workers(), lambda worker: worker.slowdown == 10),
        (drawn.protocols(), lambda protocol: isinstance(protocol, AllReduce)),
        (drawn.oracles(), lambda oracle: isinstance(oracle, Linear)),
        (drawn.rules(), lambda rule: isinstance(rule, HeavyBall)),
        (drawn.server_schedules(), lambda schedule: schedule.staleness().steps.max() > 8),
        (drawn.links(), lambda link: isinstance(link.loss, GilbertElliott)),
        *((drawn.protocols_of(3), _is_a(kind)) for kind in KINDS),
        *((drawn.block_protocols(BLOCKS), _is_a(kind)) for kind in BLOCK_KINDS),
        (drawn.protocols_of(3), lambda p: isinstance(p, CrashFaults) and len(p.crashes) == 2),
        *((drawn.fault_scripts(3), _has(kind)) for kind in (Crash, LateStart, RandomCrashes)),
        (drawn.fault_scripts(3), lambda script: script.has_partitions),
        (drawn.fault_scripts(3), lambda script: script.lost_acknowledgements > 0),
        (drawn.unreliable_clusters(), lambda cluster: cluster.faults.moves_workers),
        (drawn.compute_laws(), lambda law: isinstance(law, Preemption)),
        (drawn.links(), lambda link: link.bandwidth_bytes_per_s < math.inf),
        (drawn.busy_links(), lambda link: link.background is not None),
        (drawn.shared_hosts(3), lambda hosts: len(hosts) == 1 and len(hosts[0].workers) == 3),
        (drawn.unreliable_clusters(), lambda c: c.server_bandwidth_bytes_per_s < math.inf),
        (drawn.unreliable_clusters(), lambda c: c.fabric_bandwidth_bytes_per_s < math.inf),
    ],
)
def test_every_kind_can_be_drawn(strategy, wanted):
    assert wanted(find(strategy, wanted, settings=SEARCH))


@pytest.mark.parametrize("kind", FRAGILE, ids=lambda kind: kind.__name__)
def test_every_protocol_that_knows_crashes_meets_them(kind):
    blocks = issubclass(kind, AbstractBlockProtocol)
    methods = drawn.block_protocols(BLOCKS) if blocks else drawn.protocols_of(3)

    method = find(methods, _is_a(kind), settings=SEARCH)

    machines = find(
        drawn.clusters_for(method, 3), lambda c: c.faults.moves_workers, settings=SEARCH
    )
    assert machines.n_workers == 3


@FEW
@given(drawn.clusters_for(CrashFaults(()), 3))
def test_a_protocol_that_knows_no_crashes_meets_none(machines):
    assert not machines.faults.moves_workers


def test_crashes_on_a_protocol_that_does_not_know_them_are_an_error_and_not_skipped():
    machines = replace(Cluster.alike(2, Constant(1.0)), faults=FaultScript((Crash(1, at_s=0.5),)))

    with pytest.raises(ValueError, match="knows neither crashes nor late starts"):
        drawn.assert_elastic(CrashFaults(()), 9, cluster=st.just(machines), examples=3)


def _smallest(strategy):
    return find(strategy, lambda _: True, settings=settings(max_examples=20, database=None))


def test_all_strategies_shrink_to_the_simplest_case():
    assert _smallest(drawn.compute_laws()) == Constant(1.0)
    assert _smallest(drawn.clusters()) == Cluster.alike(1, Constant(1.0))
    assert _smallest(drawn.protocols()) == AsynchronousServer()
    assert _smallest(drawn.rules()) == SGD(0.5)
    assert _smallest(drawn.codecs()) == Identity()
    assert _smallest(drawn.linears()).slope.tolist() == [1.0]
    assert _smallest(drawn.quadratics()).spectrum.tolist() == [1.0]


def test_what_goes_wrong_shrinks_to_nothing_and_methods_to_their_simplest():
    assert _smallest(drawn.fault_scripts(3)) == FaultScript()
    assert _smallest(drawn.losses()) == 0.1
    assert _smallest(drawn.partitions(3)) == Partition((0,), 0.0, 1.0)
    assert _smallest(drawn.broadcast_crashes(3)) == ()
    assert _smallest(drawn.busy_links()) == Link()
    assert _smallest(drawn.shared_hosts(3)) == ()
    assert _smallest(drawn.protocols_of(2)) == AsynchronousServer()
    assert _smallest(drawn.block_protocols(BLOCKS)) == BlockCoordinate(BLOCKS)
    assert _smallest(drawn.norm_bounded(BLOCKS)).threshold == 1.0


@pytest.mark.slow
def test_whole_clusters_and_schedules_shrink_to_the_simplest_case():
    assert _smallest(drawn.unreliable_clusters()) == Cluster.alike(1, Constant(1.0))
    assert _smallest(drawn.partitioned_clusters()) == Cluster.alike(1, Constant(1.0))
    assert _smallest(drawn.clusters_for(AsynchronousServer(), 2)) == Cluster.alike(2, Constant(1.0))
    assert len(_smallest(drawn.schedules()).jobs) == 1


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(), BLOCKS])
def test_runs_shrink_to_one_job_of_one_worker(sizes):
    run = _smallest(drawn.runs(sizes=sizes))

    assert run.cluster == Cluster.alike(1, Constant(1.0))
    assert len(run.schedule.jobs) == 1


@pytest.mark.slow
def test_a_crash_is_shrunk_to_the_first_moment_at_which_it_matters():
    """A worker that computes for 1 s and crashes meanwhile, beside one that does the job."""
    run = find(
        drawn.runs(),
        lambda run: Op.CRASH in run.schedule.rows.op,
        settings=settings(max_examples=500, database=None, derandomize=True),
    )

    assert run.cluster.n_workers == 2
    assert len(run.cluster.faults.faults) == 1
    assert len(run.schedule.jobs) <= 3


def test_a_method_is_tested_in_five_lines():
    """The catalogue's asynchronous server stands for a user's own protocol."""
    drawn.assert_elastic(
        AsynchronousServer(),
        lambda schedule: schedule.metadata.n_workers - 1,
        examples=40,
    )


def test_a_wrong_constant_is_shrunk_to_a_few_rows():
    with pytest.raises(AssertionError, match=r"gap 1 M > 0\.5 M to the started") as failure:
        drawn.assert_elastic(AsynchronousServer(), 0.5)

    assert str(failure.value).splitlines()[1:] == [
        "time  worker 0  worker 1  server",
        "0     read #0   read #1",
        "1                         add #0",
        "1                         add #1",
    ]


def test_a_wrong_constant_is_shrunk_to_a_few_rows_on_machines_where_all_goes_wrong():
    """Crashes, shared ports and hosts, other traffic: none of it is left in the smallest case."""
    with pytest.raises(AssertionError) as failure:
        drawn.assert_elastic(AsynchronousServer(), 0.5, cluster=drawn.unreliable_clusters())

    assert len(str(failure.value).splitlines()) == 1 + 4


def test_synchronous_workers_have_no_gap_at_all():
    from elastic_consistency.execution.quantities import Sequence

    drawn.assert_elastic(AllReduce(), 0, sequence=Sequence.AGGREGATE, examples=40)


def test_a_targeted_search_reaches_a_tight_constant():
    """M tau_max is attained by every linear loss; any schedule with a stale update will do."""
    study, verdict = drawn.find_tightest(
        get("server_applied_gap"),
        drawn.studies(schedule=drawn.server_schedules(), oracle=drawn.linears()),
        examples=60,
    )

    assert verdict.tightness == pytest.approx(1)
    assert study.schedule.staleness().steps.max() > 0


def test_a_targeted_search_climbs_towards_a_loose_bound():
    """NC1 loses a factor 2 by polarisation: sequential descent on a quadratic reaches near 1/2."""
    _, verdict = drawn.find_tightest(
        get("nonconvex_single_step"),
        drawn.studies(schedule=drawn.server_schedules(), oracle=drawn.quadratics()),
        examples=150,
    )

    assert 0.4 < verdict.tightness <= 1


def test_a_search_among_studies_that_a_bound_is_not_about_is_refused():
    with pytest.raises(ValueError, match="studies that heavy_ball_gap is about"):
        drawn.find_tightest(
            get("heavy_ball_gap"), drawn.studies(schedule=drawn.server_schedules()), examples=5
        )


class TestTimelines:
    def test_one_line_an_instant_and_one_column_an_actor(self):
        text = timeline_text(late_messages(2, 1, lambda *_: 1))

        assert text.splitlines() == [
            "time  worker 0      worker 1",
            "0     read #0       read #1",
            "0.5   add #0 x 0.5  add #1 x 0.5",
            "1     add #1 x 0.5  add #0 x 0.5",
        ]

    def test_a_taken_column_begins_a_new_line(self):
        text = timeline_text(server_schedule([], n_workers=2))

        assert text.splitlines()[1:2] == ["0     read #0   read #1"]

    def test_a_long_schedule_is_cut_and_counted(self):
        text = timeline_text(server_schedule([0] * 30, n_workers=1), longest=5)

        assert text.splitlines()[-1].startswith("... and ")
        assert len(text.splitlines()) == 7
