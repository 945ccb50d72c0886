"""Configuration of the documentation."""

import tomllib
from pathlib import Path

_PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))

project = _PROJECT["project"]["name"]
release = _PROJECT["project"]["version"]
author = _PROJECT["project"]["authors"][0]["name"]

extensions = ["myst_nb"]
myst_enable_extensions = ["dollarmath"]
nb_execution_raise_on_error = True
html_theme = "furo"
html_title = f"{project} {release}"
