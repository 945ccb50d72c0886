"""Draws of a delay law from addressed uniforms, fetched in blocks."""

from collections.abc import Callable, Generator

from elastic_consistency.random_streams import Cause, uniforms
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant

# Positions of the link stream of a worker take turns: to the server, from the server, to peers.
LINK_LANES = 3

Draw = Callable[[float], float]
_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024


def independent_draws(
    law: AbstractDelayLaw,
    seed: int,
    cause: Cause,
    worker: int,
    *,
    lane: int = 0,
    lanes: int = 1,
    scale: float = 1.0,
    offset: float = 0.0,
) -> Draw:
    """A function that returns offset + scale * (next draw of `law`), s, whatever its argument.

    The draws use positions lane, lane + lanes, lane + 2 lanes, ... of the stream, so that
    several laws share one stream without meeting each other's uniforms.

    Args:
        law: Law of the delay.
        seed: Seed of the run.
        cause: What the stream decides.
        worker: Whose stream.
        lane: First position, in [0, lanes).
        lanes: Distance between positions, >= 1.
        scale: Factor of each draw, >= 0.
        offset: Added to each draw, s.
    """
    if isinstance(law, Constant):
        seconds = offset + scale * law.seconds
        return lambda _: seconds
    draws = _blocks(law, (seed, cause, worker), (lane, lanes), (scale, offset))
    next(draws)  # a generator takes its first value only after it has been started
    return draws.send


def _blocks(
    law: AbstractDelayLaw,
    address: tuple[int, Cause, int],
    lanes: tuple[int, int],
    affine: tuple[float, float],
) -> Generator[float, float, None]:
    position, block = 0, _FIRST_BLOCK  # the size of a block changes the speed, nothing else
    lane, step = lanes
    scale, offset = affine
    yield 0.0
    while True:
        u = uniforms(*address, position * step, block * step)[lane::step]
        # A loop and not `yield from`: the iterator of a list accepts no send().
        for value in (offset + scale * law.quantile(u)).tolist():  # noqa: UP028
            yield value
        position += block
        block = min(2 * block, _LARGEST_BLOCK)
