"""Layer profiles: how computation and parameters are spread over the layers of real models."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import final

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True)
class Layer:
    """One layer that is communicated as a whole.

    Attributes:
        name: Its name in the model.
        n_parameters: Parameters, > 0.
        forward: Operations of its forward pass, of any unit, >= 0.
        backward: Operations of its backward pass, of the same unit, >= 0.
    """

    name: str
    n_parameters: int
    forward: float
    backward: float

    def __post_init__(self) -> None:
        check(self.n_parameters > 0, self, "n_parameters", "a number of parameters > 0")
        check(self.forward >= 0, self, "forward", "a number of operations >= 0")
        check(self.backward >= 0, self, "backward", "a number of operations >= 0")


@final
@dataclass(frozen=True, slots=True)
class LayerProfile:
    """The layers of a model, in the order of the forward pass.

    Attributes:
        layers: At least two layers, with some computation among them.
    """

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        work = sum(layer.forward + layer.backward for layer in self.layers)
        check(len(self.layers) > 1 and work > 0, self, "layers", "two layers or more that compute")

    @staticmethod
    def names() -> tuple[str, ...]:
        """The profiles that come with the package."""
        found = (files("elastic_consistency.simulator") / "profiles").iterdir()
        return tuple(sorted(f.name[:-4] for f in found if f.name.endswith(".csv")))

    @staticmethod
    def load(name: str) -> "LayerProfile":
        """One of the profiles that come with the package.

        Layers without parameters are not communicated: what they compute counts with the layer
        before them.

        Raises:
            ValueError: If there is no such profile.
        """
        if name not in LayerProfile.names():
            known = ", ".join(LayerProfile.names())
            raise ValueError(f"LayerProfile.load needs one of {known}, got {name!r}.")
        path = files("elastic_consistency.simulator") / "profiles" / f"{name}.csv"
        return _of_rows(csv.DictReader(path.read_text("utf-8").splitlines()))

    def sizes(self) -> tuple[int, ...]:
        """Parameters of each layer."""
        return tuple(layer.n_parameters for layer in self.layers)

    def parts(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Part of the whole computation in each layer: forward, backward; all sum to 1."""
        work = sum(layer.forward + layer.backward for layer in self.layers)
        forward = tuple(layer.forward / work for layer in self.layers)
        return forward, tuple(layer.backward / work for layer in self.layers)


def _of_rows(rows: Iterable[dict[str, str]]) -> LayerProfile:
    layers: list[Layer] = []
    waiting = (0.0, 0.0)  # operations before the first layer with parameters
    for row in rows:
        work = (float(row["fwd_flops"]), float(row["bwd_flops"]))
        if int(row["params"]) > 0:
            forward, backward = work[0] + waiting[0], work[1] + waiting[1]
            layers.append(Layer(row["layer"], int(row["params"]), forward, backward))
            waiting = (0.0, 0.0)
        elif layers:
            last = layers[-1]
            layers[-1] = Layer(
                last.name, last.n_parameters, last.forward + work[0], last.backward + work[1]
            )
        else:
            waiting = (waiting[0] + work[0], waiting[1] + work[1])
    return LayerProfile(tuple(layers))
