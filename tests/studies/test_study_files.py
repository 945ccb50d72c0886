"""Study files: what is written is what is built, and every mistake gets one clear line."""

import json
import re
import tomllib
from dataclasses import replace
from inspect import isabstract
from pathlib import Path

import numpy as np
import pytest
import yaml

from elastic_consistency.cli import main
from elastic_consistency.execution import Executor
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import GEM, SGD, HeavyBall
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Link, Tree
from elastic_consistency.simulator.delays import AbstractDelayLaw, Exponential, LogNormal
from elastic_consistency.simulator.lock_step import ExecutorAnswers
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AllReduce,
    EnergyMatchingServer,
    Layerwise,
    Ringmaster,
    Scheduler,
)
from elastic_consistency.studies.comparison.contenders import compare
from elastic_consistency.studies.comparison.runs import run_loss, schedule_of
from elastic_consistency.studies.files import StudyFileError, load_study
from elastic_consistency.studies.files.building import build
from elastic_consistency.studies.files.json_schema import study_schema
from elastic_consistency.studies.files.kinds import field_types, file_fields, kinds
from elastic_consistency.studies.files.presets import preset_text, presets
from elastic_consistency.studies.on_disk.finished_work import FinishedWork
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Seeds

STUDY = (Path(__file__).parent / "small.toml").read_text()

# What is changed (from, to), and what the line must say.
MISTAKES = {
    "misspelt law": ('"log_normal"', '"lognormal"', r"compute\.kind must be one of .*'log_normal'"),
    "misspelt field of a law": ("median_s", "medain_s", r"medain_s is no field.*'median_s'"),
    "a law without its parameter": ("median_s = 0.1, ", "", r"compute\.median_s must be given"),
    "a duration of the wrong sign": ("median_s = 0.1", "median_s = -0.1", r"compute is refused"),
    "a duration as text": ("median_s = 0.1", 'median_s = "0.1"', r"must be a number, got '0.1'"),
    "misspelt table": ("[comparison]", "[comparision]", r"comparision is no field.*'comparison'"),
    "misspelt field": ("replicates =", "replicate =", r"seeds\.replicate"),
    "a missing field": ("gradients = 20\n[[", "[[", r"contenders\[0\]\.gradients must be given"),
    "a missing table": ("[problem]", "[payload]", r"payload\.\w+ is no field|problem must"),
    "another format": ("format = 1", "format = 2", r"format must be 1, got 2"),
    "a share beyond 1": ("target_share = 0.5", "target_share = 5", r"target_share must be less"),
    "an unknown protocol": ('"ringmaster"', '"ringmast"', r"protocol\.kind .*'ringmaster'"),
    "a protocol's field": ("threshold = 4", "treshold = 4", r"treshold is no field.*'threshold'"),
    "a fraction of a job": ("threshold = 4", "threshold = 4.5", r"threshold must be a whole"),
    "an unknown rule": ('"heavy_ball"', '"havy_ball"', r"rule\.kind .*'heavy_ball'"),
    "momentum of 2": ("momentum = 0.5", "momentum = 2", r"rule is refused: HeavyBall\.momentum"),
    "a step size": ("momentum = 0.5", "momentum = 0.5, step_size = 1.0", r"must not be given"),
    "an unknown inner codec": ('"top_k"', '"topk"', r"codec\.codec\.kind .*'top_k'"),
    "an unknown link": ('fabric = "lan"', 'fabric = "lam"', r"cluster\.fabric .*'lan'"),
    "no jitter": ('jitter = { kind = "exponential", scale_s = 0.002 }\n', "", r"lan\.jitter must"),
    "no latency": ("latency_s = 0.01\n", "", r"links\.lan\.latency_s must be given"),
    "no bandwidth": ("bandwidth_bytes_per_s = inf\n", "", r"bandwidth_bytes_per_s must be given"),
    "no link": ('link = "lan"\n[[', "[[", r"workers\[0\]\.uplink must be given"),
    "no workers": ("count = 2\ncomp", "count = 0\ncomp", r"workers\[0\]\.count must be greater"),
    "tuning on the same seeds": ("first = 9", "first = 1", r"Seeds\.tuning must be other seeds"),
    "a field of another problem": (
        "start = [",
        "batch = 4\nstart = [",
        r"problem\.batch is no field; allowed",
    ),
    "no start": ("start = [1.0, 1.0]\n", "", r"problem\.start must be given"),
    "twice the same name": ('"second"', '"first"', r"contenders must be .* a name of its own"),
    "not TOML": ("format = 1", "format 1", r"is not TOML: .*line 1"),
    "a number for a part": (
        '"lan"\n[[cluster',
        "3\n[[cluster",
        r"fabric must be a name or a table",
    ),
    "no known problem": ('"quadratic"', '"quadratc"', r"problem\.kind must be .*'quadratic'"),
    "no known bound": (
        "[seeds]",
        '[certificate]\ngradients = 9\nreplicates = 2\nbounds = ["gosip_gap"]\n[seeds]',
        r"certificate\.bounds\[0\] must be one of .*did you mean 'gossip_gap'",
    ),
    "a contender of no table": ("[[contenders]]\nname", "[[contender]]\nname", r"contender"),
}


@pytest.fixture
def written(tmp_path):
    """A file with the given text."""

    def write(text: str, name: str = "study.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_the_study_is_what_the_file_says(written):
    study = load_study(written(STUDY))

    link = Link(0.01, Exponential(0.002))
    first, second = study.contenders
    assert study.cluster.fabric == study.cluster.workers[1].uplink == link
    assert study.cluster.workers[0].compute == LogNormal(0.1, 0.2)
    assert (study.cluster.n_workers, first.protocol) == (2, Ringmaster(4))
    assert first.rule == HeavyBall(1.0, 0.5)
    assert first.codec == ErrorFeedback(TopK(1))
    assert second.protocol == AllReduce(Tree())
    assert (study.seeds.timing, study.certificate) == ((0, 1), None)


def test_yaml_says_the_same_as_toml(written):
    from dataclasses import fields

    content = tomllib.loads(STUDY)
    in_yaml = load_study(written(yaml.safe_dump(content), "study.yaml"))
    in_toml = load_study(written(STUDY))

    for field in fields(in_toml):
        if field.name != "oracle":  # it holds arrays
            assert getattr(in_yaml, field.name) == getattr(in_toml, field.name)


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_line_with_its_place_and_exit_code_2(written, capsys, case):
    old, new, told = MISTAKES[case]
    assert old in STUDY
    path = written(STUDY.replace(old, new, 1))

    code = main(["simulate", str(path)])

    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"elastic: {path}: ")
    assert re.search(told, said.err), said.err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", b"{}", "must end in .toml, .yaml or .yml"),
        ("a.yaml", b"- 1\n- 2\n", "must hold a table of fields, got list"),
        ("a.yaml", b"a: [1, 2\n", r"is not plain YAML: .* \(at line 2, column 1\)"),
        ("a.yaml", b"a: !!python/object/apply:os.system ['true']\n", "is not plain YAML"),
        ("a.toml", b"\xff\xfe", "must be UTF-8 text; byte 0 is not"),
        ("a.toml", b"", r"format must be given"),
        ("a.toml", b"#" * (4 * 2**20 + 1), "must have at most"),
    ],
)
def test_a_file_of_the_wrong_kind_is_refused(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(StudyFileError, match=told):
        load_study(path)


def test_a_class_from_elsewhere_needs_the_flag(written, tmp_path, monkeypatch):
    (tmp_path / "my_laws_for_a_test.py").write_text(
        "from dataclasses import dataclass\n"
        "from elastic_consistency.simulator.delays import AbstractDelayLaw\n"
        "@dataclass(frozen=True)\n"
        "class MyOwnLaw(AbstractDelayLaw):\n"
        "    mean_s: float\n"
        "    def quantile(self, u): return 0 * u + self.mean_s\n"
        "    def mean(self): return self.mean_s\n"
        "    def variance(self): return 0.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    law = '{ kind = "log_normal", median_s = 0.1, log_deviation = 0.2 }'
    path = written(STUDY.replace(law, '{ kind = "my_own_law", mean_s = 0.3 }'))

    with pytest.raises(StudyFileError, match=r"compute\.kind must be one of"):
        load_study(path)

    study = load_study(path, modules=("my_laws_for_a_test",))
    assert study.cluster.workers[0].compute.mean_s == 0.3


@pytest.mark.parametrize("name", [preset.name for preset in presets()])
def test_every_preset_is_a_study(written, name):
    study = load_study(written(preset_text(name)))

    assert study.name == name
    assert study.contenders[-1].name == "synchronous"


def test_energy_matching_has_a_preset_that_runs(written):
    study = load_study(written(preset_text("energy_matching")))
    first = study.contenders[0]

    schedule = schedule_of(study, replace(first, jobs=200), 0)
    run = run_loss(study, first, schedule, 0.01, sample_seeds=(0, 1))

    assert first.protocol == EnergyMatchingServer(ahead=True)
    assert isinstance(first.rule, GEM)
    assert run.loss[-1].max() < run.loss[0].min()


def test_every_protocol_has_a_preset_whose_schedules_it_recognises(written):
    found = {}
    for preset in presets():
        study = load_study(written(preset_text(preset.name)))
        first = replace(study.contenders[0], jobs=40)
        if study.cluster.n_workers == 4:
            schedule = schedule_of(study, first, 0)
            schedule.check()
            first.protocol.restate(schedule)
        found[type(first.protocol)] = study.oracle.dimension
        found[type(study.contenders[-1].protocol)] = study.oracle.dimension

    assert set(found) == set(kinds(AbstractProtocol).values())
    assert set(found.values()) == {31}


def test_a_schedule_that_gradients_decide_is_replayed_exactly(written, tmp_path):
    """The answers hold for the samples on which they were decided."""
    loaded = load_study(written(preset_text("norm_bounded")))
    study = replace(loaded, finished=FinishedWork(tmp_path / "parts"))
    first = replace(study.contenders[0], jobs=40)
    (sample,) = study.samples(first, 3)

    schedule, again = (schedule_of(study, first, 3, 0.1) for _ in "ab")
    other = schedule_of(study, first, 3, 0.2)
    start, meta = study.oracle.start()[None], schedule.metadata
    executor = Executor(meta, study.oracle, SGD(0.1), seeds=(sample,), start=start)
    answers = ExecutorAnswers(executor, meta.block_sizes)

    assert schedule.digest() == again.digest() != other.digest()
    assert len(meta.decisions) > 0
    assert _answered(answers, schedule) == {d.operands: d.answer for d in meta.decisions}


def _answered(answers, schedule):
    """The recorded questions, asked again of an execution that knows their gradients."""
    rows, found, end = schedule.rows, {}, 0
    gradients = rows.op == Op.GRADIENT
    for decision in schedule.metadata.decisions:
        jobs = decision.operands[1 : 1 + decision.operands[0]]
        known = 1 + max(int(np.flatnonzero(gradients & (rows.job == j))[0]) for j in jobs)
        if known > end:
            answers.follow(rows.slice(end, known))
            end = known
        found[decision.operands] = answers.answer(decision.question, decision.operands)
    return found


def test_a_study_compares_both_elastic_schedulers(written):
    """The one that asks has one sample path a schedule, which its step size decides, too."""
    text = preset_text("norm_bounded").replace("gradients = 800", "gradients = 80")
    study = load_study(written(text))
    asking, barrier = study.contenders
    variance = replace(
        asking,
        name="variance",
        protocol=Layerwise(asking.protocol.profile, Scheduler.VARIANCE_BOUNDED),
    )
    few = replace(
        study,
        contenders=(asking, variance, barrier),
        seeds=Seeds(timing=(0, 1), tuning=(9,), replicates=2),
        step_shares=(0.5, 0.25),
        target=0.9,
    )

    results = [result for result, _ in compare(few, Progress())]

    assert [result.times_s.shape for result in results] == [(2, 1), (2, 2), (2, 2)]
    assert all(result.reached == result.runs for result in results)


def test_a_protocol_that_asks_takes_additive_rules_only(written):
    heavy_ball = 'rule = { kind = "heavy_ball", momentum = 0.9 }'
    text = preset_text("norm_bounded").replace('rule = "sgd"', heavy_ball, 1)

    with pytest.raises(StudyFileError, match=r"Contender\.rule must be an additive one"):
        load_study(written(text))


def test_the_federated_preset_has_slow_phases(written):
    workers = load_study(written(preset_text("federated"))).cluster.workers

    assert len(workers) == 60
    assert workers[-1].compute.factor == 5.0


def test_fields_of_laws_carry_their_unit():
    """A new law must decide: its fields are seconds and end in _s, or they are listed here."""
    numbers = {"shape", "tail", "log_deviation", "factor"}

    for law in kinds(AbstractDelayLaw).values():
        for name, field in file_fields(law).items():
            if field_types(law)[field.name] is float and field.name not in numbers:
                assert name.endswith("_s") or name == "seconds", (law, name)


def test_every_class_of_a_catalogue_can_be_named():
    from elastic_consistency.simulator import protocols
    from elastic_consistency.simulator.protocols import AbstractProtocol

    offered = {
        cls
        for cls in vars(protocols).values()
        if isinstance(cls, type) and issubclass(cls, AbstractProtocol) and not isabstract(cls)
    }

    assert offered <= set(kinds(AbstractProtocol).values())


def test_an_integer_is_a_number_but_true_is_not():
    assert build(float, 3, "x") == 3.0
    with pytest.raises(ValueError, match="must be a number, got True"):
        build(float, True, "x")


def test_the_schema_lists_what_can_be_named():
    schema = json.dumps(study_schema())

    for name in ("asynchronous_server", "median_s", "heavy_ball", "top_k", "latency_s"):
        assert f'"{name}"' in schema
    assert '"step_size"' not in json.dumps(
        study_schema()["$defs"]["ContenderTable"]["properties"]["rule"]
    )
