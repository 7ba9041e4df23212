# Every goal sets up .venv by itself and reuses it while nothing changed.
#   make demo       run the main job: three workspace modes on the CPU host target, compared
#   make test       every test, C++ and Python
#   make lint       format, lint, types, import contract, spelling
#   make docs       the documentation as a site in build/site, warnings as errors
#   make bench      speed and memory against peers, as a table: BENCH=quick|default|full (3, 15, 20 minutes),
#                   ROWS='kineto csv ...' CAPTURES='a.json.gz ...' FOLDER=keep/files/there RESUME=1 WRITE=1
#   make bench-report  the page of 10^5 and of 10^6 device ops in headless Chromium: first draw, pan, zoom, what is found
#   make bench-bwd  the backward by workspace mode, with AITER's options: ARGS='-prec=bf16 -s=512 -workspace=all'
#   make check-amd  build for gfx90a, gfx942 and gfx950 without a GPU; registers, LDS and spills of each kernel
#   make fuzz       two minutes of fuzzing of the readers' core: FUZZ_SECONDS=3600, FUZZ_TARGETS='events csv'
#   make coverage-native  which lines of the readers' core the kept corpus and the readers' tests run
#   make sanitize   the C++ parts under ThreadSanitizer and AddressSanitizer, the readers' tests under ASan and UBSan
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --progress-bar off -q -c constraints.txt
JOBS ?= $(shell nproc)
DEMO_OUT ?= demo_out
READERS_TESTS ?= tests/unit/loaders tests/unit/native tests/cases tests/end_to_end/test_samples_load.py

CLANGXX ?= $(firstword $(shell for name in clang++ clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14; do command -v $$name; done))

CPP := $(shell find hip_ext overlap_lab/native -name "*.cpp" -o -name "*.h" -o -name "*.hip")
FUZZ_CPP := $(shell find tests/fuzz -name "*.cpp" -o -name "*.h")
BUILD_INPUTS := $(CPP) $(shell find . -path ./.venv -prune -o -path ./build -prune -o \( -name CMakeLists.txt -o -name "*.cmake" \) -print) pyproject.toml

export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: bench bench-bwd bench-report check-amd demo docs fuzz test test-cpp lint format coverage-native sanitize sanitize-cpp sanitize-readers clean FORCE
.DELETE_ON_ERROR:

demo: $(VENV)/.built
	$(BIN)/overlap-lab demo --out $(DEMO_OUT) --force

test: test-cpp $(VENV)/.test
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m 'not alone'
	$(BIN)/python -m pytest -q -m alone

test-cpp: $(VENV)/.tools | build
	@echo "== C++ tests"
	@$(BIN)/cmake -S . -B build/ctest -G Ninja -DHIP_EXT_BINDING=OFF -DHIP_EXT_TARGET=host -DOVERLAP_LAB_WERROR=ON \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/ctest.log 2>&1 || { cat build/ctest.log; exit 1; }
	@$(BIN)/cmake --build build/ctest
	@$(BIN)/ctest --test-dir build/ctest --output-on-failure -j $(JOBS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "clang-format --dry-run"; $(BIN)/clang-format --dry-run -Werror $(CPP) $(FUZZ_CPP)
	$(BIN)/lint-imports
	@echo codespell; $(BIN)/codespell $$(git ls-files -- '*.md' '*.py' '*.h' '*.cpp' '*.toml')
	git ls-files -z -- '*.ipynb' | xargs -0 -r $(BIN)/nbstripout --verify

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP) $(FUZZ_CPP)

bench: $(VENV)/.built
	$(BIN)/python -m scripts.bench $(or $(BENCH),default) $(if $(ROWS),--rows $(ROWS)) \
	    $(if $(CAPTURES),--captures $(CAPTURES)) $(if $(FOLDER),--folder $(FOLDER)) \
	    $(if $(RESUME),--resume) $(if $(WRITE),--write)

bench-report: $(VENV)/.built
	$(BIN)/python -m scripts.bench_report $(ARGS)

bench-bwd: $(VENV)/.built
	$(BIN)/python -m hip_ext.bench $(or $(ARGS),-prec=bf16 -b=2 -h=4 -h_k=2 -d=128 -s=512 -mode=1 -v=1)

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

check-amd: build/amd/.rocm | $(VENV)/.tools
	@$(BIN)/python -m scripts.check_amd --cmake

fuzz: $(VENV)/.tools | build
	@command -v "$(CLANGXX)" >/dev/null || \
	  { echo "make: fuzzing needs clang++ and its runtime (Debian: clang and libclang-rt-14-dev), or CLANGXX=/path/to/clang++"; exit 2; }
	@$(BIN)/cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER="$(CLANGXX)" -DHIP_EXT_BINDING=OFF -DHIP_EXT_TESTS=OFF \
	    -DOVERLAP_LAB_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }
	@$(BIN)/cmake --build build/fuzz --target fuzz_targets
	@$(BIN)/python scripts/fuzz.py run --seconds $(or $(FUZZ_SECONDS),120) $(FUZZ_TARGETS)

sanitize: sanitize-cpp sanitize-readers

sanitize-cpp: $(VENV)/.tools | build
	@set -e; for kind in thread address; do \
	  echo "== $$kind sanitizer"; \
	  $(BIN)/cmake -S . -B build/sanitize-$$kind -G Ninja -DHIP_EXT_BINDING=OFF -DHIP_EXT_TARGET=host \
	      -DHIP_EXT_SANITIZE=$$kind -DOVERLAP_LAB_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	      -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }; \
	  $(BIN)/cmake --build build/sanitize-$$kind; \
	  $(BIN)/ctest --test-dir build/sanitize-$$kind --output-on-failure; \
	done

# The tests of the readers, with the core that they call built under both sanitizers. Leaks are left
# out: Python has its own.
sanitize-readers: $(VENV)/.test | build
	@echo "== the readers' tests under the address and undefined-behaviour sanitizers"
	@$(BIN)/cmake -S . -B build/sanitize-readers -G Ninja -DHIP_EXT_TESTS=OFF -DHIP_EXT_SANITIZE=address,undefined \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }
	@$(BIN)/cmake --build build/sanitize-readers --target _native
	@PATH="$(abspath $(BIN)):$$PATH" scripts/with_sanitizers.sh build/sanitize-readers \
	    python -m pytest -q -n $(JOBS) $(READERS_TESTS)

# Of all builds of a source file in that folder together.
coverage-native: $(VENV)/.test | build
	@$(BIN)/cmake -S . -B build/coverage -G Ninja -DHIP_EXT_TARGET=host -DOVERLAP_LAB_COVERAGE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	    -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja >build/coverage.log 2>&1 || { cat build/coverage.log; exit 1; }
	@$(BIN)/cmake --build build/coverage --target _native native_tests
	@find build/coverage -name '*.gcda' -delete
	@$(BIN)/ctest --test-dir build/coverage --output-on-failure -j $(JOBS) -R 'replay_|native_'
	@PATH="$(abspath $(BIN)):$$PATH" OVERLAP_LAB_TESTED_CORE=$$(ls build/coverage/overlap_lab/native/_native*.so) \
	    python -m pytest -q -n $(JOBS) $(READERS_TESTS)
	@$(BIN)/python scripts/coverage_native.py build/coverage --least 90

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

# Where somebody removed it but not the environment.
build:
	@mkdir -p $@

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

# Into the build folder alone; nothing of the wheel is installed.
build/amd/.rocm: | $(VENV)/.venv
	@$(BIN)/python -m scripts.check_amd --tools
	@echo "== fetching HIP's headers and bitcode, which triton's wheel has (290 MB)"
	@rm -rf build/amd/wheel build/amd/rocm
	@$(BIN)/python -m pip --disable-pip-version-check download --progress-bar off -q --no-deps --only-binary=:all: \
	    -d build/amd/wheel triton==3.9.0
	@$(BIN)/python -m scripts.check_amd --unpack build/amd/wheel/triton-*.whl
	@rm -r build/amd/wheel
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@echo "== installing linters"
	@$(PIP) $$($(BIN)/python scripts/extras.py lint)
	@touch $@

$(VENV)/.docs: $(VENV)/.built
	@echo "== installing what makes the documentation"
	@$(PIP) $$($(BIN)/python scripts/extras.py docs)
	@touch $@
