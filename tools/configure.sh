#!/usr/bin/env bash
# Configures build/ (preset release) when that is due; silent otherwise.
#
#   tools/configure.sh [tests] [debug-info]
#
# `make run` needs no tests and benchmarks, nor their packages, and `make test` no debug information, which takes a tenth
# of the time to compile: each is there from the first time on that it is wanted (`make programs`). Programs are compiled
# by the same commands with and without tests. CMake watches its own files, but not CMakePresets.json: a newer one is a
# reason, too.
#
# STRATA_QUICK_BUILD=1 (set by .ci/run only) compiles the modules outside the core with -O1. Without it build/ goes back
# to what users get.
set -euo pipefail
cd "$(dirname "$0")/.."

# cached <variable>: its value in build/, empty when there is none.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt 2>/dev/null || true
}

# wanted <variable> <word>: ON when the word is among the arguments, or when build/ has it already.
wanted() {
  if [[ " $arguments " == *" $2 "* || $(cached "$1") == ON ]]; then echo ON; else echo OFF; fi
}

arguments="$*"
tests="$(wanted BUILD_TESTING tests)"
debug_info="$(wanted STRATA_DEBUG_INFO debug-info)"
options=""
if [[ ${STRATA_QUICK_BUILD:-} == 1 ]]; then
  options=-O1
fi

if [[ -e build/build.ninja && ! CMakePresets.json -nt build/build.ninja && $tests == "$(cached BUILD_TESTING)" &&
  $debug_info == "$(cached STRATA_DEBUG_INFO)" && $options == "$(cached STRATA_SHELL_OPTIONS)" ]]; then
  exit 0
fi
echo "Configuring build/ (preset release)"
cmake --preset release -DBUILD_TESTING="$tests" -DSTRATA_BENCH="$tests" -DSTRATA_DEBUG_INFO="$debug_info" \
  -DSTRATA_SHELL_OPTIONS="$options" >/dev/null
touch build/build.ninja
