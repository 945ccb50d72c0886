"""What a study will be able to tell is said before it runs."""

from dataclasses import replace

import pytest

from elastic_consistency.studies.demo import DemoSettings, demo_study
from elastic_consistency.studies.judging.power import power_of_study


@pytest.fixture(scope="module")
def study():
    return demo_study(DemoSettings(workers=4, judged=256))


def test_there_is_a_sentence_for_each_bound_of_b(study):
    started, applied = power_of_study(study)

    assert started.startswith("power: 256 replicates show with probability 90% that B exceeds")
    assert "server_started_gap" in started
    assert "server_applied_gap" in applied


def test_few_replicates_are_told_that_they_show_nothing(study):
    certificate = replace(study.certificate, replicates=3)

    sentences = power_of_study(replace(study, certificate=certificate))

    assert all("if it is more than it can be and hardly varies" in s for s in sentences)


def test_without_a_certificate_there_is_nothing_to_foretell(study):
    assert power_of_study(replace(study, certificate=None)) == ()
