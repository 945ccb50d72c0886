"""Every part of a cluster can be given in a file."""

import json
import tomllib
from dataclasses import fields
from math import inf
from pathlib import Path

import pytest
import yaml

from elastic_consistency.simulator import (
    BackgroundTraffic,
    Clock,
    Cluster,
    Crash,
    FaultScript,
    GilbertElliott,
    LateStart,
    Link,
    Partition,
    PeerLink,
    RandomCrashes,
    SharedHost,
    Worker,
)
from elastic_consistency.simulator.delays import Constant, Exponential, LogNormal
from elastic_consistency.studies.files import StudyFileError, load_study
from elastic_consistency.studies.files.json_schema import study_schema
from elastic_consistency.studies.files.layout import ClusterTable, WorkerTable

STUDY = (Path(__file__).parent / "small.toml").read_text()
BEGIN, END = STUDY.index("[cluster]"), STUDY.index("[[contenders]]")
WORKERS = """
[[cluster.workers]]
count = 1
compute = { kind = "log_normal", median_s = 0.1, log_deviation = 0.2 }
link = "lan"
clock = { offset_s = 1.5, drift = 1e-5 }
[[cluster.workers]]
count = 3
compute = { kind = "log_normal", median_s = 0.1, log_deviation = 0.2 }
slowdown = 2.0
link = "lan"
"""
WHOLE = f"""
[links.bad]
latency_s = 0.02
jitter = {{ kind = "constant", seconds = 0.0 }}
bandwidth_bytes_per_s = 1e6
loss = {{ kind = "gilbert_elliott", good_to_bad = 0.1, bad_to_good = 0.3, loss_good = 0.01, loss_bad = 0.5 }}
resend_s = 0.2
background = {{ share = 0.5, idle = {{ kind = "exponential", scale_s = 1.0 }}, busy = {{ kind = "exponential", scale_s = 2.0 }} }}
[cluster]
fabric = "lan"
exceptions = [{{ sender = 0, receiver = 1, link = "bad" }}]
server_bandwidth_bytes_per_s = 1e9
fabric_bandwidth_bytes_per_s = 2e9
shared_hosts = [{{ workers = [0, 1], contention = 0.5 }}]
[cluster.faults]
faults = [
    {{ kind = "crash", worker = 1, at_s = 3.0, down_s = inf }},
    {{ kind = "random_crashes", worker = 2, between = {{ kind = "exponential", scale_s = 9.0 }}, down = {{ kind = "constant", seconds = 1.0 }} }},
    {{ kind = "late_start", worker = 3, at_s = 2.0 }},
    {{ kind = "partition", workers = [0, 2], from_s = 1.0, until_s = 2.0 }},
]
lost_acknowledgements = 0.1
resend_s = 0.5
{WORKERS}
"""  # noqa: E501


@pytest.fixture
def cluster_of(tmp_path):
    """The cluster that these lines describe."""

    def load(lines: str) -> Cluster:
        path = tmp_path / "study.toml"
        path.write_text(STUDY[:BEGIN] + lines + STUDY[END:])
        return load_study(path).cluster

    return load


def test_a_file_gives_every_part(cluster_of):
    cluster = cluster_of(WHOLE)

    lan = Link(0.01, Exponential(0.002))
    channel = GilbertElliott(0.1, 0.3, loss_good=0.01, loss_bad=0.5)
    traffic = BackgroundTraffic(share=0.5, idle=Exponential(1.0), busy=Exponential(2.0))
    bad = Link(0.02, Constant(0.0), 1e6, loss=channel, resend_s=0.2, background=traffic)
    work = LogNormal(0.1, 0.2)
    first = Worker(work, uplink=lan, downlink=lan, clock=Clock(offset_s=1.5, drift=1e-5))
    slow = Worker(work, slowdown=2.0, uplink=lan, downlink=lan)
    assert cluster == Cluster(
        (first, slow, slow, slow),
        fabric=lan,
        exceptions=(PeerLink(0, 1, bad),),
        server_bandwidth_bytes_per_s=1e9,
        shared_hosts=(SharedHost((0, 1), 0.5),),
        faults=FaultScript(
            (
                Crash(1, 3.0, inf),
                RandomCrashes(2, Exponential(9.0), Constant(1.0)),
                LateStart(3, 2.0),
                Partition((0, 2), 1.0, 2.0),
            ),
            lost_acknowledgements=0.1,
            resend_s=0.5,
        ),
        fabric_bandwidth_bytes_per_s=2e9,
    )


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("loss = 0.25", 0.25),
        ('loss = { kind = "gilbert_elliott", good_to_bad = 0.1, bad_to_good = 0.5 }',
         GilbertElliott(0.1, 0.5)),
    ],
    ids=["number", "channel"],
)  # fmt: skip
def test_a_loss_is_a_number_or_a_channel(cluster_of, line, loss):
    """In TOML, and the same fields in YAML."""
    begin, end = WHOLE.index("loss = {"), WHOLE.index("resend_s = 0.2")

    toml = cluster_of(WHOLE[:begin] + line + "\n" + WHOLE[end:])

    assert toml.exceptions[0].link.loss == loss
    assert toml.exceptions[0].link.resend_s == 0.2


@pytest.mark.parametrize(
    ("value", "loss"),
    [(0.25, 0.25), ({"kind": "gilbert_elliott", "good_to_bad": 0.1, "bad_to_good": 0.5},
                    GilbertElliott(0.1, 0.5))],
    ids=["number", "channel"],
)  # fmt: skip
def test_a_loss_is_the_same_in_yaml(tmp_path, value, loss):
    content = tomllib.loads(STUDY)
    content["links"]["lan"] |= {"loss": value, "resend_s": 0.5}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(content))

    link = load_study(path).cluster.fabric

    assert (link.loss, link.resend_s) == (loss, 0.5)


def test_no_field_of_a_cluster_or_worker_is_out_of_reach():
    """Workers come in groups, whose links may be given once for both ways."""
    assert {field.name for field in fields(Cluster)} == set(ClusterTable.model_fields)
    assert {field.name for field in fields(Worker)} == set(WorkerTable.model_fields) - {
        "count",
        "link",
    }


def test_the_schema_knows_faults_and_hosts():
    cluster = json.dumps(study_schema()["$defs"]["ClusterTable"])

    for name in ("random_crashes", "partition", "contention", "until_s", "lost_acknowledgements"):
        assert f'"{name}"' in cluster


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"late_start"', '"late"', r"faults\.faults\[2\]\.kind must be one of .*'late'"),
        ("down_s = inf", "down = inf", r"faults\[0\]\.down is no field.*'down_s'"),
        (", down_s = inf", "", r"faults\[0\]\.down_s must be given"),
        ("until_s = 2.0", "until_s = 0.5", r"faults\[3\] is refused: Partition\.until_s"),
        ("resend_s = 0.2\n", "", r"links\.bad.* Link\.resend_s must be given"),
        ("resend_s = 0.5\n", "", r"faults.* FaultScript\.resend_s must be given"),
        ("contention = 0.5", "contention = -1", r"shared_hosts\[0\] is refused: .*contention"),
        ("worker = 1,", "worker = 7,", r"cluster is refused: Cluster\.faults"),
        ('link = "bad" }', 'link = "worse" }', r"exceptions\[0\]\.link must be a table"),
        ("bandwidth_bytes_per_s = 1e9", "bandwidth_bytes_per_s = 0", r"server_b.* greater than 0"),
        ("drift = 1e-5", "drft = 1e-5", r"workers\[0\]\.clock\.drft is no field.*'drift'"),
    ],
)
def test_a_mistake_is_named_with_its_place(cluster_of, old, new, told):
    assert old in WHOLE

    with pytest.raises(StudyFileError, match=told):
        cluster_of(WHOLE.replace(old, new, 1))
