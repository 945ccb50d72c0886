"""What the certificate of a study will be able to tell, said before it runs."""

from dataclasses import replace

from elastic_consistency.bounds import get
from elastic_consistency.studies.certification import obstacle, values_of
from elastic_consistency.studies.claims import limits_of
from elastic_consistency.studies.elastic_families import Family, family_of
from elastic_consistency.studies.runs import schedule_of
from elastic_consistency.studies.study import Certificate, Study
from elastic_consistency.validation.power import detectable_gaps

_POWER = 0.9


def power_of_study(study: Study) -> tuple[str, ...]:
    """A sentence for each bound of B that will be judged; none without a certificate."""
    certificate, contender = study.certificate, study.contenders[0]
    if certificate is None:
        return ()
    shorter = replace(contender, jobs=certificate.jobs)
    schedule = schedule_of(study, shorter, certificate.timing_seed)
    family = family_of(contender, schedule, certificate.bounds)
    if obstacle(study, contender, schedule) or isinstance(family, str):
        return ()
    return _sentences(study, family, certificate, len(schedule.jobs))


def _sentences(
    study: Study, family: Family, certificate: Certificate, points: int
) -> tuple[str, ...]:
    limits = limits_of(study.oracle, certificate.radius)
    # No bound of B depends on the step size, which is not chosen yet.
    values = values_of(family, limits, 1 / limits.constants.smoothness, study.oracle)
    share = certificate.error_rate / len(family.names) / points
    sentences = []
    for gap in family.gaps:
        bound = get(gap.name).evaluate(values)
        ceiling = limits.ceiling(get(gap.name), values) if gap.every_path else float("inf")
        if ceiling < float("inf"):
            found = detectable_gaps(
                certificate.replicates,
                bound=bound,
                ceiling=ceiling,
                error_rate=share,
                power=_POWER,
            )
            sentences.append(_sentence(gap.name, bound, ceiling, found, certificate.replicates))
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
