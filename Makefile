# The two commands of the project are `make serve` and `make test`.

PYTHON ?= python3
# `make lock LOCK_FLAGS=--upgrade` takes the newest versions that pyproject.toml allows.
LOCK_FLAGS ?=
# Options of the benchmark; `make bench BENCH=--help` lists them.
BENCH ?=
# PyPI's PyTorch for Linux brings CUDA along; --extra-index-url
# https://download.pytorch.org/whl/cpu takes the one that is a tenth as large.
TORCH_FLAGS ?=
UV := uv==0.13.9

VENV := .venv
DEV_VENV := .venv-dev
TRAIN_VENV := .venv-train
LOCK_VENV := .venv-lock
DEV_PYTHON := $(DEV_VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help serve dev train-env test check test-system test-train docs docs-answers bench lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

# exec: a signal to make reaches gunicorn, not a shell between the two.
serve: $(VENV)/installed ## Serve the models of models/ on TRELLIS_HOST:TRELLIS_PORT
	exec $(VENV)/bin/python -m gunicorn -c deploy/gunicorn.conf.py service.wsgi:app

dev: $(DEV_VENV)/installed ## Make the environment for the tests, and to train HMMs and CRFs

train-env: $(TRAIN_VENV)/installed ## Make the environment for training with PyTorch too

test: check ## Check the code, and run every test that needs only Python
	$(DEV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadfile --ignore=tests/system --ignore=tests/train

check: $(DEV_VENV)/installed ## Check style, types and the layers of the imports
	$(DEV_VENV)/bin/ruff check
	$(DEV_VENV)/bin/ruff format --check
	$(DEV_PYTHON) -m mypy
	$(DEV_VENV)/bin/lint-imports
	$(DEV_VENV)/bin/hadolint Dockerfile

test-system: $(DEV_VENV)/installed ## Run the tests that need more; a missing tool is a skip
	$(DEV_PYTHON) -m pytest tests/system

test-train: $(TRAIN_VENV)/installed ## Run the tests of training, which need PyTorch
	$(TRAIN_VENV)/bin/python -m pytest tests/train

docs: $(DEV_VENV)/installed ## Write what is made of the docs, and their site into build/docs
	$(DEV_PYTHON) -m documentation
	NO_MKDOCS_2_WARNING=1 $(DEV_PYTHON) -m mkdocs build --strict

docs-answers: $(DEV_VENV)/installed ## Write what the commands of the docs answer, into the docs
	$(DEV_PYTHON) -m documentation --answers

bench: $(DEV_VENV)/installed ## Measure beside other programs; DATA=DIR has the public data sets
	$(DEV_PYTHON) -m benchmarks $(if $(DATA),--data $(DATA)) $(BENCH)

$(VENV)/installed: requirements.lock pyproject.toml
	$(install)

$(DEV_VENV)/installed: requirements-dev.lock pyproject.toml
	$(install)

$(TRAIN_VENV)/installed: requirements-dev.lock pyproject.toml
	$(install)
	@$(pip_install) $(TORCH_FLAGS) --editable '.[train]'

# The venv begins empty (--clear takes the stamp along), and the stamp is the last thing written:
# an install that was interrupted is done again, and what left the lock leaves the venv.
define install
	@$(require_python)
	@echo "Installing $< into $(@D)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(pip_install) --require-hashes --requirement $<
	@$(pip_install) --no-deps --editable .
	@$(@D)/bin/python -m pip check
	@touch $@
endef
pip_install = $(@D)/bin/python -m pip install --quiet --disable-pip-version-check
require_python = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'Trellis needs Python 3.11 or newer: make PYTHON=/path/to/python3 ...' >&2; exit 1; }

# The others are resolved under the first: what they hold of it has one version.
lock: ## Write the lock files from pyproject.toml
	@$(require_python)
	$(PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(compile) pyproject.toml --output-file requirements.lock
	$(compile) pyproject.toml --extra tracing --constraint requirements.lock \
		--output-file requirements-tracing.lock
	$(compile) pyproject.toml --group dev --constraint requirements.lock \
		--output-file requirements-dev.lock
	rm -rf $(LOCK_VENV)
compile = $(LOCK_VENV)/bin/uv pip compile --quiet --no-config $(LOCK_FLAGS) --universal \
	--python-version 3.11 --fork-strategy fewest --generate-hashes \
	--custom-compile-command 'make lock'

clean: ## Remove the virtual environments, caches and build output
	rm -rf $(VENV) $(DEV_VENV) $(TRAIN_VENV) $(LOCK_VENV) benchmarks/.cache build dist *.egg-info
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
