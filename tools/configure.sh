#!/usr/bin/env bash
# Configures build/ (preset release) when that is due; silent otherwise.
#
#   tools/configure.sh [tests]
#
# Without an argument, tests and benchmarks are configured only if they already were: `make run` needs neither them nor
# their packages. With `tests` they are added. The programs are compiled by the same commands either way, so adding
# tests compiles nothing again. CMake watches its own files, but not CMakePresets.json: a newer one is a reason, too.
#
# STRATA_QUICK_BUILD=1 (set by .ci/run only) compiles the modules outside the core with -O1. Without it build/ goes back
# to what users get.
set -euo pipefail
cd "$(dirname "$0")/.."

# cached <variable>: its value in build/, empty when there is none.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt 2>/dev/null || true
}

tests="$(cached BUILD_TESTING)"
if [[ ${1:-} == tests ]]; then
  tests=ON
fi
options=""
if [[ ${STRATA_QUICK_BUILD:-} == 1 ]]; then
  options=-O1
fi

if [[ -e build/build.ninja && ! CMakePresets.json -nt build/build.ninja && $tests == "$(cached BUILD_TESTING)" &&
  $options == "$(cached STRATA_SHELL_OPTIONS)" ]]; then
  exit 0
fi
echo "Configuring build/ (preset release)"
cmake --preset release -DBUILD_TESTING="${tests:-OFF}" -DSTRATA_BENCH="${tests:-OFF}" -DSTRATA_SHELL_OPTIONS="$options" >/dev/null
touch build/build.ninja
