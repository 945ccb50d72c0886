"""Hypothesis strategies for everything that a study is made of, and two assertions.

Theorems become property tests, and so do methods: to test one of your own, say what its
constant B is.

>>> from elastic_consistency.simulator.protocols import AsynchronousServer
>>> from elastic_consistency.validation.strategies import assert_elastic
>>> def others(schedule):
...     return schedule.metadata.n_workers - 1
>>> assert_elastic(AsynchronousServer(), others, examples=30)

A wrong constant is broken, and what broke it is shrunk to the smallest case.

>>> def half_of_them(schedule):
...     return schedule.metadata.n_workers / 2
>>> assert_elastic(AsynchronousServer(), half_of_them)
Traceback (most recent call last):
AssertionError: gap 2 M > 1.5 M to the started sequence:
time  worker 0  worker 1  worker 2  server
0     read #0   read #1   read #2
1                                   add #0
1                                   add #1
1                                   add #2
"""

from elastic_consistency.validation.strategies.clusters import busy_links as busy_links
from elastic_consistency.validation.strategies.clusters import clusters as clusters
from elastic_consistency.validation.strategies.clusters import graphs as graphs
from elastic_consistency.validation.strategies.clusters import links as links
from elastic_consistency.validation.strategies.clusters import (
    partitioned_clusters as partitioned_clusters,
)
from elastic_consistency.validation.strategies.clusters import shared_hosts as shared_hosts
from elastic_consistency.validation.strategies.clusters import (
    unreliable_clusters as unreliable_clusters,
)
from elastic_consistency.validation.strategies.clusters import workers as workers
from elastic_consistency.validation.strategies.delay_laws import compute_laws as compute_laws
from elastic_consistency.validation.strategies.delay_laws import delay_laws as delay_laws
from elastic_consistency.validation.strategies.delay_laws import seconds as seconds
from elastic_consistency.validation.strategies.faults import broadcast_crashes as broadcast_crashes
from elastic_consistency.validation.strategies.faults import fault_scripts as fault_scripts
from elastic_consistency.validation.strategies.faults import losses as losses
from elastic_consistency.validation.strategies.faults import partitions as partitions
from elastic_consistency.validation.strategies.optimization import codecs as codecs
from elastic_consistency.validation.strategies.optimization import linears as linears
from elastic_consistency.validation.strategies.optimization import oracles as oracles
from elastic_consistency.validation.strategies.optimization import quadratics as quadratics
from elastic_consistency.validation.strategies.optimization import rules as rules
from elastic_consistency.validation.strategies.optimization import step_sizes as step_sizes
from elastic_consistency.validation.strategies.protocols import block_protocols as block_protocols
from elastic_consistency.validation.strategies.protocols import layer_profiles as layer_profiles
from elastic_consistency.validation.strategies.protocols import norm_bounded as norm_bounded
from elastic_consistency.validation.strategies.protocols import protocols as protocols
from elastic_consistency.validation.strategies.protocols import protocols_of as protocols_of
from elastic_consistency.validation.strategies.protocols import servers as servers
from elastic_consistency.validation.strategies.schedules import SimulatedRun as SimulatedRun
from elastic_consistency.validation.strategies.schedules import clusters_for as clusters_for
from elastic_consistency.validation.strategies.schedules import (
    late_message_schedules as late_message_schedules,
)
from elastic_consistency.validation.strategies.schedules import runs as runs
from elastic_consistency.validation.strategies.schedules import schedules as schedules
from elastic_consistency.validation.strategies.schedules import (
    server_schedules as server_schedules,
)
from elastic_consistency.validation.strategies.schedules import (
    simulated_schedules as simulated_schedules,
)
from elastic_consistency.validation.strategies.search import find_tightest as find_tightest
from elastic_consistency.validation.strategies.studies import (
    assert_bound_holds as assert_bound_holds,
)
from elastic_consistency.validation.strategies.studies import assert_elastic as assert_elastic
from elastic_consistency.validation.strategies.studies import studies as studies
