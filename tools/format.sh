#!/usr/bin/env bash
# Rewrites our C++ files in the house format; with --check only says which differ, and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# Applies clang-format with the arguments given to every C++ file, forty at a time.
clang_format() {
  find src tests bench \( -name '*.h' -o -name '*.cc' \) -print0 |
    xargs -0 --no-run-if-empty --max-procs="$(nproc)" --max-args=40 clang-format-14 "$@"
}

if [[ ${1:-} != --check ]]; then
  clang_format -i
elif ! report="$(clang_format --dry-run -Werror 2>&1)"; then
  sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error: .*/\1: not in the house format/p' <<<"$report" | sort -u
  exit 1
fi
