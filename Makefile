# Two commands on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
VENV ?= .venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin

.PHONY: reproduce test lint setup clean

reproduce: $(READY)
	$(BIN)/stablessm reproduce

test: $(READY) lint
	$(BIN)/python -m pytest -n 2 -m "not float64"
	JAX_ENABLE_X64=1 $(BIN)/python -m pytest -m float64

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/lint-imports

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("stablessm needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $(READY)

clean:
	rm -rf $(VENV) dist
