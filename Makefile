# make demo: the app on http://localhost:7860, with options in ARGS ("--preload --port 8000").
# It takes torch for CPUs, a tenth as large; GPU=1 takes the one for CUDA (again with it: make -B).
# make demo.tar: what the app needs, for people without git: tar -xf demo.tar, make -C earshot demo.
# make test: every check, a test a core at a time; options of pytest in ARGS ("-k audio").
# make test-scale: tests that need the 600 MB of requirements-scale.txt, and those of replicas.
# make space-check: whether it would build and run on a Hugging Face Space; needs a network.
# make test-quick: style and the tests of units, for work in between; under 90 s on two cores.

VENV ?= .venv
BIN := $(VENV)/bin
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))
PYTHON ?= $(shell for python in python3 python3.12 python3.11; do \
	$$python -c "$(SUPPORTED)" 2>/dev/null && echo $$python && break; done)
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
apt = $(SUDO) apt-get update -q && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(1)

# From the index of builds for CPUs, where it can be reached: the usual one has CUDA in it, 4 GB.
CPU_BUILDS := https://download.pytorch.org/whl/cpu
TORCH := $(shell sed -n 's/^\(torch.*\)$$/\1/p' requirements.txt)
torch = $(if $(GPU),$(BIN)/python -m pip install -q --upgrade --force-reinstall --no-deps "$(TORCH)", \
	$(BIN)/python -m pip install -q --retries 1 --timeout 15 --index-url $(CPU_BUILDS) "$(TORCH)" \
	2>/dev/null || echo "$(CPU_BUILDS) is not reached: torch comes from the usual index.")

.PHONY: demo demo.tar test types every-test test-quick test-scale space-check
.DELETE_ON_ERROR:

demo: $(VENV)/run-time $(VENV)/packages
	$(BIN)/python app.py $(ARGS)

demo.tar:
	$(or $(shell ls $(BIN)/python 2>/dev/null),python3) -m scripts.pack_demo

test: $(VENV)/dev $(VENV)/packages
	@{ command -v chromium && command -v espeak-ng; } >/dev/null || \
		{ $(call apt,chromium fonts-liberation espeak-ng); }
	@command -v chromium-headless-shell >/dev/null || { $(call apt,chromium-headless-shell); } || \
		echo "Without Chromium's shell the tests in browsers take a third longer."
	@{ command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 || \
		{ $(call apt,postgresql); }
	@{ command -v pulseaudio && ldconfig -p | grep libportaudio; } >/dev/null || \
		{ $(call apt,pulseaudio pulseaudio-utils libportaudio2 libasound2-plugins); }
	@PATH=$$PATH:/usr/sbin command -v haproxy >/dev/null || { $(call apt,haproxy); }
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory -j 2 types every-test

# In the time in which tests wait for something.
types:
	nice $(BIN)/pyrefly check --python-interpreter-path $(BIN)/python

every-test:
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile \
		--no-loadscope-reorder $(ARGS)

test-quick: $(VENV)/dev $(VENV)/packages
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto -m "not slow" --ignore tests/browser $(ARGS)

test-scale: $(VENV)/dev $(VENV)/packages
	$(BIN)/python -m pip install -q -r requirements-scale.txt
	$(BIN)/python -m pytest tests/deploy tests/sound_index tests/systems/sound_search $(ARGS)

space-check: $(VENV)/dev $(VENV)/packages
	@command -v chromium >/dev/null || { $(call apt,chromium fonts-liberation); }
	$(BIN)/python -m scripts.space_check

# What OpenCV and MediaPipe are linked to, where a desktop has not brought it.
$(VENV)/packages: packages.txt | $(BIN)/python
	@{ ldconfig -p | grep -q libGL.so.1 && ldconfig -p | grep -q libEGL.so.1 && \
		ldconfig -p | grep -q libGLESv2.so.2 && ldconfig -p | grep -q libglib-2.0.so.0; } || \
		{ $(call apt,$$(cat packages.txt)); }
	touch $@

$(VENV)/run-time: requirements.txt | $(BIN)/python
	@echo "Installing what the app needs into $(VENV), once: $(if $(GPU),8,3) GB, 4 to 10 minutes. pip prints" \
		"nothing until a step is done."
	@echo "1 of 3: torch, the largest."
	$(torch)
	@echo "2 of 3: the other packages of requirements.txt, most of the time."
	$(BIN)/python -m pip install -q -r requirements.txt
	@echo "3 of 3: an encoder of sounds, and code compiled ahead."
	$(BIN)/python -m earshot sounds fetch || \
		echo "Sound search will try again at its first search."
	$(BIN)/python -m scripts.compile
	touch $@

$(VENV)/dev: requirements.txt requirements-train.txt requirements-dev.txt | $(BIN)/python
	@echo "Installing what the tests need: this takes some minutes, once."
	$(torch)
	$(BIN)/python -m pip install -q -r requirements-dev.txt
	$(BIN)/python -m earshot sounds fetch
	touch $@ $(VENV)/run-time

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or 3.12 is needed: install it," \
		"or name it with PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c "$(SUPPORTED)" || { echo "$(PYTHON) is not Python 3.11 or 3.12"; exit 1; }
	@$(PYTHON) -c "import ensurepip" 2>/dev/null || { $(call apt,python3-venv); }
	$(PYTHON) -m venv $(VENV)
