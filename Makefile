# make run | test | check | bench: each sets itself up in .venv
PYTHON ?= python3.11
BIN := .venv/bin

run: .venv/app
	$(BIN)/streamlit run app.py

test: .venv/dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

check: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: .venv/dev
	$(BIN)/python -m benchmarks

.venv/app: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

.venv/dev: requirements-dev.txt .venv/app
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	touch $@

.PHONY: run test check bench
