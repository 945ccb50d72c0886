"""Live runs: real asynchrony on real processes, recorded as schedules."""

from elastic_consistency.hardware_backend.live.all_reduce import LiveAllReduce as LiveAllReduce
from elastic_consistency.hardware_backend.live.hogwild import Hogwild as Hogwild
from elastic_consistency.hardware_backend.live.pairwise import LivePairwise as LivePairwise
from elastic_consistency.hardware_backend.live.parameter_server import LiveServer as LiveServer
from elastic_consistency.hardware_backend.live.protocol import (
    AbstractLiveProtocol as AbstractLiveProtocol,
)
from elastic_consistency.hardware_backend.live.push_sum import LivePushSum as LivePushSum
from elastic_consistency.hardware_backend.live.record import read_record as read_record
from elastic_consistency.hardware_backend.live.run import LiveRun as LiveRun
from elastic_consistency.hardware_backend.live.run import run_live as run_live
