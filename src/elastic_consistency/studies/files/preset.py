"""What a preset consists of."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Preset:
    """Machines and a first contender to start from.

    Attributes:
        name: Its name.
        about: What it describes, in one line.
        links: Links and workers as TOML.
        gradients: Length of a run.
        payload: Payload as TOML; "" where links have no limit.
        first: Name, protocol and rule of the first contender as TOML.
    """

    name: str
    about: str
    links: str
    gradients: int
    payload: str = ""
    first: str = """name = "asynchronous"
protocol = "asynchronous_server"
rule = "sgd\""""
