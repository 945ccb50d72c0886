"""What is true of the messages of gossip: their weights, and when they are mixed."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.network.topology import AbstractTopology
from elastic_consistency.simulator.protocols.fault_restatement import has_faults
from elastic_consistency.simulator.protocols.restatement import refuse_unless

_TOLERANCE = 1e-12


def require_mixing(schedule: Schedule, topology: AbstractTopology, lag: int, rule: str) -> None:
    """Each node's messages of each round carry the topology's weights, in time."""
    rows, jobs = schedule.rows, schedule.jobs
    nodes, faulty = range(schedule.metadata.n_workers), has_faults(schedule)
    letters = _Letters(schedule)
    begun, latest = dict.fromkeys(nodes, -1), dict.fromkeys(nodes, -1)
    for row in range(len(rows)):
        node, op = int(rows.replica[row]), rows.op[row]
        if op == Op.READ:
            begun[node] = int(jobs.round[rows.job[row]])
            late = letters.missing(topology, node, begun[node] - 1 - lag, row, faulty=faulty)
            refuse_unless(not late, rule, "no message is later than the lag", row=row)
        elif op == Op.ADD:
            latest[node] = int(jobs.round[rows.job[row]])
        elif op == Op.PUT:
            message, number = int(rows.message[row]), latest[node]
            letters.sent[node, number] = message
            weights = dict(topology.receivers(node, number))
            given = 1 - float(rows.keep[row])
            taken = sum(weights.get(w, 0.0) for w in letters.takers(message))
            whole = abs(given - sum(weights.values())) < _TOLERANCE
            settled = abs(given - taken) < _TOLERANCE or schedule.messages.in_flight[message]
            refuse_unless(whole or (faulty and settled), rule, "W_ii", row=row)
            fits = all(weights.get(w) == weight for w, weight in letters.takers(message).items())
            refuse_unless(fits, rule, "the weight of a message is W_ij", row=row)
            early = [k for w, k in letters.mixed(message).items() if k < row]
            refuse_unless(not early, rule, "a message is sent before it is mixed", row=row)


class _Letters:
    """Who has mixed which message with which weight, at which row, and who has sent it."""

    def __init__(self, schedule: Schedule) -> None:
        rows = schedule.rows
        self.sent: dict[tuple[int, int], int] = {}  # by sender and round
        self._taken: dict[int, dict[int, tuple[float, int]]] = {}
        for row in np.flatnonzero(rows.op == Op.MIX).tolist():
            by_taker = self._taken.setdefault(int(rows.message[row]), {})
            by_taker[int(rows.replica[row])] = (float(rows.weight[row]), row)

    def takers(self, message: int) -> dict[int, float]:
        return {taker: weight for taker, (weight, _) in self._taken.get(message, {}).items()}

    def mixed(self, message: int) -> dict[int, int]:
        return {taker: row for taker, (_, row) in self._taken.get(message, {}).items()}

    def missing(
        self, topology: AbstractTopology, node: int, due: int, row: int, *, faulty: bool
    ) -> list[int]:
        """From whom a message of round `due` is not yet mixed at `row`, though it should be.

        With faults a neighbour may be absent from a round and send nothing, and the node itself
        may be; it must then be in time with what it takes at all.
        """
        if due < 0:
            return []
        late = []
        for sender in topology.senders(node, due):
            message = self.sent.get((sender, due))
            mixed = -1 if message is None else self.mixed(message).get(node, -1)
            excused = faulty and (mixed < 0 or (node, due) not in self.sent)
            if not excused and not 0 <= mixed < row:
                late.append(sender)
        return late
