# make reproduce needs Python 3.11 or 3.12 and make; everything else is installed into .venv from requirements.lock.
SCALE ?= quick
ONLY ?=
SET ?=
FILE ?=
MARKS ?= not long and not tools
N ?= 40
SEED ?= 0
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Where Python may not keep what it compiled, each of hundreds of processes would compile the libraries again.
unexport PYTHONDONTWRITEBYTECODE
export PATH := $(CURDIR)/$(BIN):$(PATH)
export VIRTUAL_ENV := $(CURDIR)/.venv

MAKEFLAGS += --no-print-directory
# All settings reach the command as one word, as they were typed: config/settings.py parts them, and reads each value.
SET_QUOTED = $(if $(SET),'set=$(subst ','\'',$(SET))')
CHOSEN = scale=$(SCALE) $(if $(ONLY),'only=$(ONLY)') $(SET_QUOTED)
SETTINGS = --set scale=$(SCALE) $(if $(ONLY),--set 'only=$(ONLY)') $(if $(SET),--set $(SET_QUOTED))
.DEFAULT_GOAL := help
.PHONY: help setup reproduce report site evidence pages restore plan verify mend archive test test-fast test-long test-tools test-results mutants lint bench lock clean-results

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  SCALE=quick|smoke|laptop|workstation|paper   how big (default: quick)"
	@echo "  ONLY=\"margins/table2 lecture\"   the only artifacts, or papers, to make (default: all)"
	@echo "  SET=\"seeds=[0,1] epochs=3\"       numbers of the scale to change; the results get a folder of their own"

PLUGINS = plugins/text plugins/control

$(READY): requirements.lock pyproject.toml $(PLUGINS:=/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 13) else "hypersphere needs Python 3.11 or 3.12")'
	@echo "setting up .venv (once)"
	@$(PYTHON) -m venv .venv
	@awk '/^[a-z0-9]/ {keep = /^uv==/} keep' requirements.lock > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.txt
	@$(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e . $(PLUGINS:%=-e ./%)
	@touch $@

setup: $(READY) ## install everything into .venv

reproduce: $(READY) ## rebuild every table, figure and scorecard, and then the report
	@snakemake --cores all --config $(CHOSEN)

report: $(READY) ## what is known of every claim, in results/report: from proofs, exact studies and records; nothing is trained
	@snakemake --cores all results/report/index.html --config $(CHOSEN)

site: $(READY) ## the documentation as a site without a server, results/site/index.html, with the report if it was made
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

evidence: $(READY) ## tables, figures and scorecard from the records in evidence/<scale>/ alone; nothing is trained
	@snakemake --cores all --config $(CHOSEN) evidence_only=true

pages: report ## from new records: what README.md and docs/laptop.md say of them, and their pictures
	@$(MAKE) evidence SCALE=laptop ONLY=ours
	@python -m hypersphere.report.docs

restore: $(READY) ## fetch a release's results with DVC instead of computing them, and check every byte (docs/dvc.md)
	@hypersphere restore $(if $(filter command environment,$(word 1,$(origin SCALE))),--set scale=$(SCALE))

plan: $(READY) ## what is done, what would run, and why; VERBOSE=1 lists every artifact, run and job, FOLDER=1 the results folder alone
	@hypersphere plan $(SETTINGS) $(if $(VERBOSE),--verbose) $(if $(FOLDER),--folder)

verify: $(READY) ## compare results with their manifests, rebuild what follows; RERUN=<run> trains one again
	@hypersphere verify $(SETTINGS) $(foreach r,$(RERUN),--rerun $(r))

mend: $(READY) ## verify, forget what is damaged, and make it again
	@hypersphere verify $(SETTINGS) --mend
	@snakemake --cores all --config $(CHOSEN)

archive: $(READY) ## sources, evidence and results of the scale in one zip, the same bytes each time (docs/archive.md)
	@hypersphere archive $(SETTINGS)

test: $(READY) ## the tests that a change needs; MARKS="" runs all of them
	@pytest -n 2 --dist worksteal -m "$(MARKS)" --durations 10

test-fast: $(READY) ## the light unit tests that use what was edited since the last call; the first call runs all light ones
	@pytest -n 2 --dist worksteal -m "not long and not tools and not heavy" --testmon tests/unit plugins || test $$? -eq 5

test-long: $(READY) ## tests of half a minute or more each, and all of whole pipelines: read, damaged, killed, moved
	@pytest -n 2 --dist worksteal -m "long and not tools"

test-tools: $(READY) ## how Snakemake, Slurm, DVC and conda behave with the pipeline
	@pytest -n 2 --dist worksteal -m tools

test-results: $(READY) ## whether what `make reproduce` made is sound: every method learns, every figure is legible
	@pytest -n 2 --dist worksteal tests/results $(SETTINGS)

mutants: $(READY) ## how many small wrong changes the unit tests notice; N=40 of each package, SEED=0 (docs/mutants.md)
	@uv pip install --quiet --target .venv/mutation --group mutation
	@PYTHONPATH=.venv/mutation python -m tests.mutants --size $(N) --seed $(SEED)

lint: $(READY) ## ruff, snakefmt, snakemake --lint, mypy
	@ruff check . && ruff format --check . && mypy
	@snakefmt --check --line-length 120 Snakefile workflow examples
	@snakemake --lint

bench: $(READY) ## time probes, views and training steps (docs/performance.md)
	@python benchmarks/probes.py
	@python benchmarks/throughput.py

lock: $(READY) ## resolve requirements.lock again, and write its pins into environment.yml
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --all-extras \
	  --python-version 3.11 pyproject.toml $(PLUGINS:=/pyproject.toml) --output-file requirements.lock
	@sed '/- pip:$$/q' environment.yml > .venv/environment.yml
	@sed -nE 's/^([a-z0-9][^;\]*==[^ ;\]+( ; [^\]*[^ \])?) *\\?$$/    - "\1"/p' requirements.lock >> .venv/environment.yml
	@mv .venv/environment.yml environment.yml

clean-results: ## remove the results of SCALE
	@rm -rf results/$(SCALE) logs/$(SCALE)
