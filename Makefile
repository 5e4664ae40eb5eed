# heapgauge's front door. Every goal installs what it lacks (Debian 12, as root), builds and runs:
# `make help` lists them. The real build is CMake's, see CMakePresets.json; all of this can be had
# with `cmake --preset NAME` and `ctest --preset NAME` too.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Passed on: make test ARGS='-R pattern', make fuzz SECONDS=60, make bench ARGS='--quick'
ARGS ?=
SECONDS ?= 30

SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: build
build: product  ## build/bin/heapgauge and build/lib/libheapgauge.so (the default goal)
	@echo "built: build/bin/heapgauge, build/lib/libheapgauge.so"

.PHONY: demo
demo: product  ## profile a small service and show where its memory is
	@scripts/demo $(ARGS)

.PHONY: test
test: everything  ## every test (ARGS='-R pattern' for some)
	@scripts/test build -LE torture $(ARGS)

.PHONY: ci
ci:  ## what continuous integration runs: test, then further checks for an hour
	@scripts/ci

.PHONY: torture
torture: everything  ## the long tests too (labelled torture), then all that is too long for `make ci`: hours
	@HEAPGAUGE_TORTURE=1 scripts/test build $(ARGS)
# With ARGS only some tests are wanted.
	@$(if $(ARGS),:,$(MAKE) check-format asan tsan tidy check-clang fuzz)

.PHONY: bench
bench: everything  ## overhead and memory beside other profilers (ARGS=--quick for a first look)
	@scripts/setup bench
	@bench/run --build build $(ARGS)

.PHONY: asan tsan
asan tsan:  ## tests with AddressSanitizer and UBSan, or with ThreadSanitizer
	@scripts/setup build test
	@scripts/compile $@
	@scripts/test build-$@ -LE torture $(ARGS)

.PHONY: fuzz
fuzz:  ## each fuzz target for SECONDS (30)
	@scripts/setup build test
	@scripts/compile fuzz
	@scripts/fuzz build-fuzz $(SECONDS)

.PHONY: check-clang
check-clang:  ## the whole build with clang, warnings as errors
	@scripts/setup build test
	@scripts/compile clang
	@echo "clang: no warnings"

.PHONY: tidy
tidy:  ## clang-tidy over our sources (ARGS=path/prefix or ARGS='--some N' for some)
	@scripts/setup build test
	@scripts/tidy $(ARGS)

.PHONY: format check-format
format:  ## clang-format in place
	@scripts/setup test
	@scripts/sources | xargs clang-format -i
check-format:  ## say which files `make format` would change
	@scripts/setup test
	@scripts/sources | xargs clang-format --dry-run --Werror

.PHONY: install
install:  ## into PREFIX (/usr/local), DESTDIR is honoured
	@scripts/setup build
	@scripts/compile release
	@cmake --install build-release --prefix $(PREFIX) | sed -n 's/^-- Installing: /installed: /p'

.PHONY: setup
setup:  ## only the packages
	@scripts/setup

.PHONY: clean
clean:  ## remove all build folders
	@rm -rf build build-*

.PHONY: help
help:  ## this list
	@sed -nE 's/^([a-z][a-z -]*):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 26

# The programs alone need fewer packages than the tests do, so that a first `make demo` is quick.
.PHONY: product
product:
	@scripts/setup build
	@JOBS=$(JOBS) scripts/compile product

.PHONY: everything
everything:
	@scripts/setup build test
	@JOBS=$(JOBS) scripts/compile dev
