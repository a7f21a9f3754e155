.PHONY: setup demo test prove bench bench-compare results docs lint browser
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
	$(BIN)/mypy --num-workers 2

browser:  ## Debian's Chromium for the tests of the page, where it is missing and may be installed
	@command -v chromium >/dev/null || ! command -v apt-get >/dev/null || \
	if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	elif sudo -n true 2>/dev/null; then sudo apt-get update -qq && sudo apt-get install -y -qq --no-install-recommends chromium; \
	fi >/dev/null || echo "no Chromium: the tests of the page in a browser are skipped"

test: lint browser  ## lint, types, tests: under 10 minutes on 2 cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not prove" tests/ops  # a kernel is compiled in one process, once
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not prove" --ignore tests/ops

prove: $(STAMP)  ## the long proofs
	$(BIN)/python -m pytest -n 2 --dist worksteal -m prove

bench: $(STAMP)  ## speed, as ratios within one run
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.sweep
	$(BIN)/python -m benchmarks.report
	$(BIN)/python -m benchmarks.mixers

bench-compare: $(STAMP)  ## another commit's step beside this one's: REF=<commit> [ARGS="--only mamba --cells 64"]
	$(BIN)/python -m benchmarks.compare $(REF) $(ARGS)

results: $(STAMP)  ## docs/results.md and its pictures, from the kept stores
	$(BIN)/python -m results.page

docs: $(STAMP)  ## docs/api, pages of the Python API from the docstrings
	$(BIN)/python -m docs.build docs/api

demo: $(STAMP)  ## a small real study, ending with its figure and the report page
	$(BIN)/recollect run demo --store demo/recollect.db --out demo
