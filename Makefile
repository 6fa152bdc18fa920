# make demo    a virtual environment, the package, and two corpora de-duplicated
# make test    the quick tests, in an environment that it makes itself
# make help    every target

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Half of the time that pip takes for the 150 packages of the tests.
INSTALL := $(BIN)/python -m uv pip install --quiet --compile-bytecode --python $(BIN)/python

.PHONY: help debian nginx postgresql java demo kernels kernels-from-wheel wheels wheel-arm test test-some test-all test-long slow-tests test-levels test-checked test-interpreted test-cluster test-cluster-long test-lowest install-tools test-properties fuzz flips kills kills-service lint lint-project types docs notebooks site chromium bench bench-quick bench-corpus bench-start bench-store bench-store-growth bench-service jieba-identity install-pipelines redis soak soak-service soak-store clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /: /' | sort

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), f"neardup needs Python 3.11 or newer, not {sys.version}; pass PYTHON=…"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv
	$(INSTALL) --editable '.[jit]'
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(INSTALL) --group dev
	touch $@

# Where kernels cannot be compiled ahead of time (no C compiler), Numba compiles them at first use: slower, and the same.
kernels: $(VENV)/installed  ## compile all kernels for this processor, unless that is done
	$(BIN)/python -m neardup.kernels.native.build --if-changed --objects build/kernels || echo "Numba compiles kernels at first use instead."

# The kernels that the demo calls come first, and all others after it has shown what it found. Other texts may need others.
demo: $(VENV)/installed  ## de-duplicate real texts and a small corpus in three languages, and show what was found
	$(BIN)/python -m neardup.kernels.native.build --if-changed --objects build/kernels --demo || echo "Numba compiles kernels at first use instead."
	$(BIN)/python examples/demo.py demo || { $(MAKE) kernels && $(BIN)/python examples/demo.py demo; }
	@echo "The other kernels, for other commands:"
	@$(MAKE) --no-print-directory kernels

# One more than there are processors: tests wait for processes, servers and downloads for much of their time.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')

test: $(VENV)/developing kernels  ## the tests, on all processors; the tests of a file on one of them
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow and not long and not cluster"

# The number of commits: each runs another eighth of the slow tests, and eight in a row run all.
COMMITS = $(shell git rev-list --count HEAD 2> /dev/null || echo 0)
test-some: $(VENV)/developing kernels  ## the quick tests, and an eighth of the slow ones, another one with each commit
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not long and not cluster" --slow-share $(COMMITS)/8

test-all: $(VENV)/developing kernels  ## all tests but the long ones, with more examples
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not long and not cluster"

test-long: $(VENV)/developing kernels  ## every way to run every corpus, and other tools' releases from PyPI; long
	$(BIN)/python -m pytest -n auto --dist load -m "long and not cluster"

$(VENV)/clustering: $(VENV)/developing
	$(INSTALL) --editable '.[spark,ray]'
	touch $@

test-cluster: $(VENV)/clustering kernels  ## what runs on clusters of Spark and of Ray, as processes, with an eighth of the slow tests; needs `make java` for Spark; some minutes
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "cluster and not long" --slow-share $(COMMITS)/8 tests/engines

test-cluster-long: $(VENV)/clustering kernels  ## a run that fails after each stage, and workers and nodes killed in stages; many minutes
	$(BIN)/python -m pytest -m "cluster and long" tests/engines

install-pipelines: $(VENV)/developing  ## the releases of datatrove, data-juicer and NeMo Curator that tests/integrations run in; some GB
	$(BIN)/python tests/integrations/pipelines.py

slow-tests: $(VENV)/clustering kernels  ## measure, on an idle machine, which tests `make test` leaves out: tests/slow.txt
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto --dist loadfile -m "not long and not cluster" --record-slow 0.4
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "cluster and not long" --record-slow 6 tests/engines

OF_KERNELS := tests/kernels tests/matching/test_contamination.py
test-checked: $(VENV)/developing  ## the kernels' tests with array bounds checked, compiled at first use
	NEARDUP_KERNELS=jit NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto --dist loadfile $(OF_KERNELS) tests/hamming/test_join.py tests/test_dedup.py

test-interpreted: $(VENV)/developing  ## the kernels' tests without compiling: the Python twins of the intrinsics
	NEARDUP_KERNELS=interpreted HYPOTHESIS_PROFILE=interpreted $(BIN)/python -m pytest -n auto --dist loadfile $(OF_KERNELS)

LEVELS := v2 v3 v4
test-levels: $(VENV)/developing  ## the tests of kernels on the library of every level that this processor has
	$(BIN)/python -m neardup.kernels.native.build --if-changed --levels v2,v3,v4
	for level in $(LEVELS); do \
		NEARDUP_KERNELS=$$level $(BIN)/python -c "from neardup.kernels import compilation" 2> /dev/null || { echo "== $$level: this processor lacks it"; continue; }; \
		echo "== $$level"; NEARDUP_KERNELS=$$level HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto --dist loadfile $(OF_KERNELS) tests/fingerprints/test_golden.py || exit 1; \
	done

# The lowest version of every dependency that pyproject.toml allows, in an environment of its own, with the oldest Python: newer ones
# have no wheels of them. What the tests need besides may be of any version. Numba compiles the kernels, so that it is tested, too.
$(VENV)/lowest/installed: pyproject.toml tools/lowest_dependencies.py
	$(PYTHON) -c 'import sys; assert sys.version_info[:2] == (3, 11), f"the lowest dependencies need Python 3.11, not {sys.version}; pass PYTHON=…"'
	$(PYTHON) -m venv --clear $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip install --quiet --upgrade pip
	$(PYTHON) tools/lowest_dependencies.py all jit > $(VENV)/lowest/constraints.txt
	$(VENV)/lowest/bin/python -m pip install --quiet --constraint $(VENV)/lowest/constraints.txt --group test-lowest --editable '.[all,jit]'
	touch $@

test-lowest: $(VENV)/lowest/installed  ## a part of the tests with the lowest versions of all dependencies, by Python 3.11
	$(VENV)/lowest/bin/python -m pip check
	$(VENV)/lowest/bin/neardup --help > /dev/null
	NEARDUP_KERNELS=jit $(VENV)/lowest/bin/python -m pytest -n auto --dist loadfile tests/test_dedup.py tests/test_progress.py \
		tests/cli/test_command_line.py tests/cli/test_dedup_command.py tests/cli/test_formats.py tests/cli/test_index_command.py \
		tests/cli/test_report_command.py tests/fingerprints/test_golden.py tests/io/test_parquet.py tests/io/test_remote_places.py \
		tests/recipe tests/text/test_html.py tests/text/test_segmenters.py

install-tools: $(VENV)/developing  ## the releases of other tools that tests/compatibility compares with, in .venv/tools; the tests do so, too
	$(BIN)/python tests/compatibility/tools.py

test-properties: $(VENV)/developing  ## the property tests with thousands of random examples each; long
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest $(OF_KERNELS) tests/test_dedup.py tests/hamming/test_join.py

# What tests/fuzz, tests/flips and tests/kills do for some seconds in the tests, for as long as is asked; figures go to OUTPUT, if it is given.
SECONDS ?= 600
SEED ?= 1
FLIPS ?= 10000
KILLS ?= 500
fuzz: $(VENV)/developing kernels  ## corpora and options by chance against the definitions, for SECONDS of processor time, from SEED
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(SEED) $(if $(OUTPUT),--output $(OUTPUT))

flips: $(VENV)/developing kernels  ## FLIPS bytes changed in files of every format that is read; about 20 minutes
	PYTHONPATH=tests $(BIN)/python -m flips --flips $(FLIPS) --seed $(SEED) $(if $(OUTPUT),--output $(OUTPUT))

kills: $(VENV)/developing kernels  ## KILLS runs of dedup --resume, index, filter and stores killed at random moments, or of those with SCENARIOS in their names
	PYTHONPATH=tests $(BIN)/python -m kills --kills $(KILLS) --seed $(SEED) $(if $(SCENARIOS),--scenarios $(SCENARIOS)) $(if $(OUTPUT),--output $(OUTPUT))

kills-service: $(VENV)/developing kernels  ## KILLS kills of services under load (KILLS=200), each followed by a search for what they had acknowledged; ONLY=folder or postgresql
	PYTHONPATH=tests $(BIN)/python -m service.kills --kills $(KILLS) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) $(if $(OUTPUT),--output $(OUTPUT))

# Folders of .txt and .json files to compare besides the laws: TEXTS="poems news".
jieba-identity: $(VENV)/developing kernels  ## all tokens of all Chinese texts at hand beside the package jieba's; long
	$(BIN)/python benchmarks/jieba_identity.py $(if $(TEXTS),--texts $(TEXTS))

lint: $(VENV)/developing  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

$(VENV)/linting-project: $(VENV)/installed
	$(INSTALL) --group lint-project
	touch $@

lint-project: $(VENV)/linting-project  ## workflows, issue forms, CITATION.cff, Dockerfile and deploy/ against their schemas and rules
	$(BIN)/yamllint --strict .github .yamllint.yaml CITATION.cff deploy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/kubernetes-validate --strict deploy/kubernetes.yaml

types: $(VENV)/developing  ## types, strictly
	$(BIN)/mypy

docs: $(VENV)/developing  ## write the generated pages anew; the tests fail where they are stale
	$(BIN)/python tools/make_cli_reference.py
	$(BIN)/python tools/make_surface.py
	$(BIN)/python tools/order_of_modules.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python tools/make_figures.py
	$(BIN)/python tools/make_gallery.py

# Ten million fingerprints take 1.3 GB; the notebook of Spark needs `make java`.
notebooks: $(VENV)/clustering kernels  ## execute the notebooks of the cookbook, and store what they print; the tests fail where they are stale; minutes
	$(BIN)/python tools/make_notebooks.py

# Not --quiet: what is not said is not counted, and strict builds would pass. The variable leaves out an advertisement.
site: $(VENV)/developing  ## the documentation as a site, in site/; broken links and missing anchors are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

debian:  ## what tests use of Debian: Chromium to look at pages, strace to record writes, shells whose completion is tested; as root
	command -v strace >/dev/null && command -v zsh >/dev/null && command -v fish >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends strace zsh fish; }
	$(MAKE) --no-print-directory chromium

# At the run level 1, the installation starts no server.
nginx:  ## Debian's nginx, with which tests of the deployment run; as root
	command -v nginx >/dev/null || { apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends nginx; }

postgresql:  ## Debian's PostgreSQL, which tests of shared stores start; as root
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql; }

java:  ## Debian's Java, which Spark needs; as root
	command -v java >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; }

chromium:  ## Debian's Chromium, in which tests look at the report; as root
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk; }

# What the benchmarks compare with, two of them in environments of their own: text-dedup without what its two commands do not use.
$(VENV)/benchmarking: $(VENV)/developing benchmarks/requirements.txt
	$(INSTALL) -r benchmarks/requirements.txt
	touch $@

$(VENV)/text-dedup/installed: benchmarks/requirements-text-dedup.txt
	$(PYTHON) -m venv $(VENV)/text-dedup
	$(VENV)/text-dedup/bin/python -m pip install --quiet -r benchmarks/requirements-text-dedup.txt
	$(VENV)/text-dedup/bin/python -m pip install --quiet --no-deps text-dedup==0.4.0
	touch $@

$(VENV)/datatrove/installed: benchmarks/requirements-datatrove.txt
	$(PYTHON) -m venv $(VENV)/datatrove
	$(VENV)/datatrove/bin/python -m pip install --quiet -r benchmarks/requirements-datatrove.txt
	touch $@

COMPARISON := $(BIN)/python benchmarks/comparison.py $(if $(CORPUS),--folder $(CORPUS)) \
	--text-dedup $(VENV)/text-dedup/bin/python --datatrove $(VENV)/datatrove/bin/python \
	$(if $(DECONTAMINATION),--decontamination $(DECONTAMINATION))
PEERS := $(VENV)/benchmarking $(VENV)/text-dedup/installed $(VENV)/datatrove/installed

bench-quick: $(PEERS)  ## a short form of all benchmarks with the peers, some 10 minutes; prints the tables
	$(COMPARISON) --quick

bench: $(PEERS)  ## all benchmarks with the peers, hours; rewrites results, tables and charts. First, once: make bench-corpus
	$(COMPARISON)

bench-corpus: $(VENV)/developing  ## a million documents for the benchmarks: downloads 1.1 GB, keeps 3.6 GB in ~/.cache (or CORPUS=FOLDER)
	$(BIN)/python benchmarks/package_texts.py --if-missing $(if $(CORPUS),--folder $(CORPUS))

bench-start: wheels $(VENV)/text-dedup/installed  ## first and later commands and what is installed, beside other tools; minutes
	$(BIN)/python benchmarks/start.py --environment text-dedup=$(VENV)/text-dedup

redis:  ## Debian's Redis, beside which the benchmark of stores runs; as root
	command -v redis-server >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server; }

bench-store: $(VENV)/benchmarking kernels  ## stores beside other tools; needs `make redis`; some 10 minutes
	$(BIN)/python benchmarks/store.py

bench-store-growth: $(VENV)/benchmarking kernels  ## stores of up to 16 million short documents; half an hour at most, and 15 GB of disk
	$(BIN)/python benchmarks/store_growth.py

bench-service: $(VENV)/benchmarking kernels  ## a service with a million documents of 2 KB under load, and its tables; `make postgresql redis` first; 35 minutes at most, 10 GB of disk
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/tables.py

soak-service: $(VENV)/developing kernels  ## an hour of mixed requests to a service (or SOAK_SECONDS=600), or to two on one database (KIND=postgresql)
	$(BIN)/python benchmarks/service_soak.py $(if $(KIND),--kind $(KIND)) $(if $(SOAK_SECONDS),--seconds $(SOAK_SECONDS))

soak-store: $(VENV)/developing kernels  ## an hour of mixed work on a store (or SOAK_SECONDS=600), with memory, files and latency by the minute
	$(BIN)/python benchmarks/store_soak.py $(if $(SOAK_SECONDS),--seconds $(SOAK_SECONDS))

soak: $(VENV)/developing  ## five million short documents in 500 shards, and 10,000 shards, with memory sampled over time; minutes
	$(BIN)/python benchmarks/soak.py

wheels: $(VENV)/developing  ## the source archive and both wheels, with and without compiled kernels, in dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	NEARDUP_BUILD_KERNELS=no $(BIN)/python -m build --wheel --outdir dist

wheel-arm: $(VENV)/developing  ## the wheel for aarch64, in dist/; on x86-64 with a cross compiler, aarch64-linux-gnu-gcc or CC_A64
	NEARDUP_BUILD_KERNELS=aarch64 $(BIN)/python -m build --wheel --outdir dist

kernels-from-wheel:  ## the libraries of all levels in place, from the wheel in dist/, instead of compiling them again
	$(BIN)/python -c 'import glob, zipfile; file = zipfile.ZipFile(glob.glob("dist/*manylinux*_$(shell uname -m).whl")[0]); [open(f"src/{name}", "wb").write(file.read(name)) for name in file.namelist() if name.endswith((".so", "built.json"))]'

clean:  ## remove what make made
	rm -rf $(VENV) demo build dist site
