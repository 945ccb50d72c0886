"""A cluster of four and what goes wrong on it, which test files share."""

from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Partition,
    RandomCrashes,
)
from elastic_consistency.simulator.delays import Exponential

BASE = Cluster.alike(4, Exponential(1.0), link=Link(0.05, Exponential(0.02)))
SCRIPTS = {
    "crash": FaultScript((Crash(1, 3.0),)),
    "crash and restart": FaultScript((Crash(1, 3.0, 5.0),)),
    "random crashes": FaultScript((RandomCrashes(2, Exponential(5.0), Exponential(2.0)),)),
    "late start": FaultScript((LateStart(0, 10.0),)),
    "partition": FaultScript((Partition((0, 1), 5.0, 15.0),)),
    "lost acknowledgements": FaultScript((), 0.3, 1.0),
    "everything": FaultScript(
        (
            Crash(1, 3.0, 5.0),
            RandomCrashes(2, Exponential(5.0), Exponential(2.0)),
            Partition((0, 1), 5.0, 15.0),
            LateStart(3, 10.0),
        ),
        0.1,
        1.0,
    ),
}
