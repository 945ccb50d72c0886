"""Topologies: who sends to whom in a round, and with which weight."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from elastic_consistency._checks import check

if TYPE_CHECKING:
    import networkx as nx


class AbstractTopology(ABC):
    """The mixing matrix of every round, column by column; columns sum to 1."""

    __slots__ = ()

    @abstractmethod
    def receivers(self, sender: int, round: int) -> tuple[tuple[int, float], ...]:
        """Who receives from `sender` in `round`, and the weight of what arrives."""

    @abstractmethod
    def senders(self, receiver: int, round: int) -> tuple[int, ...]:
        """From whom `receiver` receives in `round`, ascending."""

    @abstractmethod
    def n_nodes(self) -> int:
        """Number of nodes."""


@final
@dataclass(frozen=True, slots=True)
class Graph(AbstractTopology):
    """An undirected graph with Metropolis weights, the same in every round.

    W_ij = 1 / (1 + max(degree_i, degree_j)) between neighbours, so W is symmetric and doubly
    stochastic on any graph; on a ring every weight is 1/3.

    Attributes:
        neighbours: For each node its neighbours, ascending.

    Source: Xiao, Boyd, Kim (2007), Distributed Average Consensus with Least-Mean-Square
    Deviation, JPDC 67(1), section 2.
    """

    neighbours: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = len(self.neighbours)
        mutual = all(
            0 <= j < n and j != i and i in self.neighbours[j]
            for i, others in enumerate(self.neighbours)
            for j in others
        )
        ordered = all(tuple(sorted(set(others))) == others for others in self.neighbours)
        allowed = "for each node its neighbours, ascending, and mutual"
        check(n > 0 and mutual and ordered, self, "neighbours", allowed)

    @staticmethod
    def ring(n_nodes: int) -> "Graph":
        """Each node and the two next to it."""
        return Graph(tuple(_others(i, ((i - 1) % n_nodes, (i + 1) % n_nodes)) for i in
                           range(n_nodes)))  # fmt: skip

    @staticmethod
    def of_networkx(graph: "nx.Graph") -> "Graph":
        """Any networkx graph; its nodes become 0, 1, ... in their own order."""
        number = {node: k for k, node in enumerate(graph)}
        return Graph(
            tuple(_others(number[node], (number[n] for n in graph[node])) for node in graph)
        )

    def receivers(self, sender, round):
        degree = len(self.neighbours[sender])
        return tuple(
            (j, 1 / (1 + max(degree, len(self.neighbours[j])))) for j in self.neighbours[sender]
        )

    def senders(self, receiver, round):
        return self.neighbours[receiver]

    def n_nodes(self):
        return len(self.neighbours)


@final
@dataclass(frozen=True, slots=True)
class OnePeerExponential(AbstractTopology):
    """In round r every node sends half of what it has to the node 2^(r mod k) places further.

    k = ceil(log2(nodes)); for a power of two k rounds average exactly.

    Attributes:
        nodes: Number of nodes, >= 1.

    Source: Assran, Loizou, Ballas, Rabbat (2019), arXiv:1811.10792.
    """

    nodes: int

    def __post_init__(self) -> None:
        check(self.nodes >= 1, self, "nodes", "a number of nodes >= 1")

    def _hop(self, round: int) -> int:
        return 1 << (round % max(1, (self.nodes - 1).bit_length()))

    def receivers(self, sender, round):
        if self.nodes == 1:
            return ()
        return (((sender + self._hop(round)) % self.nodes, 0.5),)

    def senders(self, receiver, round):
        if self.nodes == 1:
            return ()
        return ((receiver - self._hop(round)) % self.nodes,)

    def n_nodes(self):
        return self.nodes


def _others(node: int, neighbours: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({j for j in neighbours if j != node}))
