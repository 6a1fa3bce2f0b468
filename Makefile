# The front door. `make` lists what there is; CMakePresets.json has the details.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CMAKE_BUILD := cmake --build
# How long `make fuzz` and `make fuzz-replay` run, in seconds, all targets together.
FUZZ_SECONDS ?= 300

##@ Every day

.PHONY: build
build: program ## Build build/strata (installs missing Debian packages first)

.PHONY: programs
programs: ## Build everything that is installed: strata, strata-agent, manual page, completion, debug information
	@tools/install-packages.sh build agent
	@tools/configure.sh debug-info
	@$(CMAKE_BUILD) build --target strata_programs

.PHONY: run
run: program ## Run a whole cluster, place the example job in it, and tell where it went and why
	@tools/run_demo.py

.PHONY: test
# Half of the tests mostly wait: two more at a time than there are cores.
test: configured ## Build everything and run every test
	@$(CMAKE_BUILD) build
	@ctest --test-dir build --output-on-failure --no-tests=error -j $$(($$(nproc) + 2))

.PHONY: lint
lint: configured ## Check format, layers, and what can have changed: headers alone, clang-tidy findings
	@tools/install-packages.sh lint fuzz
	@tools/lint.sh

.PHONY: lint-all
lint-all: configured ## The same for every file, and every source alone; records a clean commit in .ci/linted
	@tools/install-packages.sh lint fuzz
	@tools/lint.sh all

.PHONY: format
format: ## Rewrite the C++ files in the house format
	@tools/install-packages.sh lint
	@tools/format.sh

.PHONY: bench
bench: configured ## Build and run the benchmarks: one table, and build/bench/results.json
	@$(CMAKE_BUILD) build --target strata_benchmarks
	@tools/bench_table.py

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build

##@ Longer checks

.PHONY: check-property
check-property: configured ## The property tests with a hundred times as many random cases
	@$(CMAKE_BUILD) build
	@for test in build/tests/property/strata_*_test; do STRATA_PROPERTY_SCALE=100 $$test; done
	@for part in kube apiserver; do STRATA_PROPERTY_SCALE=20 \
	  build/src/$$part/strata_$${part}_test --gtest_filter='*Property*:InformersOverSockets*'; done

# Which seeds; they run in pieces: FIRST=1 LAST=50000.
FIRST ?= 1
LAST ?= 1000000
.PHONY: check-histories
check-histories: configured ## Random histories of a whole cluster with faults: seeds FIRST to LAST (1 to 1,000,000)
	@$(CMAKE_BUILD) build --target strata_run_histories
	@build/strata_run_histories $(FIRST) $(LAST)
	@build/strata_run_histories --evict $(FIRST) $(LAST)

# For how long there are faults; STRATA_SEED repeats those of an earlier run.
STRATA_SECONDS ?= 180
.PHONY: check-faults
check-faults: configured ## Faults on real processes for STRATA_SECONDS (180), then the whole history of the store is judged
	@$(CMAKE_BUILD) build --target strata
	@STRATA_SECONDS=$(STRATA_SECONDS) STRATA_BINARY=build/strata PYTHONDONTWRITEBYTECODE=1 \
	  PYTHONPATH=tests/integration python3 tests/e2e/aimed_faults_test.py

.PHONY: check-determinism
check-determinism: packages ## 1,000 random clusters through g++ and clang, debug and release: byte-equal decisions
	@tools/install-packages.sh fuzz
	@tools/check-determinism.sh 1000

.PHONY: check-mutants
check-mutants: packages ## Break rules of the core one at a time: each must make a test fail
	@tools/mutants.py

.PHONY: check-valgrind
check-valgrind: configured ## The core's tests under valgrind's memcheck, `strata simulate` included
	@tools/install-packages.sh bench
	@tools/check-valgrind.sh

.PHONY: bench-check
bench-check: configured ## The benchmarks against bench/budgets.json, instructions counted by valgrind
	@tools/install-packages.sh bench
	@$(CMAKE_BUILD) build --target strata_benchmarks
	@tools/bench_table.py --check

.PHONY: check-agent
check-agent: configured ## strata-agent with a kubelet of ours: 10,000 registrations with either kind; admissions on a disk
	@$(CMAKE_BUILD) build --target strata_agent_plugin_test
	@STRATA_REGISTRATIONS=10000 build/tests/agent/strata_agent_plugin_test --gtest_filter='*ManyRegistrations*'
	@STRATA_AGENT_FOLDER=$(CURDIR)/build build/tests/agent/strata_agent_plugin_test --gtest_filter='*EveryPodGetsItsOwnGpus*'

.PHONY: gpu-kit
gpu-kit: configured ## build/gpu-kit: what checks strata-agent on a machine with a GPU; run its check-gpu.sh there
	@$(CMAKE_BUILD) build --target strata strata-agent strata_agent_hour strata_admit_pods
	@tools/gpu-kit.sh

.PHONY: bench-apiserver
bench-apiserver: configured ## Figures of strata apiserver: creates, binds, lists, memory, time to ready
	@$(CMAKE_BUILD) build --target strata strata_api_load
	@tools/bench_apiserver.py

.PHONY: bench-live
bench-live: configured ## Figures of strata up: 5,000 nodes, 10,000 pods in gangs, idle CPU
	@$(CMAKE_BUILD) build --target strata
	@tools/bench_live.py

.PHONY: soak
soak: configured ## kill -9 of an API server (1,000 times), of a cluster and its parts (500), of a scheduler that evicts (200); 300 faults of a real one
	@$(CMAKE_BUILD) build --target strata
	@STRATA_KILLS=1000 STRATA_SEED=$$RANDOM STRATA_BINARY=build/strata PYTHONDONTWRITEBYTECODE=1 python3 tests/integration/kill_nine_test.py
	@STRATA_KILLS=500 STRATA_SEED=$$RANDOM STRATA_BINARY=build/strata PYTHONDONTWRITEBYTECODE=1 \
	  PYTHONPATH=tests/integration python3 tests/e2e/kill_test.py -v
	@STRATA_KILLS=200 STRATA_BINARY=build/strata PYTHONDONTWRITEBYTECODE=1 \
	  PYTHONPATH=tests/integration python3 tests/e2e/eviction_kill_test.py -v
	@tools/install-packages.sh e2e
	@STRATA_ROUNDS=300 STRATA_SEED=$$RANDOM tools/e2e.py faults

.PHONY: soak-memory
soak-memory: configured ## Jobs come and go for STRATA_SECONDS=3600: the memory of every part, and how fast it grows
	@$(CMAKE_BUILD) build --target strata
	@STRATA_SECONDS=$(if $(filter command environment,$(origin STRATA_SECONDS)),$(STRATA_SECONDS),3600) \
	  STRATA_BINARY=build/strata PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/integration python3 tests/e2e/memory_soak.py

.PHONY: e2e
e2e: configured ## The live tests on a real Kubernetes control plane, which is built once (20 CPU-minutes)
	@tools/install-packages.sh e2e
	@$(CMAKE_BUILD) build --target strata
	@tools/e2e.py

.PHONY: package
package: programs ## A Debian package in build/: programs, manual page, completion, units
	@tools/install-packages.sh package
	@cpack --config build/CPackConfig.cmake -B build

.PHONY: image
image: programs ## An OCI image in build/, made without a daemon: programs, libraries, CA certificates, and a list of them
	@SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct 2>/dev/null || true)" tools/build_image.py --out build/strata-image.tar \
	  --version "$$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' build/CMakeCache.txt)" \
	  --program build/strata --program build/strata-agent

.PHONY: asan
asan: packages ## Unit, property and scenario tests under the address and undefined behaviour sanitizers
	@tools/install-packages.sh fuzz
	@tools/test-preset.sh asan unit property scenario

.PHONY: tsan
tsan: packages ## All tests under the thread sanitizer
	@tools/test-preset.sh tsan

.PHONY: tsan-threaded
tsan-threaded: packages ## The unit tests of modules that use threads, under the thread sanitizer
	@tools/test-preset.sh tsan threaded

.PHONY: clang
clang: packages ## All tests, compiled by clang 14
	@tools/install-packages.sh fuzz
	@tools/test-preset.sh clang

.PHONY: fuzz
fuzz: packages ## Every fuzzer of tests/fuzz, FUZZ_SECONDS=300 for all of them together
	@tools/install-packages.sh fuzz
	@tools/run-fuzzers.sh fuzz $(FUZZ_SECONDS)

.PHONY: fuzz-replay
fuzz-replay: packages ## The corpus through every fuzzer of preset asan, then FUZZ_SECONDS for all of them together
	@tools/install-packages.sh fuzz
	@tools/run-fuzzers.sh asan $(FUZZ_SECONDS)

.PHONY: fuzz-keep
fuzz-keep: ## What `make fuzz` has found and the corpus does not reach, into the corpus
	@tools/keep-fuzzed.sh fuzz

##@ Help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Not for the command line.

# What users run, and no more than that needs: group build, no tests.
.PHONY: program
program:
	@tools/install-packages.sh build
	@tools/configure.sh
	@$(CMAKE_BUILD) build --target strata

.PHONY: packages
packages:
	@tools/install-packages.sh build test

.PHONY: configured
configured: packages
	@tools/configure.sh tests
