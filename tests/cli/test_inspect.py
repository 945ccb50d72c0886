"""`elastic inspect`: the text has the figures of the JSON, the longest waits first."""

import json

from elastic_consistency.schedule import timeline
from elastic_consistency.simulator import Cluster, Link, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer


def _workers(link: Link) -> Cluster:
    """Gradients take three seconds on worker 0 and one on worker 1; pulls take a quarter."""
    down = Link(latency_s=0.25)
    return Cluster(tuple(Worker(Constant(t), uplink=link, downlink=down) for t in (3.0, 1.0)))


def test_times_stand_under_their_headings(elastic, tmp_path):
    """Six jobs: worker 1 has four cycles of .25 + 1 + .5 s, worker 0 two of .25 + 3 + .5 s."""
    path = tmp_path / "s.parquet"
    link = Link(latency_s=0.5)
    simulate(AsynchronousServer(), _workers(link), until=Until(jobs=6), seed=0).save(path)

    told = json.loads(elastic("inspect", path, "--json").out)["workers"]
    table = elastic("inspect", path).out.split("Longest waits first")[1]

    heading, rows = _cells(table)
    assert heading[:6] == ["worker", "jobs", "pull", "compute", "wait", "idle"]
    for row in rows:
        own = told[int(row[0])]
        names = ("jobs", "pull_s", "compute_s", "wait_s", "idle_s")
        assert [float(cell) for cell in row[1:6]] == [own[name] for name in names]
    fast = told[1]
    assert (fast["jobs"], fast["pull_s"], fast["compute_s"], fast["wait_s"]) == (4, 1.0, 4.0, 2.0)


def test_the_worker_that_waits_longest_comes_first(elastic, tmp_path):
    """In each of two rounds worker 1 waits two seconds for worker 0."""
    path = tmp_path / "s.parquet"
    simulate(AllReduce(), _workers(Link()), until=Until(jobs=4), seed=0).save(path)

    table = elastic("inspect", path).out.split("Longest waits first")[1]

    assert [row[0] for row in _cells(table)[1]] == ["1", "0"]


def _cells(table: str) -> tuple[list[str], list[list[str]]]:
    lines = [line.split() for line in table.splitlines()]
    heading = next(cells for cells in lines if cells[:1] == ["worker"])
    return heading, [cells for cells in lines if cells and cells[0].isdigit()]


def test_a_timeline_is_drawn_for_those_who_ask(elastic, tmp_path, monkeypatch):
    path, drawn = tmp_path / "s.parquet", []
    simulate(AllReduce(), _workers(Link()), until=Until(jobs=4), seed=0).save(path)
    monkeypatch.setattr(timeline, "save_timeline", lambda _schedule, target: drawn.append(target))

    elastic("inspect", path)
    assert drawn == []
    elastic("inspect", path, "--timeline", tmp_path / "t.pftrace")
    assert drawn[-1] == tmp_path / "t.pftrace"
