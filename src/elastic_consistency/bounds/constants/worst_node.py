"""One-peer exponential graph: the worst single node, and noise alone."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import M, k, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/mixing.md"

_WORST = "it says what the worst gradients attain, and a run meets others"

one_peer_worst_node_gap = Bound(
    name="one_peer_worst_node_gap",
    title="one-peer exponential graph of 2^k nodes: worst single node",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.EQUAL,
    expression=(2 * k - 4 + 4 / 2**k) * M,
    assumptions=(sp.Ge(k, 1, evaluate=False),),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.EXACT_AFTER_K}),
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="Sum over lags s < k of 2 (1 - 2^(s - k)); proof on its page.",
    scope=_WORST,
)
one_peer_noise_gap = Bound(
    name="one_peer_noise_gap",
    title="one-peer exponential graph of 2^k nodes: noise alone",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.EQUAL,
    expression=sigma * sp.sqrt(1 - (k + 1) / 2**k),
    assumptions=(sp.Ge(k, 1, evaluate=False),),
    requirements=frozenset(
        {Requirement.VARIANCE, Requirement.LINEAR_LOSS, Requirement.EXACT_AFTER_K}
    ),
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="Squares: sum over lags s < k of 2^-s - 2^-k; proof on its page.",
    scope=_WORST,
)
