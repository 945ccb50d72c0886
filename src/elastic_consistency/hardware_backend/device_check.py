"""One script that shows on a given device what the hardware backend promises.

Run it as `python -m elastic_consistency.hardware_backend.device_check --device cuda`. It writes
one JSON with device, versions and figures. Nothing in it asserts a speed.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend.device_tasks import describe_device, train_elastic
from elastic_consistency.hardware_backend.elastic import (
    Barrier,
    CrossBarrier,
    Latency,
    NormBounded,
    VarianceBounded,
)
from elastic_consistency.hardware_backend.live import LiveServer, run_live
from elastic_consistency.hardware_backend.processes.ranks import run_ranks
from elastic_consistency.hardware_backend.replay import parity, replay
from elastic_consistency.hardware_backend.rounding import UNIT_ROUNDOFF, rounding_bound
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule

_SEEDS = (0, 1)
_RULE = SGD(0.1)
_WORKERS = 3


def check_device(device: str, *, width: int = 64, steps: int = 20) -> dict[str, Any]:
    """Every figure, by section; sections that fail hold the error instead of stopping the rest.

    Args:
        device: "cpu", or a kind of accelerator that torch knows.
        width: Channels of the first stage of the residual network; 64 is ResNet-18's.
        steps: Training steps under each policy.
    """
    environment = _tried(lambda: _environment(device))
    if environment["figures"].get("count", 1) < 1:
        return {"environment": environment, "not_run": f"not run: 0 {device}"}
    problem = Quadratic(np.linspace(0.1, 1.0, 1000), variance=0.5)
    schedule, live = _live_schedule(problem)
    sections: dict[str, Callable[[], Any]] = {
        "live_run": lambda: live,
        "parity": lambda: _parities(schedule, problem, device),
        "streams": lambda: _streams(schedule, problem, device),
        "paced_replay": lambda: _paced(schedule, problem, device),
        "elastic_scheduler": lambda: _elastic(device, width, steps),
    }
    return {"environment": environment} | {
        name: _tried(section) for name, section in sections.items()
    }


def check_many_devices(device: str, backend: str = "nccl") -> dict[str, Any]:
    """Parity with one rank a device; says 'not run' where there are fewer than two.

    Args:
        device: A kind of accelerator that torch knows.
        backend: Of torch.distributed.
    """
    environment = _environment(device)
    count = environment.get("count", 1)
    if count < 2:
        return {"environment": environment, "not_run": f"not run: {count} {device}"}
    problem = Quadratic(np.linspace(0.1, 1.0, 1000), variance=0.5)
    schedule, _ = _live_schedule(problem)
    figures = _tried(lambda: _parities(schedule, problem, device, backend=backend, ranks=count))
    return {"environment": environment, "parity": figures}


def _tried(section: Callable[[], Any]) -> Any:
    begin = time.monotonic()
    try:
        figures = section()
    except Exception as error:  # noqa: BLE001  (one broken section must not hide the others)
        figures = {"error": f"{type(error).__name__}: {error}"}
    return {"seconds": time.monotonic() - begin, "figures": figures}


def _environment(device: str) -> dict[str, Any]:
    (told,) = run_ranks(describe_device, [device], timeout=120.0)
    return {"python": sys.version.split()[0], "system": platform.platform(), **told}


def _live_schedule(problem: Quadratic) -> tuple[Schedule, dict[str, Any]]:
    run = run_live(
        LiveServer(),
        problem,
        _RULE,
        n_workers=_WORKERS,
        jobs=60,
        seed=_SEEDS[0],
        pauses=(0.002, 0.002, 0.02),
    )
    run.schedule.check()
    executed = execute(run.schedule, problem, _RULE, seeds=(run.seed,))
    figures = {
        "largest_difference": float(np.abs(run.models[0] - executed.models[0]).max()),
        "mean_staleness": float(run.schedule.staleness().steps.mean()),
        "clock_error_s": run.clock_error,
        "shift_s": run.shift,
    }
    return run.schedule, figures


def _parities(
    schedule: Schedule, problem: Quadratic, device: str, *, backend: str = "gloo", ranks: int = 2
) -> dict[str, Any]:
    expected = execute(schedule, problem, _RULE, seeds=_SEEDS)
    figures = {}
    for dtype in UNIT_ROUNDOFF:
        replayed = replay(
            schedule,
            problem,
            _RULE,
            seeds=_SEEDS,
            ranks=ranks,
            device=device,
            dtype=dtype,
            backend=backend,
            timeout=120,
        )
        bound = rounding_bound(schedule, problem, _RULE, seeds=_SEEDS, dtype=dtype)
        distance = np.linalg.norm(replayed.models[0] - expected.models[0], axis=-1)
        figures[dtype] = {
            "relative_error": parity(replayed, expected),
            "distance": float(distance.max()),
            "bound": float(bound.max()),
            "within_bound": bool(np.all(distance <= bound[0])),
        }
    return figures


def _streams(schedule: Schedule, problem: Quadratic, device: str) -> dict[str, Any]:
    """All workers on one rank, which gives each of them a stream of its own."""
    expected = execute(schedule, problem, _RULE, seeds=_SEEDS)
    begin = time.monotonic()
    replayed = replay(schedule, problem, _RULE, seeds=_SEEDS, ranks=1, device=device, timeout=120)
    seconds = time.monotonic() - begin
    return {"workers": _WORKERS, "relative_error": parity(replayed, expected), "seconds": seconds}


def _paced(schedule: Schedule, problem: Quadratic, device: str) -> dict[str, Any]:
    expected = execute(schedule, problem, _RULE, seeds=_SEEDS)
    replayed = replay(
        schedule, problem, _RULE, seeds=_SEEDS, ranks=2, device=device, pace=5.0, timeout=120
    )
    return {
        "relative_error": parity(replayed, expected),
        "mean_lateness_s": float(np.nanmean(replayed.lateness)),
        "largest_lateness_s": float(np.nanmax(replayed.lateness)),
        "earliest_s": float(np.nanmin(replayed.lateness)),
    }


def _elastic(device: str, width: int, steps: int) -> dict[str, Any]:
    policies = (Barrier(), CrossBarrier(), NormBounded(0.8), VarianceBounded())
    latency = Latency(0.005, 0.0002)
    figures = {}
    for policy in policies:
        order = (device, policy, latency, width, steps)
        parts = run_ranks(train_elastic, [order] * 2, timeout=300.0)
        alike = np.allclose(parts[0]["checksum"], parts[1]["checksum"], rtol=1e-4)
        figures[repr(policy)] = {
            "seconds_per_step": [part["seconds_per_step"] for part in parts],
            "last_loss": [part["last_loss"] for part in parts],
            "stood_in": [part["stood_in"] for part in parts],
            "ranks_alike": bool(alike),
        }
    return figures


def main(arguments: list[str] | None = None) -> None:
    """Check a device, write the JSON and say what ran; see `_tell` for the exit code."""
    parser = argparse.ArgumentParser(description="Check the hardware backend on a device.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--many", action="store_true", help="one rank a device, over NCCL")
    parser.add_argument("--output", type=Path, default=Path("device_check.json"))
    chosen = parser.parse_args(arguments)
    if chosen.many:
        result = check_many_devices(chosen.device)
    else:
        result = check_device(chosen.device, width=chosen.width, steps=chosen.steps)
    chosen.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    _tell(result)


def _tell(result: dict[str, Any]) -> None:
    """A line a section on stdout; the process fails where something did not run or failed.

    Raises:
        SystemExit: If a section failed, or there are too few devices.
    """
    if "not_run" in result:
        raise SystemExit(result["not_run"])
    broken = {}
    for name, section in result.items():
        figures = section.get("figures", section)
        broken |= {name: figures["error"]} if "error" in figures else {}
        sys.stdout.write(f"{name}: {'failed' if name in broken else 'done'}\n")
    if broken:
        raise SystemExit("; ".join(f"{name}: {error}" for name, error in broken.items()))


if __name__ == "__main__":
    main()
