#!/usr/bin/env bash
# Builds one preset of CMakePresets.json and runs all its tests, or builds and runs those with one of some labels.
#
#   tools/test-preset.sh asan [unit property ...]
set -euo pipefail
cd "$(dirname "$0")/.."

preset="$1"
labels=("${@:2}")

export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
ASAN_SYMBOLIZER_PATH="$(command -v llvm-symbolizer-14 || true)"  # for what clang built
export ASAN_SYMBOLIZER_PATH

cmake --preset "$preset" >/dev/null
if [[ ${#labels[@]} -eq 0 ]]; then
  targets=(all)
  regex=.
else
  targets=("${labels[@]/#/strata_}")
  targets=("${targets[@]/%/_tests}")
  regex="^($(IFS='|' && echo "${labels[*]}"))\$"
fi
cmake --build "build/$preset" --target "${targets[@]}"
ctest --test-dir "build/$preset" --label-regex "$regex" --output-on-failure --no-tests=error -j "$(nproc)"
