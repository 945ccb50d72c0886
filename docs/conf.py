"""Configuration of the documentation."""

import atexit
import logging
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

_HERE = Path(__file__).parent
_PROJECT = tomllib.loads(_HERE.parent.joinpath("pyproject.toml").read_text("utf-8"))

sys.path.insert(0, str(_HERE / "_extensions"))

project = _PROJECT["project"]["name"]
release = _PROJECT["project"]["version"]
author = _PROJECT["project"]["authors"][0]["name"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "reference_pages",
]
exclude_patterns = ["_static", "_extensions", "**/.ipynb_checkpoints"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The kernel of executed pages reads no settings of whoever builds, reports errors only, and shows
# an exception without the paths of the machine.
_KERNEL = Path(tempfile.mkdtemp(prefix="docs-kernel-"))
atexit.register(shutil.rmtree, _KERNEL, ignore_errors=True)
(_KERNEL / "profile_default").mkdir()
(_KERNEL / "profile_default" / "ipython_kernel_config.py").write_text(
    'c = get_config()\nc.Application.log_level = "ERROR"\nc.InteractiveShell.xmode = "Minimal"\n',
    "utf-8",
)
os.environ["IPYTHONDIR"] = str(_KERNEL)
logging.getLogger("traitlets").setLevel(logging.WARNING)

autodoc_default_options = {"members": True, "show-inheritance": True, "ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = ["Source"]
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["_static"]
html_show_sourcelink = False
# MathJax 3.2.2, Apache-2.0, as the npm package mathjax ships it: one file that fetches no other.
mathjax_path = "mathjax/tex-svg.js"
