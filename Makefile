# Every target is sufficient on a bare clone with Python >= 3.11, pip and make: it creates .venv,
# installs what it needs, runs. Nothing here names a package index: pip takes the one it is
# configured for (for a torch without CUDA see README.md).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help verify test slow-test portable-test lint types wheel-test oldest-test bench docs \
	site-test paper-test prover prove prove-mutants prove-test transcripts reference lock release clean

VENV := .venv
BIN := $(VENV)/bin
SUITE ?= quick
# Empty: depthlaw's own folder among the user's data, where `show` and `appendix` look too.
RESULTS ?=
RECORDS := $(if $(RESULTS),--results $(RESULTS))
PYTHON ?= $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	echo $$p; break; fi; done)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_ROOT_USER_ACTION := ignore
# Tests start hundreds of processes: without compiled files each would compile the project again.
# What is installed is compiled when it is first imported: much of it never is.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

SOURCES := $(shell find api advisor theory empirics ledger -type f -not -path '*/__pycache__/*')
PAGES := $(shell find docs -type f -not -path 'docs/_*/*' -o -path 'docs/_static/*' -type f)
# Their names, so that a removed file counts as a change.
LIST := $(VENV)/.files

# $(call new_venv,DIR): some systems ship Python without ensurepip; then the system's pip installs
# pip.
new_venv = $(PYTHON) -m venv $(1) >/dev/null 2>&1 \
	|| { $(PYTHON) -m venv --clear --without-pip $(1) \
	&& $(PYTHON) -m pip --python $(1)/bin/python install -qq pip; }

help:
	@echo "make verify      run the verification suite (SUITE=$(SUITE), RESULTS=folder for the"
	@echo "                 records); needs no torch"
	@echo "make test        run the tests"
	@echo "make slow-test   run those that train nets, draw them by the dozen or kill processes"
	@echo "make portable-test  compare what is printed and decided on imitated machines: other kernels"
	@echo "                 of linear algebra, other numbers of threads; run the tests that multiply"
	@echo "                 matrices in two other arithmetics (tests/arithmetics.py)"
	@echo "make lint        ruff        make types   mypy on the built package"
	@echo "make wheel-test  install the wheel in a fresh environment elsewhere, and run from it suite"
	@echo "                 quick, the commands, and the tests that a wheel can break"
	@echo "make oldest-test suite quick with the oldest versions of the libraries that are allowed"
	@echo "make docs        build the site, with what records fill in, into docs/_site"
	@echo "make site-test   build it, and test every page and control in this machine's Chromium"
	@echo "make prove       check all proofs with a Rocq prover (COQBIN=its folder)"
	@echo "make prover      unpack Debian 13's Rocq prover in .prover, for make prove"
	@echo "make prove-mutants  let it refuse wrong versions of the theorems that claims name"
	@echo "make paper-test  put the appendix into two papers, and compile them with this machine's"
	@echo "                 TeX Live"
	@echo "make transcripts run the commands shown in README.md, docs/depth.md and others again, and"
	@echo "                 fill in the numbers and verdicts of all pages from the records"
	@echo "make reference   write the ledger that comes with depthlaw from all suites (two hours)"
	@echo "make lock        write requirements/ again: newest versions that fit, with hashes"
	@echo "make release     build sdist, wheel and SBOM into dist/, and check them"
	@echo "make bench       benchmarks  make clean   remove .venv and all that was built"

verify: $(VENV)/.base
	$(BIN)/depthlaw verify $(SUITE) $(RECORDS)

test: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

# Kills and full disks, in real processes; trainings; claims that need dozens of nets: minutes. The
# gate runs them too.
slow-test: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal -m slow tests tests/portable

# Tests of nets in torch, and of the parts of the theory that multiply floating-point matrices.
MULTIPLY := tests/empirics $(wildcard $(addprefix tests/theory/test_,signal_propagation*.py \
	residual_norms.py layernorm_scaling.py initialisation.py rank_collapse.py amnesia.py \
	*attention*.py layer_constants.py looped_stream.py cubic_law.py *clustering.py error_floor.py thought_nets.py \
	batched_nets.py all_weights.py relu_nets.py explicit_nets.py separation_witness.py))

# The imitated machines take the cores by themselves.
portable-test: $(VENV)/.dev
	$(BIN)/pytest -p no:xdist -m "not slow" tests/portable
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" --arithmetic exact $(MULTIPLY)
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" --arithmetic perturbed $(MULTIPLY)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The wheel is unpacked and checked under its installed name; messages name the files of the tree.
types: $(VENV)/.dev $(VENV)/.wheel
	@rm -rf $(VENV)/typed
	@$(BIN)/pip install -qq --no-deps --no-compile --target $(VENV)/typed $(VENV)/wheel/*.whl
	MYPYPATH=$(VENV)/typed $(BIN)/mypy -p depthlaw \
		| sed -E 's,^$(VENV)/typed/depthlaw/(__)?,\1,; s,^__,api/__,'

# What only a wheel can break: its files (byte for byte those of the tree, which `make test` tests),
# its dependencies, that it is found away from the tree, and its commands.
SAME_BYTES := test_packaging.py::test_what_is_imported_here_is_the_tree_byte_for_byte
IN_THE_WHEEL := $(SAME_BYTES) test_python_api.py ledger/test_cli.py ledger/test_depth_command.py
IS_THE_WHEEL := import sys; from importlib.util import find_spec as find; \
	import depthlaw.theory as it; \
	bare = any(map(find, ("api", "advisor", "theory", "empirics", "ledger"))); \
	sys.exit(None if it.__file__.startswith(sys.prefix) and not bare \
		else "not the wheel: " + it.__file__)

# The fresh environment has the base dependencies alone while the commands run; for the tests it is
# shown pytest and torch in $(VENV), behind its own packages.
wheel-test: $(VENV)/.wheel $(VENV)/.dev
	@wheel=$$(echo "$(CURDIR)"/$(VENV)/wheel/*.whl); elsewhere=$$(mktemp -d); \
	trap 'rm -rf "$$elsewhere"' EXIT; \
	$(call new_venv,"$$elsewhere/venv"); \
	cd "$$elsewhere"; \
	echo "installing $${wheel##*/} in a fresh environment"; \
	venv/bin/pip install -qq --no-compile "$$wheel"; \
	venv/bin/python -c '$(IS_THE_WHEEL)'; \
	echo "the installed commands"; \
	law() { XDG_DATA_HOME="$$elsewhere/data" venv/bin/depthlaw "$$@" >printed \
		|| { cat printed; echo "depthlaw $$* FAILED" >&2; exit 1; }; }; \
	law verify quick; tail -n 6 printed; \
	law depth 1.3B; law claims hops; law show hops/doubling; law cite hops/doubling; \
	law why hops/doubling; law doctor; venv/bin/python -m depthlaw --version; \
	if law_says=$$(venv/bin/depthlaw appendix pages 2>&1); \
		then echo "appendix without its extra did not fail" >&2; exit 1; fi; \
	test "$$(echo "$$law_says" | wc -l)" = 1; test ! -e pages; \
	if law_says=$$(venv/bin/depthlaw sweep --from 1B --to 2B --plot depth.png 2>&1); \
		then echo "a picture without its extra did not fail" >&2; exit 1; fi; \
	test "$$(echo "$$law_says" | wc -l)" = 1; test ! -e depth.png; \
	echo "the extra appendix"; \
	venv/bin/pip install -qq --no-compile "$$wheel[appendix]"; \
	law appendix pages; test -s pages/appendix.pdf; \
	echo "tests: $(IN_THE_WHEEL)"; \
	site='import site; print(site.getsitepackages()[0])'; \
	"$(CURDIR)"/$(BIN)/python -c "$$site" >"$$(venv/bin/python -c "$$site")/lent.pth"; \
	venv/bin/python -c '$(IS_THE_WHEEL)'; \
	venv/bin/python -m pytest -n auto --dist worksteal -m "not slow" -p no:cacheprovider \
		-c "$(CURDIR)/pyproject.toml" --rootdir "$(CURDIR)" \
		$(addprefix "$(CURDIR)"/tests/,$(IN_THE_WHEEL))

# The other tests use the newest versions of the libraries that there are; this one the oldest that
# pyproject.toml allows. Every quick run is compared with the reference ledger; exit 1 means that a
# decided verdict is another one.
oldest-test: $(VENV)/.wheel $(VENV)/.python
	@wheel=$$(echo "$(CURDIR)"/$(VENV)/wheel/*.whl); elsewhere=$$(mktemp -d); \
	trap 'rm -rf "$$elsewhere"' EXIT; \
	$(call new_venv,"$$elsewhere/venv"); \
	$(BIN)/python .ci/oldest.py >"$$elsewhere/oldest.txt"; \
	echo "installing the oldest versions:" $$(cat "$$elsewhere/oldest.txt"); \
	"$$elsewhere"/venv/bin/pip install -qq --no-compile -r "$$elsewhere/oldest.txt" "$$wheel"; \
	cd "$$elsewhere"; \
	venv/bin/depthlaw verify quick --results records >printed || { cat printed; exit 1; }; \
	grep '^reference: ' printed

bench: $(VENV)/.dev
	$(BIN)/pytest benchmarks --benchmark-only --benchmark-json=$(VENV)/benchmarks.json
	$(BIN)/python benchmarks/summary.py $(VENV)/benchmarks.json

# Pages rest on the reference ledger. They are built in an environment of the extra
# docs alone, so that torch, which `make test` installs, makes no difference to them.
docs: $(VENV)/.docs docs/_site/index.html
docs/_site/index.html: $(VENV)/.docs $(LIST) $(SOURCES) $(PAGES) CHANGELOG.md CONTRIBUTING.md
	$(VENV)/docs/bin/python -m depthlaw.ledger.publish.site.pages docs docs/_site
	@touch $@

# Browser and TeX are the machine's own: without them there is nothing to test with, which the last
# line of .ci/run says too.
CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
LATEX := $(shell command -v pdflatex)
skipped = { echo "SKIPPED: $@ needs $(1), which is not installed here" >&2; }

site-test: docs $(VENV)/.site
ifeq ($(CHROMIUM),)
	@$(call skipped,Chromium)
else
	$(BIN)/pytest -n auto --dist worksteal tests/site
endif

# Every proof through the kernel of a Rocq prover: of COQBIN, the folder of its programs, if that is
# given, else the one that `make prover` has unpacked here, else the one on PATH.
COQBIN ?= $(if $(wildcard .prover/bin/coqc),$(CURDIR)/.prover/bin)
export COQBIN
prover:
	.ci/prover .prover

prove: $(VENV)/.dev
	$(BIN)/python -m depthlaw.theory.formal.prove

# What claims rest on, made wrong one passage at a time (tests/proofs/mutants.toml).
prove-mutants: $(VENV)/.dev
	$(BIN)/python -m depthlaw.theory.formal.prove --prover
	$(BIN)/pytest tests/proofs -p no:xdist

prove-test: $(VENV)/.dev
	@why=$$($(BIN)/python -m depthlaw.theory.formal.prove --prover 2>&1) || { code=$$?; \
		[ $$code = 2 ] || { echo "$$why" >&2; exit $$code; }; \
		echo "SKIPPED: $@: $${why#error: }" >&2; exit 0; }; \
	$(BIN)/python -m depthlaw.theory.formal.prove && $(BIN)/pytest tests/proofs -p no:xdist

paper-test: $(VENV)/.dev
ifeq ($(LATEX),)
	@$(call skipped,pdflatex)
else
	$(BIN)/pytest tests/papers -p no:xdist
endif

# What commands print, and the numbers, verdicts, tables and pictures of pages: a test compares each.
transcripts: $(VENV)/.dev
	$(BIN)/python -m depthlaw.ledger.publish.site.transcripts \
		README.md docs/depth.md docs/loss-surfaces.md docs/what-counts-as-a-layer.md \
		docs/how-to/loop-mix-or-grow.md docs/tutorial.md docs/how-to/check-a-theorem.md \
		docs/how-to/cite.md docs/how-to/check-a-net.md
	$(BIN)/python benchmarks/latency_limits.py benchmarks/latency_limits.md
	$(BIN)/python -m depthlaw.ledger.publish.site.filling .
	$(BIN)/python -m depthlaw.ledger.publish.site.interactive docs
	$(BIN)/python -m depthlaw.ledger.publish.site.explorer docs

# What a fresh run on another machine compares itself with; last before a release, since it holds
# the records of this very code. Nets that take half an hour each stand in recordings/: what is
# asked of them may change, and nobody trains them again.
FOLDER := $(or $(RESULTS),results)
reference: $(VENV)/.dev
	@echo "two hours on two cores; of suite long only what recordings/ holds nets for (to train" \
		"more: depthlaw verify long --results $(FOLDER), then again)"
	mkdir -p $(FOLDER)/cache/trainings
	cp -r recordings/. $(FOLDER)/cache/trainings
	$(BIN)/depthlaw verify full --results $(FOLDER)
	$(BIN)/depthlaw verify frontier --results $(FOLDER)
	$(BIN)/depthlaw exercise all --results $(FOLDER)
	$(BIN)/depthlaw verify training --results $(FOLDER)
	$(BIN)/python .ci/record_trained.py $(FOLDER)
	$(BIN)/python -m depthlaw.ledger.verdicts.reference_ledger --results $(FOLDER)
	$(BIN)/python -m depthlaw.ledger.verdicts.card

# Ranges are for users, these files for who wants the very versions: `lock.txt` is what writes the
# appendix, on any system; `lock-dev.txt` everything, with the CPU build of torch, as the reference
# ledger was recorded with. INDEX says where that build is, such as
# INDEX="--index https://download.pytorch.org/whl/cpu".
LOCK := pip compile --quiet --upgrade --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock" pyproject.toml
lock: $(VENV)/.release-tools
	$(BIN)/uv $(LOCK) --universal --fork-strategy fewest --extra appendix \
		--output-file requirements/lock.txt
	$(BIN)/uv $(LOCK) --python-platform x86_64-manylinux_2_28 $(INDEX) \
		--extra dev --extra docs --extra site --constraint requirements/lock.txt \
		--output-file requirements/lock-dev.txt

release: $(VENV)/.release-tools $(VENV)/.dev
	BIN="$(BIN)" .ci/release

clean:
	rm -rf $(VENV) build dist docs/_build docs/_site *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "depthlaw needs Python 3.11 or newer; none was found:" \
		"make PYTHON=/path/to/python ..." >&2; exit 2; }
	@$(call new_venv,$(VENV))
	@touch $@

$(VENV)/.base: pyproject.toml | $(VENV)/.python
	@echo "installing depthlaw into $(VENV)"
	@$(BIN)/pip install -qq --no-compile --editable '.[appendix]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python
	@echo "installing depthlaw with torch and the development tools into $(VENV) (minutes, once)"
	@$(BIN)/pip install -qq --no-compile --editable '.[dev]'
	@touch $(VENV)/.base $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.python
	@echo "installing depthlaw with what builds the site into $(VENV)/docs"
	@$(call new_venv,$(VENV)/docs)
	@$(VENV)/docs/bin/pip install -qq --no-compile --editable '.[docs]'
	@touch $@

$(VENV)/.site: pyproject.toml $(VENV)/.dev
	@$(BIN)/pip install -qq --no-compile --editable '.[site]'
	@touch $@

$(VENV)/.release-tools: pyproject.toml | $(VENV)/.python
	@$(BIN)/pip install -qq --no-compile --editable '.[release]'
	@touch $@

always:
$(LIST): always | $(VENV)/.python
	@[ "$$(cat $@ 2>/dev/null)" = '$(sort $(SOURCES) $(PAGES))' ] \
		|| echo '$(sort $(SOURCES) $(PAGES))' >$@

# An old build folder would smuggle deleted modules into the wheel.
$(VENV)/.wheel: pyproject.toml README.md LICENSE $(LIST) $(SOURCES) | $(VENV)/.python
	@rm -rf build $(VENV)/wheel
	@$(BIN)/pip wheel -qq --no-deps --wheel-dir $(VENV)/wheel .
	@rm -rf build
	@touch $@
