"""Commented study files to start from."""

from elastic_consistency._checks import nearest
from elastic_consistency.studies.files.errors import StudyFileError
from elastic_consistency.studies.files.preset import Preset
from elastic_consistency.studies.files.protocol_presets import protocol_presets

_LOCAL = 'latency_s = 2e-5, jitter = { kind = "constant", seconds = 0.0 }'
_GIGABIT = 1.25e8
_PAYLOAD = """[payload] # what travels in the system that you have in mind
model_bytes = 1.0e8
update_bytes = 1.0e8
# Every worker has a link of its own to the server; for a server whose link is shared, choose
# the protocol queued_server and give its time for one update.
"""

_PRESETS = (
    Preset(
        "laptop",
        "four processes of one machine; one of them shares its core with other work",
        f"""[links.memory]
{_LOCAL.replace(", jitter", chr(10) + "jitter")}
bandwidth_bytes_per_s = inf

[cluster]
fabric = "memory"

[[cluster.workers]]
count = 3
compute = {{ kind = "gamma", shape = 25.0, scale_s = 0.002 }}
link = "memory"

[[cluster.workers]] # the one that shares its core
count = 1
compute = {{ kind = "gamma", shape = 4.0, scale_s = 0.025 }}
link = "memory"
""",
        800,
    ),
    Preset(
        "two_nodes",
        "two nodes, 5 ms apart with jitter",
        """[links.between]
latency_s = 0.0048
jitter = { kind = "gamma", shape = 1.0, scale_s = 0.0002 } # mean and deviation 0.2 ms
bandwidth_bytes_per_s = inf

[cluster]
fabric = "between"

[[cluster.workers]]
count = 2
compute = { kind = "log_normal", median_s = 0.02, log_deviation = 0.1 }
link = "between"
""",
        600,
    ),
    Preset(
        "ethernet",
        "32 nodes of 8 GPUs on 10 Gbit/s Ethernet; the GPUs of a node act as one worker",
        f"""[links.ethernet]
latency_s = 5e-5
jitter = {{ kind = "exponential", scale_s = 2e-5 }}
bandwidth_bytes_per_s = {10 * _GIGABIT:.3g} # 10 Gbit/s

[cluster]
fabric = "ethernet"

[[cluster.workers]]
count = 32
compute = {{ kind = "log_normal", median_s = 0.25, log_deviation = 0.05 }}
link = "ethernet"
""",
        1920,
        _PAYLOAD,
    ),
    Preset(
        "infiniband",
        "32 nodes of 8 GPUs on 100 Gbit/s InfiniBand; the GPUs of a node act as one worker",
        f"""[links.infiniband]
latency_s = 2e-6
jitter = {{ kind = "constant", seconds = 0.0 }}
bandwidth_bytes_per_s = {100 * _GIGABIT:.4g} # 100 Gbit/s

[cluster]
fabric = "infiniband"

[[cluster.workers]]
count = 32
compute = {{ kind = "log_normal", median_s = 0.25, log_deviation = 0.05 }}
link = "infiniband"
""",
        1920,
        _PAYLOAD,
    ),
    Preset(
        "hundred_workers",
        "a hundred workers with heavy-tailed computation times",
        """[links.network]
latency_s = 0.0005
jitter = { kind = "exponential", scale_s = 0.0002 }
bandwidth_bytes_per_s = inf

[cluster]
fabric = "network"

[[cluster.workers]]
count = 100
compute = { kind = "pareto", minimum_s = 0.05, tail = 2.5 } # rare stragglers
link = "network"
""",
        6000,
    ),
    Preset(
        "federated",
        "sixty phones and tablets: slow links, speeds a factor of thirty apart",
        """[links.wifi]
latency_s = 0.02
jitter = { kind = "log_normal", median_s = 0.03, log_deviation = 0.8 }
bandwidth_bytes_per_s = inf

[links.mobile]
latency_s = 0.05
jitter = { kind = "log_normal", median_s = 0.1, log_deviation = 1.0 }
bandwidth_bytes_per_s = inf

[cluster]
fabric = "mobile"

[[cluster.workers]]
count = 20
compute = { kind = "log_normal", median_s = 0.1, log_deviation = 0.3 }
link = "wifi"

[[cluster.workers]]
count = 30
compute = { kind = "log_normal", median_s = 0.6, log_deviation = 0.5 }
link = "mobile"

[[cluster.workers]] # devices that turn slow for a while
count = 10
link = "mobile"

[cluster.workers.compute]
kind = "transient_straggler"
factor = 5.0
work = { kind = "log_normal", median_s = 0.6, log_deviation = 0.5 }
normal = { kind = "exponential", scale_s = 60.0 }
slow = { kind = "exponential", scale_s = 30.0 }
""",
        3600,
    ),
    Preset(
        "energy_matching",
        "twenty workers at a server that matches the energy of gradients instead of waiting",
        """[links.network]
latency_s = 0.001
jitter = { kind = "exponential", scale_s = 0.0005 }
bandwidth_bytes_per_s = inf

[cluster]
fabric = "network"

[[cluster.workers]]
count = 20
compute = { kind = "gamma", shape = 4.0, scale_s = 0.005 }
link = "network"
""",
        2000,
        first="""name = "energy matching"
# ahead: a worker computes at its last pull plus its own commit, as in the authors' program
protocol = { kind = "energy_matching_server", ahead = true }
rule = { kind = "gem", momentum = 0.9, clamp = [0.0, 5.0] }""",
    ),
)

_TEMPLATE = """# {about}
#
# Run it:       elastic run {name}.toml
# Every field:  elastic new --schema
#
# All durations are in seconds and none has a default. The computation times below are examples;
# measure yours, or fit them:  elastic calibrate YOUR-TRACE

format = 1
name = "{name}"

[problem] # strongly convex, so that its constants are known and bounds can be judged
kind = "logistic_regression"
data = "breast_cancer" # or "digits", "mnist", a LIBSVM file of yours
unit_length = true # scale every sample to length 1
batch = 4
ridge = 0.01

{links}
{payload}
# The last contender is the baseline.
[[contenders]]
{first}
gradients = {gradients}
loss_every = 4

[[contenders]]
name = "synchronous"
protocol = {{ kind = "all_reduce", collective = "tree" }}
rule = "sgd"
gradients = {gradients}

[comparison]
target_share = 0.02 # leave two per cent of the way from the first loss to the smallest
step_sizes_times_smoothness = [0.5, 0.25, 0.125, 0.0625, 0.03125] # the best one is chosen

[seeds] # step sizes are chosen on the seeds of tuning, contenders compared on those of timing
timing = {{ first = 0, count = 8 }}
tuning = {{ first = 1000, count = 2 }}
replicates = 8

[certificate] # how the first contender is judged against the bounds
gradients = 400
replicates = 256
error_rate = 0.01
"""


def presets() -> tuple[Preset, ...]:
    """Every preset: clusters first, then one for each protocol."""
    return (*_PRESETS, *protocol_presets(_PRESETS[0]))


def preset_text(name: str) -> str:
    """The commented study file of a preset.

    Raises:
        StudyFileError: If there is none of that name.
    """
    by_name = {preset.name: preset for preset in presets()}
    if name not in by_name:
        allowed = ", ".join(by_name)
        raise StudyFileError(
            f"PRESET must be one of {allowed}, got {name!r}{nearest(name, by_name)}."
        )
    return study_text(by_name[name])


def study_text(preset: Preset) -> str:
    """The commented study file of any preset."""
    return _TEMPLATE.format(
        about=preset.about,
        name=preset.name,
        links=preset.links,
        gradients=preset.gradients,
        payload=preset.payload,
        first=preset.first,
    )
