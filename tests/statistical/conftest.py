"""Lets the statistical tests share their small studies."""

import importlib.util
import sys
from pathlib import Path

_NAME = "local_sgd_studies"

# Test folders are no packages; the module is loaded under its own name, once.
if _NAME not in sys.modules:
    _SPEC = importlib.util.spec_from_file_location(_NAME, Path(__file__).with_name(f"{_NAME}.py"))
    assert _SPEC is not None
    assert _SPEC.loader is not None
    _MODULE = importlib.util.module_from_spec(_SPEC)
    sys.modules[_NAME] = _MODULE
    _SPEC.loader.exec_module(_MODULE)
