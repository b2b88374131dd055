# Short names for what people do; CMake does the work (CMakePresets.json).
.PHONY: all demo test check nightly bench install clean bootstrap bootstrap-tests

JOBS ?= $(shell nproc)
export GLAIVE_CASES ?= $(abspath ../shared/cases)

all: bootstrap
	cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS)

bootstrap:
	@scripts/bootstrap

bootstrap-tests:
	@scripts/bootstrap --tests

# The main job on real data: import, create a view, append, refresh incrementally; LanceDB reads the view.
demo: all
	@scripts/demo

# Format, layering, style, static analysis of what changed, exported functions.
check: bootstrap
	@scripts/check

# Every suite in its short form.
test: bootstrap-tests
	@scripts/test

# The long campaigns: full fault and crash loops, ten minutes of fuzzing per target, race, valgrind, coverage.
nightly: bootstrap-tests
	@scripts/nightly

# Glaive and LanceDB in turn, in one run, then Glaive and DataFusion, then the server; bench/RESULTS.md holds recorded results.
bench: bootstrap-tests all
	cmake --build --preset release -j $(JOBS) --target glaive_bench
	@.cache/venv/bin/python bench/run.py --markdown
	@.cache/venv/bin/python bench/growth.py --markdown
	@.cache/venvdf/bin/python bench/expressions.py --markdown
	@.cache/venv/bin/python bench/search.py --markdown
	@.cache/venv/bin/python bench/server.py --markdown
	@.cache/venv/bin/python bench/load.py --markdown

install: all
	cmake --install build/release $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf build
