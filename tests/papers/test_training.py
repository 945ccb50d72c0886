"""What the rows of energy matching train on, and what they look at."""

import struct

import numpy as np
import pytest

from elastic_consistency.optimization.update_rules import GEM, SGD
from elastic_consistency.validation.papers.catalogue import find
from elastic_consistency.validation.papers.claim import Effort
from elastic_consistency.validation.papers.elastic_consistency import component_accuracy
from elastic_consistency.validation.papers.energy_matching import fashion, images, training
from elastic_consistency.validation.papers.energy_matching.images import Images
from elastic_consistency.validation.papers.energy_matching.training import LossOn, descend
from elastic_consistency.validation.papers.finding import PaperVerdict


def _few(count, seed=0):
    rng = np.random.default_rng(seed)
    pixels = rng.normal(size=(count, 28, 28)).astype(np.float32)
    return Images(pixels, rng.integers(10, size=count))


def _write_idx(path, array):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in place of that of Debian's package."""
    images.fashion_images.cache_clear()
    for module in (images, fashion):
        monkeypatch.setattr(module, "FASHION_FOLDER", tmp_path)
    yield tmp_path
    images.fashion_images.cache_clear()


def test_without_its_images_the_row_is_skipped_and_says_how_to_get_them(folder):
    claim = find("gem-fashion-mnist")

    finding = claim.experiment(Effort(), claim.value)

    assert finding.verdict is PaperVerdict.NEEDS_HARDWARE
    assert "apt install dataset-fashion-mnist" in finding.scale
    assert str(folder) in finding.why


def test_with_its_images_the_row_trains_on_all_of_them(folder, monkeypatch):
    pixels = np.arange(30 * 784).reshape(30, 28, 28) % 256
    _write_idx(folder / "train-images-idx3-ubyte", pixels)
    _write_idx(folder / "train-labels-idx1-ubyte", np.arange(30) % 10)

    finding = fashion._compare(images.fashion_images(), 1, 2, range(2))

    found = images.fashion_images()
    assert found.pixels == pytest.approx((pixels / 255 - 0.286) / 0.353, abs=1e-5)
    assert found.labels.tolist() == (np.arange(30) % 10).tolist()
    assert "all 30 images" in finding.scale


def test_without_torch_the_scheduler_itself_is_not_judged(monkeypatch):
    monkeypatch.setattr(component_accuracy, "find_spec", lambda name: None)
    claim = find("elastic-component")

    finding = claim.experiment(Effort(), claim.value)

    assert finding.verdict is PaperVerdict.NEEDS_HARDWARE
    assert "PyTorch is not installed" in finding.why


@pytest.mark.parametrize("rule", [GEM(0.05), SGD(0.05)])
def test_looks_fall_on_the_steps_asked_for_and_see_the_model_of_that_step(rule):
    seen, judge = _few(20).network(2), _few(6, seed=1).network(2)

    measured = descend(seen, 2, rule, 6, 3, (LossOn(judge, every=4, first=5),))

    trace = measured["loss_on"]
    assert trace.values.shape == (2, 1)  # after steps 8 and 12 of 12
    assert trace.values[-1] == pytest.approx(judge.loss(measured.models[0]))


def test_a_model_worse_than_chance_counts_as_chance():
    assert training._at_most_chance(np.array([np.nan])) == training.CHANCE
    assert training._at_most_chance(np.array([9.0, 0.0])) == training.CHANCE / 2


def test_methods_with_equal_seeds_begin_with_equal_weights_and_others_do_not():
    """Steps of no size leave the start as it was."""
    seen = _few(20).network(2)
    runs = [(SGD(1e-30), 3), (GEM(1e-30), 3), (SGD(1e-30), 4)]

    first, second, other = (
        np.asarray(descend(seen, 2, rule, 1, seed, ()).models[0]) for rule, seed in runs
    )

    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
