"""The job of flgo_speed.py in FLGo: prints seconds of processor time a gradient.

    python flgo_job.py CLIENTS ROUNDS FEATURES CLASSES BATCH

FedAsync with clients that take one plain step on one batch. All clients are always at work, each
with a latency of its own; the server mixes in whatever arrived within a unit of virtual time.
Nothing is evaluated, printed or recorded; the first gradients, which load code, are not timed.
"""

import sys
import tempfile
import time

import flgo
import flgo.benchmark.synthetic_regression as task
from flgo.algorithm import fedasync
from flgo.algorithm.fedbase import BasicClient
from flgo.experiment.logger import BasicLogger
from flgo.simulator import DefaultSimulator

LATENCIES = "UNI-1-100"  # units of virtual time, drawn once a client
WARM_UP = 200  # gradients


class Silent(BasicLogger):
    """Records and prints nothing."""

    def log_once(self, *_arguments, **_options) -> None:
        """Called after every round."""

    def show_current_output(self) -> None:
        """Called after every round."""


class Server(fedasync.Server):
    """FedAsync that counts the gradients it was sent, and the seconds since the warm-up."""

    received, timed, begun = 0, 0, 0.0

    def package_handler(self, received_packages: dict) -> bool:
        """Mix in what arrived."""
        arrived = len(received_packages["__cid"])
        self.received += arrived
        if self.begun:
            self.timed += arrived
        elif self.received > WARM_UP:
            self.begun = time.process_time()
        return super().package_handler(received_packages)


class Algorithm:
    """What FLGo wants to be given: who serves and who computes."""

    Server, Client = Server, BasicClient


def main(clients: int, rounds: int, features: int, classes: int, batch: int) -> None:
    """Write the task, then run it."""
    sizes = {"num_clients": clients, "dimension": features, "num_classes": classes}
    option = {
        "num_rounds": rounds, "num_steps": 1, "batch_size": batch, "learning_rate": 0.01,
        "proportion": 1.0, "responsiveness": LATENCIES, "train_holdout": 0.0, "seed": 0,
        "eval_interval": 10**9, "check_interval": 10**9, "log_level": "ERROR",
        "no_log_console": True, "no_tqdm": True, "gpu": [],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/task"
        flgo.gen_task({"benchmark": {"name": task, "para": sizes}}, place)
        runner = flgo.init(place, Algorithm, option, Logger=Silent, Simulator=DefaultSimulator)
        runner.run()
    print((time.process_time() - runner.begun) / runner.timed)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
