# make reproduce needs Python 3.11 or 3.12 and make; everything else is installed into .venv from requirements.lock.

# What is typed decides, and nothing that the shell exports: `make SCALE=laptop` is typed, `SCALE=laptop make` is not.
unused = $(foreach name,SCALE ONLY SET,$(if $(findstring environment,$(origin $(name))),$(name)))
ifneq ($(strip $(unused)),)
$(shell echo 'note: $(strip $(unused)) of the environment is not used; type it after make, as in `make plan SCALE=laptop`' >&2)
endif
ifneq ($(MAKEFILES),)
$(error MAKEFILES names other makefiles ($(MAKEFILES)); unset it)
endif
flags := $(firstword -$(MAKEFLAGS))
ifneq ($(findstring e,$(flags))$(findstring i,$(flags))$(findstring t,$(flags)),)
$(error -e, -i and -t of make, or of MAKEFLAGS, would hide what fails; leave them out)
endif

SCALE := quick
ONLY :=
SET :=
FILE :=
MARKS := not long and not tools
PAPER :=
SINCE :=
N := 40
SEED := 0
RERUN :=
VERBOSE :=
FOLDER :=
PYTHON := python3
BIN := .venv/bin
# .venv's own Python looks whether .venv is as it was left, unless another is typed.
SETUP := $(if $(filter command%,$(origin PYTHON)),$(PYTHON),$(or $(wildcard $(BIN)/python),$(PYTHON)))

OUTSIDE := $(PATH)

# Variables that would decide what is imported, computed or installed; the package's list of them is the only one.
FOREIGN := $(subst *,%,$(shell sed '/^#/d' src/hypersphere/foreign.txt))
unexport $(filter-out $(patsubst !%,%,$(filter !%,$(FOREIGN))),$(filter $(FOREIGN),$(.VARIABLES)))
# Where Python may not keep what it compiled, each of hundreds of processes would compile the libraries again.
unexport PYTHONDONTWRITEBYTECODE
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Snakemake asks for a folder to keep things in and for the user's name, which the user of a container may lack.
ifeq ($(HOME),)
export HOME := $(shell getent passwd "$$(id -u)" | cut -d: -f6)
endif
ifeq ($(shell test -w "$(HOME)" && echo yes),)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif
ifeq ($(LOGNAME)$(USER),)
export LOGNAME := $(shell id -un 2> /dev/null || id -u)
endif

MAKEFLAGS += --no-print-directory
# All settings reach the command as one word, as they were typed: config/settings.py parts them, and reads each value.
SET_QUOTED = $(if $(SET),'set=$(subst ','\'',$(SET))')
CHOSEN = scale=$(SCALE) $(if $(ONLY),'only=$(ONLY)') $(SET_QUOTED)
SETTINGS = --set scale=$(SCALE) $(if $(ONLY),--set 'only=$(ONLY)') $(if $(SET),--set $(SET_QUOTED))
.DEFAULT_GOAL := help
.PHONY: help setup reproduce report site evidence pages dag runs release store restore plan verify mend archive test test-fast test-long test-tools test-results mutants lint bench lock clean-results

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  SCALE=quick|smoke|laptop|workstation|paper   how big (default: quick)"
	@echo "  ONLY=\"margins/table2 lecture\"   the only artifacts, or papers, to make (default: all)"
	@echo "  SET=\"seeds=[0,1] epochs=3\"       numbers of the scale to change; the results get a folder of their own"

.PHONY: ready
ready:
	@PATH='$(OUTSIDE)' $(SETUP) -I workflow/install.py

setup: ready ## install everything into .venv

reproduce: ready ## rebuild every table, figure and scorecard, and then the report
	@snakemake --cores all --config $(CHOSEN)

report: ready ## what is known of every claim, in results/report: from proofs, exact studies and records; nothing is trained
	@snakemake --cores all results/report/index.html --config $(CHOSEN)

site: ready ## the documentation as a site without a server, results/site/index.html, with the report if it was made
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

evidence: ready ## tables, figures and scorecard from the records in evidence/<scale>/ alone; nothing is trained
	@snakemake --cores all --config $(CHOSEN) evidence_only=true

pages: report ## from new records: what README.md says of them, and the pictures of docs/images
	@python -m hypersphere.report.docs
	@python -m hypersphere.report.gallery

dag: ready ## the picture of the rules, their steps and how many there are, docs/images/dag.svg
	@python -m hypersphere.command.dag

runs: dag ## after a change of a paper or a scale: what runs there are, papers/<paper>/runs/<scale>.csv (docs/running.md)
	@for scale in quick laptop paper; do hypersphere runs --set scale=$$scale || exit; done

release: ready ## wheel, sources, archive and checksums of this version, in dist/, and its tag (docs/releasing.md)
	@hypersphere release $(SETTINGS)

store: ready ## check the results of config.yaml's scale, record them in dvc.lock, and push them with DVC (docs/dvc.md)
	@hypersphere store $(if $(filter command%,$(origin SCALE)),--set scale=$(SCALE))

restore: ready ## fetch stored results with DVC instead of computing them, and check every byte (docs/dvc.md)
	@hypersphere restore $(if $(filter command%,$(origin SCALE)),--set scale=$(SCALE))

plan: ready ## what is done, what would run, and why; VERBOSE=1 lists every artifact, run and job, FOLDER=1 the results folder alone
	@hypersphere plan $(SETTINGS) $(if $(VERBOSE),--verbose) $(if $(FOLDER),--folder)

verify: ready ## compare results with their manifests, rebuild what follows; RERUN=<run> trains one again
	@hypersphere verify $(SETTINGS) $(foreach r,$(RERUN),--rerun $(r))

mend: ready ## verify, forget what is damaged, and make it again
	@hypersphere verify $(SETTINGS) --mend
	@snakemake --cores all --config $(CHOSEN)

archive: ready ## sources, evidence and results of the scale in one zip, the same bytes each time (docs/dvc.md)
	@hypersphere archive $(SETTINGS)

test: ready ## the tests that a change needs; MARKS="" runs all, PAPER=lmcl those of one paper, SINCE=COMMIT those of what changed
	@pytest -n 2 --dist worksteal -m "$(MARKS)" --durations 10 $(if $(SINCE),--since $(SINCE)) $(if $(PAPER),papers/$(PAPER)/tests)

test-fast: ready ## the light unit tests that use what was edited since the last call; the first call runs all light ones
	@pytest -n 2 --dist worksteal -m "not long and not tools and not heavy" --testmon tests/unit plugins || test $$? -eq 5

test-long: ready ## tests of half a minute or more each, and all of whole pipelines: read, damaged, killed, moved
	@pytest -n 2 --dist worksteal -m "long and not tools"

test-tools: ready ## how Snakemake, Slurm, DVC, conda, .ci/run and a browser behave
	@uv pip install --quiet --no-config --python $(BIN)/python --target .venv/formats --group formats
	@pytest -n 2 --dist worksteal -m tools

test-results: ready ## whether what `make reproduce` made is sound: every method learns, every figure is legible
	@pytest -n 2 --dist worksteal tests/results $(SETTINGS)

mutants: ready ## how many small wrong changes to the code the unit tests notice; N=40 of each package, SEED=0
	@uv pip install --quiet --no-config --python $(BIN)/python --target .venv/mutation --group mutation
	@PYTHONPATH=.venv/mutation python -m tests.mutants --size $(N) --seed $(SEED)

lint: ready ## ruff, snakefmt, snakemake --lint, mypy
	@ruff check . && ruff format --check . && mypy
	@snakefmt --check --line-length 120 Snakefile workflow examples
	@snakemake --lint

bench: ready ## time probes, views and training steps (docs/reference/performance.md)
	@python benchmarks/probes.py
	@python benchmarks/throughput.py

lock: ready ## resolve requirements.lock again, and write its pins into environment.yml
	@uv pip compile --quiet --no-config --python $(BIN)/python --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --all-extras \
	  --python-version 3.11 pyproject.toml $(sort $(wildcard plugins/*/pyproject.toml)) --output-file requirements.lock
	@sed '/- pip:$$/q' environment.yml > .venv/environment.yml
	@sed -nE 's/^([a-z0-9][^;\]*==[^ ;\]+( ; [^\]*[^ \])?) *\\?$$/    - "\1"/p' requirements.lock >> .venv/environment.yml
	@mv .venv/environment.yml environment.yml

clean-results: ## remove the results of SCALE
	@rm -rf results/$(SCALE) logs/$(SCALE)
