"""The schedule of a seed is pinned, one for each protocol.

A change of a digest is a change of what seeds mean: say so in the changelog. All delays are
empirical with few binary digits, so that no logarithm of some machine plays a part; the
protocols that hold a law themselves are given such laws here.
"""

from dataclasses import replace

from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker, simulate
from elastic_consistency.simulator.delays import Empirical

COMPUTE = Empirical((0.5, 0.75, 1.0, 1.25, 2.5, 4.0))
JITTER = Empirical((0.0, 0.0625, 0.125, 0.5))
LINK = Link(0.125, JITTER, 2.0**20)
CLUSTER = Cluster((Worker(COMPUTE, 1.0, LINK, LINK),) * 3 + (Worker(COMPUTE, 2.0),), fabric=LINK)
DIGESTS = {
    "asynchronous server": "b68b62f48f25520a",
    "all-reduce": "61691c5cda807d24",
    "bounded staleness": "0376aa71bd7b61df",
    "backup workers": "30dae013a6dbd081",
    "backup workers, interrupted": "70d137ad68d5268c",
    "queued server": "b115ba33412b0b61",
    "local steps": "ffce5afc8a4a941b",
    "normalised local steps": "0ce51b9cb60a7713",
    "energy matching server": "b21dd7f085954ad8",
    "energy matching server, ahead": "dedab6840c7c85a8",
    "rennala": "93e562b7d226cbfc",
    "ringmaster": "59c35feb83b37bc5",
    "ringmaster, stopping": "dd92a379101a0fbb",
    "incremental aggregate": "e2a9282af0732e41",
    "block coordinate": "a610fae06d556d03",
    "shared memory": "5d9b4da000dcce63",
    "message passing": "f73e3b29f8968dbb",
    "message passing, losses": "81881f12804b8c94",
    "crash faults": "6ac62c6dbfe14163",
    "crash faults, substituted": "51f3b5243fc2540f",
    "lossy broadcast": "a52fd30e9ff04b98",
    "lossy broadcast, repeated": "3565a62f472d969f",
    "lossy broadcast, averaged": "5eb32dc4f89da829",
    "local SGD": "09c83ef2ab7ac324",
    "layer-wise with a barrier": "46f86dc81cd1974f",
    "layer-wise across the barrier": "db549f541774d450",
    "layer-wise, variance-bounded": "b93a4f3a9f7c5e70",
    "gossip on a ring": "e985e345a23dde90",
    "gradient push": "9420e86ca9d0cbd2",
    "overlap gradient push": "ac80e4600778c118",
    "pairwise averaging": "66d1f6c053a077d6",
    "pairwise averaging, bipartite": "d9b01c79ac13eaa0",
    "elastic averaging": "a55a8ba8ef3a808c",
    "elastic averaging, step first": "9b81b21de4a220c2",
    "asynchronous elastic averaging": "34a17a04465492bc",
    "asynchronous elastic averaging, step first": "5fa8eb9d60558463",
}


def _with_pinned_laws(protocol):
    fields = type(protocol).__dataclass_fields__
    laws = {name: JITTER for name in ("service", "read", "write") if name in fields}
    return replace(protocol, **laws)


def test_the_schedule_of_a_seed_is_pinned(protocol, request):
    schedule = simulate(_with_pinned_laws(protocol), CLUSTER, until=Until(jobs=24), seed=2024,
                        payload=Payload(2.0**17, 2.0**16))  # fmt: skip

    assert schedule.digest()[:16] == DIGESTS[request.node.callspec.id]
