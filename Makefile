.PHONY: setup demo test prove bench lint
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamp

$(STAMP): pyproject.toml constraints.txt oracles.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,ray]"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r oracles.txt
	touch $@

setup: $(STAMP)  ## build .venv

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint  ## lint, types, tests: under 10 minutes on 2 cores
	$(BIN)/python -m pytest -m "not prove"

prove: $(STAMP)  ## the long proofs
	$(BIN)/python -m pytest -m prove

bench: $(STAMP)  ## speed, as ratios within one run
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.sweep
	$(BIN)/python -m benchmarks.mixers

demo: $(STAMP)  ## a small real study, ending with its figure
	$(BIN)/recollect run demo --store demo/recollect.db --out demo
