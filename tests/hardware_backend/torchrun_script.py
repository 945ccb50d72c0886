"""What a user runs under torchrun: every rank loads the schedule and replays it."""

import sys

import numpy as np
from recorded_schedules import all_reduce

from elastic_consistency.hardware_backend.torchrun import replay_under_torchrun
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD

if __name__ == "__main__":
    rounds = int(sys.argv[2])
    oracle = Quadratic(np.linspace(0.1, 1.0, 12), variance=0.5)
    options = {"codec": ErrorFeedback(TopK(4)), "ordered": True} if "compressed" in sys.argv else {}
    schedule = all_reduce(3, rounds)
    replayed = replay_under_torchrun(schedule, oracle, SGD(0.3), seeds=(4, 5), **options)
    np.save(f"{sys.argv[1]}/{replayed.digest[:8]}-{id(replayed)}.npy", replayed.models)
