# Two commands do everything: `make run` and `make test`. The others are for daily work.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
RUN_STAMP := $(VENV)/.installed-to-run
RESULTS := .cache/test-results.xml

.PHONY: screenshots site help bytecode run stop packages test promises lint format bench soak store-faults fuzz figures docs lock proto test-cluster test-e2e test-rest test-node test-takeover test-providers manifests wheels image test-image test-newest lint-release release release-check lock-base clean

help: ## Show what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: $(RUN_STAMP) ## Set up, start a control plane in the background and apply the quick start
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python tools/quickstart.py

stop: ## Stop the control plane that `make run` started
	@$(BIN)/crossply down --data .crossply

packages: ## Install the programs that some tests use: container engines, a registry (Debian, as root)
	@sh tools/system_packages.sh

test: packages bytecode lint ## Set up and run every check and test
	@$(BIN)/python tools/run_tests.py -n 4 --dist loadgroup --junitxml=$(RESULTS)

promises: $(STAMP) ## Write docs/reference/promises.md from the results of the last `make test`
	@$(BIN)/python tools/promise_results.py $(RESULTS)

lint: $(STAMP) ## Check style, types and the direction of imports
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(STAMP) ## Rewrite the code in the house style
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

bench: bytecode ## Measure the hot paths beside a yardstick of this machine
	@$(BIN)/python bench/run.py

soak: bytecode ## Inject faults into a control plane under load, then check the whole history (SECONDS=600 SEED=7 FAULTS=none)
	@$(BIN)/python -m tests.histories --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED)) \
		$(if $(FAULTS),--faults "$(FAULTS)") $(if $(COMPOSITES),--composites $(COMPOSITES))

store-faults: bytecode ## Make system calls, memory and files fail below the API server's store (SECONDS=600)
	@$(BIN)/python tools/store_faults.py $(or $(SECONDS),600)

fuzz: $(STAMP) ## Feed random input to every parser (SECONDS=600)
	@$(BIN)/python tools/fuzz.py $(or $(SECONDS),600)

figures: $(STAMP) ## Count modules, lines, importers, and words in names that say nothing
	@$(BIN)/python tools/code_figures.py

docs: $(STAMP) ## Write the generated pages of the reference
	@$(BIN)/python tools/generate_docs.py

site: $(STAMP) ## Build the site of the documentation into .cache/site; a broken link ends it
	@$(BIN)/python tools/build_site.py

screenshots: $(STAMP) ## Write docs/images: what the journeys in the dashboard show (needs Chromium)
	@CROSSPLY_SCREENSHOTS=docs/images $(BIN)/python -m pytest -q tests/ui/journeys

proto: $(STAMP) ## Generate the wire messages from the .proto files
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/generate_protos.sh

manifests: $(STAMP) ## Write deploy/manifests from the chart (Helm is built once, by Go, in .cache)
	@$(BIN)/python tools/manifests.py

wheels: $(STAMP) ## Build the wheels and the source archive into dist/, twice, and compare
	@$(BIN)/python tools/build_wheels.py

image: $(STAMP) ## Build the image of controllers, dashboard and functions into dist/ (BASE=, ARCHITECTURES="amd64 arm64")
	@$(BIN)/python tools/build_image.py $(if $(BASE),--base $(BASE)) $(if $(ARCHITECTURES),--architecture $(ARCHITECTURES))

test-image: bytecode ## Build the image twice, and run it as any user on a read-only file system (fetches packages)
	@CROSSPLY_IMAGE=1 $(BIN)/python -m pytest -s tests/image

test-newest: packages ## Run the suite with the newest versions of all dependencies, in an environment of its own
	@sh tools/test_newest.sh $(PYTHON)

lint-release: $(STAMP) ## Check workflows, chart and manifests: actionlint, zizmor, helm lint, kubeconform
	@$(BIN)/python tools/lint_release.py

release-check: $(STAMP) ## Check everything that must hold before a version is tagged (TAG=v0.2.0)
	@$(BIN)/python tools/release.py --check $(TAG)

release: $(STAMP) ## Check everything, run all tests, then tag the version; nothing is pushed
	@$(BIN)/python tools/release.py

lock-base: $(STAMP) ## Pin the packages of Debian that the image is based on
	@$(BIN)/python tools/lock_base.py

lock: $(STAMP) ## Pin every dependency anew, by hash
	@sh tools/lock.sh

test-cluster: bytecode ## Run the suites on a real kube-apiserver (built once, by Go, in .cache)
	@PYTHON=$(BIN)/python tests/cluster/run.sh

test-e2e: bytecode ## Run Kubernetes' own end-to-end tests on the embedded server (SERVER=real: on a real one)
	@PYTHON=$(BIN)/python tests/cluster/e2e.sh $(or $(SERVER),embedded)

test-rest: bytecode ## Watch a settled control plane of 200 composite resources do nothing for three minutes
	@CROSSPLY_REST_SECONDS=180 CROSSPLY_PATIENCE=120 $(BIN)/python -m pytest tests/e2e/test_counting.py

test-node: bytecode ## Run the controllers and functions as Pods on a Kubernetes of one node (root, Debian's containerd)
	@CROSSPLY_NODE=1 $(BIN)/python -m pytest tests/node

test-providers: packages bytecode ## Run the providers against real systems: crashes, outages, a thousand databases (TESTS=tests/providers/...)
	@CROSSPLY_PROVIDERS=1 $(BIN)/python tools/run_tests.py -rs $(or $(TESTS),tests/providers)

test-takeover: bytecode ## Take a cluster over from a real Crossplane, and give it back (built once, by Go, in .cache)
	@PYTHON=$(BIN)/python tests/cluster/takeover.sh

clean: ## Remove what was set up
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# What `make run` needs is less than what `make test` needs, and installed in half the time.
$(RUN_STAMP): requirements/runtime.txt pyproject.toml
	$(call install,runtime)
	@touch $@

$(STAMP): requirements/dev.txt pyproject.toml
	$(call install,dev)
	@touch $@ $(RUN_STAMP)

define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip' 2>/dev/null || sh tools/python_venv.sh $(PYTHON)
@echo "Setting up $(VENV) ..."
@$(PYTHON) -m venv $(VENV)
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$(1).txt
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
endef

# An installed package has its bytecode; a checkout gets it here, also where Python may not write it itself.
bytecode: $(STAMP)
	@$(BIN)/python -m compileall -q src
