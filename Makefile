# Everything is built from a fresh clone: Python's own venv, pip and (for the editor parts) npm. No root, and no torch
# but for `make oracle` and `make fuzz`.

PYTHON ?= python3
BIN := .venv/bin
ORACLE := .venv-oracle/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help demo spec test python-test packaging-test lint client-check compiled compiled-test oracle fuzz cures lock rent vsix release docs docs-test editor-test bench bench-sessions bench-others bench-thousand soak ecosystem clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: .venv/.ready ## check the programs in examples/ and show what is found
	@$(BIN)/tapelint check examples; status=$$?; echo; \
	echo "(exit status $$status: 0 nothing found, 1 something found, 2 could not run)"; test $$status -le 1

test: ## all tests that need neither torch nor an editor, with lint and client-check beside them
	@$(MAKE) --no-print-directory -j3 lint client-check python-test

spec: .venv/.ready ## what tapelint reports and how it is mended: literate tests, corpus, pages of rules, fixes (at every edit)
	$(BIN)/pytest -q -n $$(getconf _NPROCESSORS_ONLN) --dist worksteal tests/mdtest tests/rules tests/fixes

python-test: .venv/.ready node_modules/.ready ## of these, pytest alone
	@# One process more than there are cores: tests wait for servers and clocks.
	$(BIN)/pytest -q -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist worksteal --ignore=tests/oracle --ignore=tests/editor --ignore=tests/packaging --ignore=tests/compiled/test_wheel.py

packaging-test: .venv-packaging/.ready ## what is installed from here: build it, and run it where users do (package index)
	.venv-packaging/bin/pytest -q -n auto --dist loadfile tests/packaging

compiled: .venv-compiled/.ready ## build a wheel with the engine compiled, for this Python and machine (C compiler, package index)
	.venv-compiled/bin/python -m tools.compiled

compiled-test: .venv-compiled/.ready ## install that wheel where nothing else is: it must find what the pure package finds
	.venv-compiled/bin/pytest -q tests/compiled

lint: .venv/.ready ## ruff over the Python code, rules and format, and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

client-check: node_modules/.ready ## type-check and build the VS Code client
	npm run --silent check
	npm run --silent build

oracle: .venv-oracle/.ready ## let real PyTorch judge what the tests claim
	$(ORACLE)/pytest -q -n auto --dist worksteal tests/oracle

fuzz: .venv-oracle/.ready ## compare with real PyTorch: COUNT (500) random programs from SEED (1), for TIME seconds at most
	OMP_NUM_THREADS=1 $(ORACLE)/python -m tools.fuzz \
	--seed $(or $(SEED),1) --count $(or $(COUNT),500) --time $(or $(TIME),0) --scatter $(or $(SCATTER),0) \
	$(if $(BRIEF),--brief)

cures: .venv-oracle/.ready ## apply the preferred cures of programs that raise, and run them: COUNT (300) random ones from SEED (1), scripts in DIR
	PYTHONPATH=server:. OMP_NUM_THREADS=1 $(ORACLE)/python -m tools.cures \
	--seed $(or $(SEED),1) --count $(or $(COUNT),300) $(if $(DIR),--folder $(DIR))

lock: .venv-oracle/.ready ## digest all that is reported of about 3,000 programs (AGAINST=file: what differs from digests printed before)
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(ORACLE)/python -m tools.lock $(if $(AGAINST),--against $(AGAINST)) --every $(or $(EVERY),1)

rent: .venv/.ready ## what each mechanism of the engine is worth, over the repositories in DIR (CASES="--cases FOLDER", MECHANISMS="--only NAME ...")
	@PYTHONPATH=. $(BIN)/python -m tools.rent $(CASES) $(MECHANISMS) $(DIR)

vsix: node_modules/.ready ## build the extension into dist/, and look into it
	$(PYTHON) -m tools.vsix.build
	$(PYTHON) -m tools.vsix.verify dist/tapelint-*.vsix

release: .venv-packaging/.ready ## make the release VERSION, all but the upload; PURE=1: without compiled wheels (docs/releasing.md)
	.venv-packaging/bin/python -m tools.release $(VERSION) $(if $(PURE),--pure)

docs: .venv-docs/.ready node_modules/.ready playground/node_modules/.ready ## build the documentation as a site into build/site, every link checked
	node_modules/.bin/tsc -p playground
	.venv-docs/bin/python -m tools.playground
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict

EDITOR_CACHE = $(or $(TAPELINT_EDITOR_CACHE),$(HOME)/.cache/tapelint-editor)

docs-test: docs ## use the built site in a real Chromium: home page, search, playground (needs chromium)
	tests/editor/install.sh $(EDITOR_CACHE)
	node tests/site/search.mjs $(EDITOR_CACHE)
	node tests/site/home.mjs $(EDITOR_CACHE)
	node tests/site/playground.mjs $(EDITOR_CACHE)

editor-test: .venv/.ready node_modules/.ready ## drive a real VS Code and a real neovim (needs chromium, libkrb5-dev, neovim)
	tests/editor/run.sh

bench: .venv/.ready ## measure time and memory over DIR (examples), with TorchFix beside it
	@test -x .venv-torchfix/bin/torchfix \
	|| { $(PYTHON) -m venv .venv-torchfix && echo '*' >.venv-torchfix/.gitignore \
	&& .venv-torchfix/bin/pip install --quiet 'torchfix==0.7.0'; } \
	|| echo "TorchFix 0.7.0 could not be installed; everything else is measured" >&2
	@PYTHONPATH=. $(BIN)/python -m tools.bench $(or $(DIR),examples)

bench-sessions: .venv/.ready ## what editing costs the server, over real files (tools/bench/sessions.txt) of the clones in DIR
	@PYTHONPATH=. $(BIN)/python -m tools.bench --only sessions $(DIR)

bench-thousand: .venv/.ready ## a cold run over a thousand training files (tools/bench/thousand.txt) of the clones in DIR, or of GitHub
	@PYTHONPATH=. $(BIN)/python -m tools.bench --only thousand $(if $(EVERY),--every $(EVERY)) $(or $(DIR),.)

bench-others: .venv/.ready ## the same edits in the language servers of ruff, ty and pyright, and in tapelint's
	@test -x .venv-servers/bin/ty \
	|| { $(PYTHON) -m venv .venv-servers && echo '*' >.venv-servers/.gitignore \
	&& .venv-servers/bin/pip install --quiet 'ruff==0.17.6' 'ty==0.0.105' 'pyright[nodejs]==1.1.414'; }
	@PYTHONPATH=. $(BIN)/python -m tools.bench --only others $(DIR)

soak: .venv/.ready ## COUNT (1000) random edits of the same files from SEED (1): what goes on must equal what begins anew
	@PYTHONPATH=. $(BIN)/python -m tools.soak $(DIR) --count $(or $(COUNT),1000) --seed $(or $(SEED),1)

ecosystem: .venv/.ready ## what public repositories show, against the list of verdicts (OPTIONS="--update"); DIR="folder folder": survey these
	@PYTHONPATH=. $(BIN)/python -m tools.ecosystem $(OPTIONS) $(DIR)

clean: ## remove all that the targets above made
	rm -rf .venv .venv-compiled .venv-docs .venv-oracle .venv-packaging .venv-torchfix .venv-servers .cache .pytest_cache .hypothesis .ruff_cache .mypy_cache node_modules playground/node_modules build dist bundled server/*.egg-info
	find server tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

.venv-oracle/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-oracle
	$(ORACLE)/pip install --quiet --editable '.[dev,oracle]'
	touch $@

.venv-packaging/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-packaging
	.venv-packaging/bin/pip install --quiet --editable '.[dev,packaging,fleet]'
	touch $@

.venv-compiled/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-compiled
	.venv-compiled/bin/pip install --quiet --editable '.[dev,compiled]'
	touch $@

.venv-docs/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --editable '.[docs]'
	touch $@

node_modules/.ready: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

playground/node_modules/.ready: playground/package.json playground/package-lock.json
	npm ci --prefix playground --silent --no-audit --no-fund
	touch $@
