"""One preset for each protocol, on the four processes of the preset `laptop`."""

from dataclasses import replace

from elastic_consistency.studies.files.preset import Preset

_LAYERS = (
    '[{ name = "first", n_parameters = 16, forward = 1.0, backward = 2.0 }, '
    '{ name = "second", n_parameters = 15, forward = 1.0, backward = 2.0 }]'
)
_RING = "[[1, 3], [0, 2], [1, 3], [0, 2]]"
_READS = '{ kind = "exponential", scale_s = 0.001 }'

# What it is, in one line; the protocol as TOML; the rule where it is not plain SGD.
_EXAMPLES: dict[str, tuple[str, ...]] = {
    "bounded_staleness": ("nobody runs more than four jobs ahead", "bound = 4.0"),
    "backup_workers": ("a round takes the first three gradients of four", "needed = 3"),
    "queued_server": (
        "the server takes a time for each update",
        'service = { kind = "exponential", scale_s = 0.002 }',
    ),
    "local_steps_server": (
        "five local steps, then one commit of their sum (Downpour)",
        "window = 5",
        '{ kind = "downpour", window = 5 }',
    ),
    "rennala": ("a step takes the next four gradients at one model", "batch = 4"),
    "ringmaster": ("gradients that are eight steps old are discarded", "threshold = 8"),
    "incremental_aggregate": ("a step takes the last gradient of every worker (PIAG)", ""),
    "shared_memory": (
        "workers read and write one model block by block (Hogwild)",
        f"sizes = [16, 15], read = {_READS}, write = {_READS}",
    ),
    "block_coordinate": ("each worker changes one block at a time", "sizes = [16, 15]"),
    "message_passing": (
        "replicas whose updates may be two rounds late",
        "lag = 2, timeout_s = 0.5",
    ),
    "lossy_broadcast": (
        "updates get lost; the models agree again every ten rounds",
        "loss = 0.05, retries = 0, timeout_s = 0.1, resync = 10",
    ),
    "crash_faults": (
        "worker 3 dies in round 20, in the middle of its broadcast",
        "crashes = [{ worker = 3, round = 20, receivers = [0] }], timeout_s = 1.0",
    ),
    "layerwise": (
        "layer by layer; a forward pass waits for its own layer only",
        f'profile = {{ layers = {_LAYERS} }}, scheduler = "cross_barrier"',
    ),
    "norm_bounded": (
        "elastic: goes on when 0.6 of the norm of every gradient is in",
        f"profile = {{ layers = {_LAYERS} }}, threshold = 0.6",
    ),
    "local_sgd": ("five local steps, then one average of all models", "steps = 5"),
    "gossip": (
        "each round one peer gets half of the model (SGP)",
        'topology = { kind = "one_peer_exponential", nodes = 4 }',
    ),
    "overlap_gossip": (
        "the same, and messages may be two rounds late (OSGP)",
        'topology = { kind = "one_peer_exponential", nodes = 4 }, lag = 2',
    ),
    "pairwise_averaging": (
        "two neighbours average their models at a time (AD-PSGD)",
        f"graph = {{ neighbours = {_RING} }}, bipartite = true",
    ),
    "elastic_averaging": (
        "springs tie the workers to a centre, round by round",
        "elasticity = 0.1",
    ),
    "asynchronous_elastic_averaging": (
        "springs tie the workers to a centre, each at its own time",
        "elasticity = 0.1, period = 4",
    ),
}
_KINDS = {"overlap_gossip": "gossip"}


def protocol_presets(machines: Preset) -> tuple[Preset, ...]:
    """One preset a protocol.

    Args:
        machines: A preset of four workers.
    """
    return tuple(_preset(machines, name, *example) for name, example in _EXAMPLES.items())


def _preset(machines: Preset, name: str, about: str, fields: str, rule: str = '"sgd"') -> Preset:
    given = f", {fields}" if fields else ""
    kind = _KINDS.get(name, name)
    first = (
        f'name = "{name.replace("_", " ")}"\nprotocol = {{ kind = "{kind}"{given} }}\nrule = {rule}'
    )
    return replace(machines, name=name, about=about, first=first)
