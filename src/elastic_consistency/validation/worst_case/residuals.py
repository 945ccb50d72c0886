"""Gradients that leave a codec with error feedback the largest residual."""

import math

import numpy as np

from elastic_consistency.optimization.compression import AbstractCodec, ErrorFeedback


def residual_norms(codec: AbstractCodec, gradients: np.ndarray) -> np.ndarray:
    """(R,) norms of what error feedback holds back after (R, T, d) gradients.

    Args:
        codec: Q, deterministic.
        gradients: R sequences of T gradients.
    """
    feedback = ErrorFeedback(codec)
    state = feedback.initial(np.zeros(gradients[:, 0].shape))
    for step in range(gradients.shape[1]):
        _, state = feedback.encode(state, gradients[:, step], _no_draws)
    return np.linalg.norm(state[1], axis=-1)


def _no_draws(width: int) -> np.ndarray:
    raise ValueError(f"residual_norms.codec must be deterministic, got one that draws {width}.")


def flat_gradient(d: int, steps: int) -> np.ndarray:
    """(1, T, d) constant gradient of norm 1 with equal entries.

    TopK with K = 1 then holds entries of ages 0 .. d - 1: sqrt((d - 1)(2 d - 1) / 6).
    """
    return np.full((1, steps, d), 1 / math.sqrt(d))


def refill(d: int, steps: int) -> np.ndarray:
    """(1, T, d) gradients of norm <= 1 that refill TopK's residual along a sine; K = 1.

    An entry that was sent a steps ago holds sin(a theta), theta = pi / (2 d - 1), and the
    oldest is sent. That residual is 1 / (2 sin(theta / 2)), the largest of all periodic ones;
    it is approached in `steps`, since everything must grow from 0.
    """
    theta = math.pi / (2 * d - 1)
    # The entry that is sent must not tie with the one that was raised to its level.
    level = np.append(np.sin(theta * np.arange(d)), math.sin(theta * (d - 1)) * (1 + 1e-9))
    growth = np.minimum(np.arange(steps + 1) / max(1, steps - d), 1)[:, None]
    age = (np.arange(steps)[:, None] - np.arange(d)) % d
    gradients = growth[1:] * level[age + 1] - growth[:-1] * level[age]
    return (gradients / np.linalg.norm(gradients, axis=-1).max())[None]


def one_left_over(d: int, steps: int) -> np.ndarray:
    """(1, T, d) gradients of norm 1 after each of which all entries are equal; K = d - 1.

    TopK then keeps one of them back. With e held back at one entry, the level a of all solves
    (d - 1) a^2 + (a - e)^2 = 1, and e = a afterwards: it rises to the fixed point 1 / sqrt(d - 1).
    """
    held, gradients = 0.0, np.empty((1, steps, d))
    for step in range(steps):
        level = (held + math.sqrt(held**2 + d * (1 - held**2))) / d
        gradients[0, step] = level
        gradients[0, step, -1] -= held
        held = level
    return gradients


def one_entry(d: int, steps: int) -> np.ndarray:
    """(1, T, d) gradients of norm <= 1 after each of which one entry alone is not 0.

    A scaled sign loses the share 1 - 1/d of such a vector, its worst. With the entry w the next
    one w' solves (w' - w (1 - 1/d))^2 + (d - 1) (w / d)^2 = 1: the residual sqrt(1 - 1/d) w rises
    to sqrt(d - 1).
    """
    entry, gradients = 0.0, np.empty((1, steps, d))
    for step in range(steps):
        spread = entry / d
        added = math.sqrt(1 - (d - 1) * spread**2)
        # What should be 0 must not have the sign of a rounding.
        gradients[0, step] = spread * (1 + 1e-9)
        gradients[0, step, 0] = added
        entry += added - spread
    return gradients / np.linalg.norm(gradients, axis=-1).max()


def climb_residual(
    codec: AbstractCodec,
    d: int,
    steps: int,
    *,
    candidates: int = 64,
    rounds: int = 200,
    seed: int = 0,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Gradients of norm 1 that leave the largest residual, found by random climbing.

    Args:
        codec: Q, deterministic.
        d: Dimension.
        steps: T, gradients in a sequence.
        candidates: Variations tried at once.
        rounds: Rounds of variations.
        seed: Seed of the variations.
        start: (T, d) first gradients, random by default.

    Returns:
        (T, d) gradients and the norm of the residual after them.
    """
    rng = np.random.default_rng(seed)
    best = _unit(rng.normal(size=(steps, d)) if start is None else start)
    value = float(residual_norms(codec, best[None])[0])
    for _ in range(rounds):
        trials = _unit(_varied(best, candidates, rng))
        norms = residual_norms(codec, trials)
        top = int(norms.argmax())
        if norms[top] > value:
            best, value = trials[top], float(norms[top])
    return best, value


def _varied(best: np.ndarray, candidates: int, rng: np.random.Generator) -> np.ndarray:
    """Copies in which one gradient is changed, or all of them a little."""
    trials = np.repeat(best[None], candidates, axis=0)
    size = rng.choice([1.0, 0.3, 0.1, 0.03, 0.01], size=(candidates, 1))
    place = rng.integers(len(best), size=candidates)
    trials[np.arange(candidates), place] += size * rng.normal(size=(candidates, best.shape[1]))
    few = candidates // 3
    trials[:few] += 0.1 * size[:few, :, None] * rng.normal(size=(few, *best.shape))
    return trials


def _unit(gradients: np.ndarray) -> np.ndarray:
    return gradients / np.linalg.norm(gradients, axis=-1, keepdims=True)
