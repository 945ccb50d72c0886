"""The device check runs through on a CPU, section by section, and tells what it found."""

import json

import pytest
import torch

from elastic_consistency.hardware_backend import device_check
from elastic_consistency.hardware_backend.residual_network import residual_network


def _assert_sound(result: dict) -> None:
    for name, section in result.items():
        assert "error" not in section["figures"], (name, section["figures"])
    assert result["live_run"]["figures"]["largest_difference"] == 0.0
    for figures in result["parity"]["figures"].values():
        assert figures["within_bound"]
    assert result["parity"]["figures"]["float64"]["relative_error"] <= 1e-12
    assert result["streams"]["figures"]["relative_error"] <= 1e-12
    assert result["paced_replay"]["figures"]["relative_error"] <= 1e-12
    assert result["paced_replay"]["figures"]["earliest_s"] >= 0
    elastic = result["elastic_scheduler"]["figures"]
    assert len(elastic) == 4
    assert all(figures["ranks_alike"] for figures in elastic.values())
    assert sum(elastic["Barrier()"]["stood_in"]) == 0


def test_every_section_is_sound_on_a_cpu(tmp_path):
    output = tmp_path / "check.json"

    device_check.main(["--device", "cpu", "--width", "2", "--steps", "3", "--output", str(output)])

    _assert_sound(json.loads(output.read_text()))


def test_a_section_that_fails_is_told_and_hides_no_other(monkeypatch):
    def broken(device):
        raise OSError("no such device")

    monkeypatch.setattr(device_check, "_environment", broken)
    for name in ("_parities", "_streams", "_paced", "_elastic"):
        monkeypatch.setattr(device_check, name, lambda *_: {"fine": True})

    result = device_check.check_device("cpu")

    assert result["environment"]["figures"] == {"error": "OSError: no such device"}
    assert result["parity"]["figures"] == {"fine": True}
    with pytest.raises(SystemExit, match="environment: OSError: no such device"):
        device_check._tell(result)


def test_the_residual_network_has_the_parameters_of_its_model():
    """11,173,962 for CIFAR images, as published implementations count."""
    network = residual_network(64, 10)

    assert sum(p.numel() for p in network.parameters()) == 11_173_962
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a CUDA device")
def test_a_machine_without_a_gpu_says_not_run(tmp_path):
    with pytest.raises(SystemExit, match="not run: 0 cuda"):
        device_check.main(["--device", "cuda", "--output", str(tmp_path / "check.json")])


def test_fewer_than_two_devices_are_not_run_and_said_so(tmp_path):
    output = tmp_path / "check.json"

    with pytest.raises(SystemExit, match="not run: 1 cpu"):
        device_check.main(["--device", "cpu", "--many", "--output", str(output)])

    assert json.loads(output.read_text())["not_run"] == "not run: 1 cpu"


def test_many_devices_are_checked_with_one_rank_each(monkeypatch):
    """The path of several devices, with processes in their place."""
    monkeypatch.setattr(device_check, "_environment", lambda device: {"count": 3})

    result = device_check.check_many_devices("cpu", backend="gloo")

    for figures in result["parity"]["figures"].values():
        assert figures["within_bound"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_every_section_is_sound_on_a_gpu():
    _assert_sound(device_check.check_device("cuda"))
