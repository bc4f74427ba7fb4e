# Two commands on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
VENV ?= .venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin

.PHONY: reproduce test test-full lint gpu slurm browser setup clean

reproduce: $(READY)
	$(BIN)/stablessm reproduce

# These tests compile much and run little, and hold to tolerances, as do those of 64-bit floats: with XLA's optimiser off
# they take half the time. All others, among them those of parameterizations and of the engine's rounding (powers,
# kernels, accuracy, carry), and in test-full all, are compiled as a user's programs are.
COMPILING := $(addprefix tests/,approximation bench design layers measurements memory models sweeps training) \
	$(addprefix tests/test_,losses.py modes.py) \
	$(addprefix tests/engine/test_,dplr.py groups.py growth.py recurrence.py varying.py)
UNOPTIMISED := $(XLA_FLAGS) --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false

test: $(READY) lint browser
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not float64" $(addprefix --ignore=,$(COMPILING))
	XLA_FLAGS="$(UNOPTIMISED)" $(BIN)/python -m pytest -n 2 --dist worksteal -m "not float64" $(COMPILING)
	JAX_ENABLE_X64=1 XLA_FLAGS="$(UNOPTIMISED)" $(BIN)/python -m pytest -n 2 --dist worksteal -m float64

# Every case of the matrices, and the slow tests.
test-full: $(READY) lint browser
	$(BIN)/python -m pytest -n 2 --dist worksteal --full -m "not float64"
	JAX_ENABLE_X64=1 $(BIN)/python -m pytest -n 2 --dist worksteal --full -m float64

# The quick learning-rate sweep on a GPU and on the CPU, and how far they are apart; needs JAX's GPU plugin.
gpu: $(READY)
	$(BIN)/stablessm run lr_stability --device gpu --fresh --out gpu/gpu
	$(BIN)/stablessm run lr_stability --device cpu --fresh --out gpu/cpu
	$(BIN)/stablessm diff gpu/cpu/raw/lr_stability.nc gpu/gpu/raw/lr_stability.nc

# Sweeps on a SLURM cluster of this one machine, started for the tests: as root, on Debian. Says so where it cannot.
slurm: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,cluster,slurm]"
	tests/slurm/one_node.sh $(BIN)/python -m pytest --slurm tests/slurm

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# The report is looked at in a real browser: Debian's Chromium, 100 MB, where there is none and this is root.
browser:
	tests/report/chromium.sh

setup: $(READY)

# pip would compile modules one after the other, and the tests of every package too.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("stablessm needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[test]"
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)
	touch $(READY)

clean:
	rm -rf $(VENV) dist
