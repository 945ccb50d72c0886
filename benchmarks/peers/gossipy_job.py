"""The job of gossipy_speed.py in gossipy: prints seconds of processor time for its messages.

    python gossipy_job.py NODES ROUNDS FEATURES CLASSES BATCH

Each message makes its receiver merge the two models and take one step on one batch, which is
gossipy's mode MERGE_UPDATE. Nothing is evaluated, no report is kept, a round is one time step.
"""

import sys
import time

import numpy as np
import torch
from gossipy import set_seed
from gossipy.core import AntiEntropyProtocol, CreateModelMode, StaticP2PNetwork
from gossipy.model.handler import TorchModelHandler
from gossipy.model.nn import LogisticRegression
from gossipy.node import GossipNode
from gossipy.simul import GossipSimulator

SAMPLES = 64  # of each node


class NoTestData:
    """What the simulator asks of its data: there is nothing to evaluate."""

    def has_test(self) -> bool:
        """Never."""
        return False


def main(n_nodes: int, rounds: int, features: int, classes: int, batch: int) -> None:
    """Build the nodes, then time the simulation alone."""
    torch.set_num_threads(1)
    set_seed(0)
    rng = np.random.default_rng(0)
    handler = TorchModelHandler(
        net=LogisticRegression(features, classes),
        optimizer=torch.optim.SGD,
        optimizer_params={"lr": 0.01},
        criterion=torch.nn.functional.cross_entropy,
        local_epochs=0,
        batch_size=batch,
        create_model_mode=CreateModelMode.MERGE_UPDATE,
    )
    network, nodes = StaticP2PNetwork(n_nodes), {}
    for number in range(n_nodes):
        data = (
            torch.tensor(rng.standard_normal((SAMPLES, features)), dtype=torch.float32),
            torch.tensor(rng.integers(classes, size=SAMPLES)),
        )
        nodes[number] = GossipNode(
            number, (data, None), round_len=1, model_handler=handler.copy(), p2p_net=network
        )
    simulator = GossipSimulator(nodes, NoTestData(), delta=1, protocol=AntiEntropyProtocol.PUSH)
    simulator.init_nodes()
    begin = time.process_time()
    simulator.start(n_rounds=rounds)
    print(time.process_time() - begin)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
