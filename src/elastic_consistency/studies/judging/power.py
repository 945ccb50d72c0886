"""What the certificate of a study will be able to tell, said before it runs."""

from dataclasses import replace

from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.judging.agenda import Agenda, agenda_of
from elastic_consistency.studies.judging.claims import ceilings
from elastic_consistency.studies.judging.requirements_met import unmet
from elastic_consistency.studies.study import Certificate, Study
from elastic_consistency.validation.power import detectable_gaps

_POWER = 0.9


def power_of_study(study: Study) -> tuple[str, ...]:
    """A sentence for each gap that will be measured; none without a certificate."""
    certificate, contender = study.certificate, study.contenders[0]
    if certificate is None:
        return ()
    shorter = replace(contender, jobs=certificate.jobs)
    schedule = schedule_of(study, shorter, certificate.timing_seed)
    agenda = agenda_of(study, contender, schedule)
    return () if isinstance(agenda, str) else _sentences(agenda, certificate)


def _sentences(agenda: Agenda, certificate: Certificate) -> tuple[str, ...]:
    figures = {agenda.measured(bound) for bound in agenda.bounds}
    points = len(agenda.situation.schedule.jobs)
    share = certificate.error_rate / len(figures) / points
    sentences = []
    for what, bound in agenda.tightest(unmet(agenda.situation, 0.0)).items():
        value, ceiling = bound.evaluate(agenda.values), min(ceilings(agenda, what), default=None)
        if ceiling is not None:
            found = detectable_gaps(
                certificate.replicates,
                bound=value,
                ceiling=ceiling,
                error_rate=share,
                power=_POWER,
            )
            sentences.append(_sentence(bound.name, value, ceiling, found, certificate.replicates))
    return tuple(sentences)


def _sentence(
    name: str, bound: float, ceiling: float, found: tuple[float, float], replicates: int
) -> str:
    steady, varied = (f"{gap:.3g}" if gap <= ceiling else "more than it can be" for gap in found)
    return (
        f"power: {replicates} replicates show with probability {_POWER:.0%} that B exceeds "
        f"{name} = {bound:.3g} if it is {steady} and hardly varies, or {varied} whatever its law; "
        f"it cannot exceed {ceiling:.3g}"
    )
