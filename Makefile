# Every goal sets up .venv by itself and reuses it while nothing changed.
#   make demo       run the main job: three workspace modes on the CPU host target, compared
#   make test       every test, C++ and Python
#   make lint       format, lint, types, import contract, spelling
#   make bench      how fast traces are read, against a bare json.load: CAPTURES='a.json.gz ...' SIZES='50 500'
#   make sanitize   the C++ runtime and launcher under ThreadSanitizer and AddressSanitizer
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --progress-bar off -q -c constraints.txt
JOBS ?= $(shell nproc)
DEMO_OUT ?= demo_out

CPP := $(shell find hip_ext overlap_lab/native -name "*.cpp" -o -name "*.h")
BUILD_INPUTS := $(CPP) $(shell find . -path ./.venv -prune -o -path ./build -prune -o \( -name CMakeLists.txt -o -name "*.cmake" \) -print) pyproject.toml

export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: bench demo test test-cpp lint format sanitize clean FORCE
.DELETE_ON_ERROR:

demo: $(VENV)/.built
	$(BIN)/overlap-lab demo --out $(DEMO_OUT) --force

test: test-cpp $(VENV)/.test
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m 'not alone'
	$(BIN)/python -m pytest -q -m alone

test-cpp: $(VENV)/.tools
	@echo "== C++ tests"
	@$(BIN)/cmake -S . -B build/ctest -G Ninja -DHIP_EXT_BINDING=OFF -DHIP_EXT_TARGET=host -DOVERLAP_LAB_WERROR=ON \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/ctest.log 2>&1 || { cat build/ctest.log; exit 1; }
	@$(BIN)/cmake --build build/ctest
	@$(BIN)/ctest --test-dir build/ctest --output-on-failure -j $(JOBS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "clang-format --dry-run"; $(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/lint-imports
	@echo codespell; $(BIN)/codespell $$(git ls-files -- '*.md' '*.py' '*.h' '*.cpp' '*.toml')
	git ls-files -z -- '*.ipynb' | xargs -0 -r $(BIN)/nbstripout --verify

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/.built
	$(BIN)/python scripts/bench_readers.py $(CAPTURES) --sizes $(or $(SIZES),50)

sanitize: $(VENV)/.tools
	@set -e; for kind in thread address; do \
	  echo "== $$kind sanitizer"; \
	  $(BIN)/cmake -S . -B build/sanitize-$$kind -G Ninja -DHIP_EXT_BINDING=OFF -DHIP_EXT_TARGET=host \
	      -DHIP_EXT_SANITIZE=$$kind -DOVERLAP_LAB_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	      -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }; \
	  $(BIN)/cmake --build build/sanitize-$$kind; \
	  $(BIN)/ctest --test-dir build/sanitize-$$kind --output-on-failure; \
	done

clean:
	rm -rf build $(VENV) $(DEMO_OUT)

# -- set-up, in layers: a stamp is remade when what it was made from changes ---------------------
$(VENV)/.venv:
	@command -v $(PYTHON) >/dev/null || { echo "make: no $(PYTHON); install Python 3.11 to 3.13 or say make PYTHON=/path/to/python"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "make: $$($(PYTHON) --version) is not supported; say make PYTHON=python3.11 (3.11 to 3.13)"; exit 2; }
	@command -v $${CXX:-c++} >/dev/null || { echo "make: no C++ compiler; install g++ (12 or newer) or clang, or set CXX"; exit 2; }
	@echo "== creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p build
	@touch $@

$(VENV)/.tools: $(VENV)/.venv
	@echo "== installing build tools"
	@mkdir -p build
	@$(PIP) 'cmake>=3.25' 'ninja>=1.11' 'scikit-build-core>=0.11' 'nanobind>=2.4'
	@touch $@

$(VENV)/.torch: $(VENV)/.tools constraints.txt
	@echo "== installing torch (the largest part of the set-up)"
	@$(PIP) torch
	@touch $@

# The editable install knows the modules that were there when it was made: a new one makes it anew.
$(VENV)/.modules: $(VENV)/.venv FORCE
	@find overlap_lab hip_ext -name '*.py' | sort >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(VENV)/.built: $(VENV)/.torch $(VENV)/.modules $(BUILD_INPUTS)
	@echo "== building hip_ext and installing overlap_lab"
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/.test: $(VENV)/.built
	@echo "== installing what the tests need"
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) $$($(BIN)/python scripts/extras.py test notebooks)
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@echo "== installing linters"
	@$(PIP) $$($(BIN)/python scripts/extras.py lint)
	@touch $@
