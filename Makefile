# make demo   install into .venv if needed, then run the demonstration
# make test   install into .venv if needed, then run every check that a change must pass
#
# Another Python: make PYTHON=/path/to/python3.12. Options of the demo: make demo ARGS="--help".

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
PYTHON ?= $(firstword $(foreach name,python3.11 python3 python3.12 python3.13 python3.14,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))

comma := ,

# Names the packages as pip comes to them; the rest of its talk goes to the log, whose end is
# shown if it fails.
define install
: >$(LOG); \
$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
	--constraint constraints.txt --editable ".[$(1)]" 2>>$(LOG) \
| while read -r verb what rest; do \
	echo "$$verb $$what $$rest" >>$(LOG); \
	case "$$verb $$what" in \
		Processing\ *.whl) what=$${what##*/}; printf '%s ' "$${what%%-*}" ;; \
		Collecting*) printf '%s ' "$${what%%[^A-Za-z0-9._-]*}" ;; \
		Installing\ collected) printf '\n== $(VENV): unpacking\n' ;; \
	esac; \
done || { echo; tail -n 20 $(LOG) >&2; \
	echo "Installation failed; the whole story is in $(LOG)." >&2; exit 1; }
endef

.PHONY: help
help:
	@sed -n '1,4s/^# \{0,1\}//p' Makefile

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found; say make PYTHON=..." >&2; exit 1; }
	@echo "== $(VENV): a virtual environment of $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Creating $(VENV) failed; on Debian and Ubuntu install python3-venv." >&2; exit 1; }

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "== $(VENV): installing (once; minutes on a slow line)"
	@$(call install,hardware$(comma)data$(comma)validation$(comma)dev)
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@echo "== $(VENV): installing what the documentation needs"
	@$(call install,docs)
	@touch $@

.PHONY: demo
demo: $(VENV)/installed
	@$(BIN)/elastic demo $(ARGS)

.PHONY: format
format: $(VENV)/installed
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

.PHONY: lint
lint: $(VENV)/installed
	@echo "== format"
	@$(BIN)/ruff format --check .
	@echo "== lint"
	@$(BIN)/ruff check --quiet .
	@echo "== types"
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@echo "== import contract"
	@$(BIN)/lint-imports --no-cache | grep -vE '^ ?[║╔╚╝╗═ └]' | cat -s

.PHONY: test
test: lint
	@echo "== tests"
	@$(BIN)/python -m pytest --quiet $(ARGS)

# The property tests are among them, with five times as many examples as in `make test`.
.PHONY: slow
slow: $(VENV)/installed
	@ELASTIC_HYPOTHESIS_PROFILE=$${ELASTIC_HYPOTHESIS_PROFILE:-slow} $(BIN)/python -m pytest --quiet \
		-m "(slow or hypothesis) and not gpu" $(ARGS)

.PHONY: gpu
gpu: $(VENV)/installed
	@$(BIN)/python -m pytest --quiet -m gpu $(ARGS)

# One GPU, or one rank on each of several; both say so and stop where there are too few.
.PHONY: gpu-check
gpu-check: $(VENV)/installed
	@$(BIN)/python -m elastic_consistency.hardware_backend.device_check --device cuda $(ARGS)

.PHONY: multi-gpu-check
multi-gpu-check: $(VENV)/installed
	@$(BIN)/python -m elastic_consistency.hardware_backend.device_check --device cuda --many $(ARGS)

.PHONY: bench
bench: $(VENV)/installed
	@$(BIN)/python benchmarks/all.py

.PHONY: docs
docs: $(VENV)/installed-docs
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs build/docs
	@echo "build/docs/index.html"

.PHONY: clean
clean:
	@rm -rf build dist elastic-demo .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
