#!/usr/bin/env bash
# Keeps what fuzzing has found: inputs of build/fuzzed/corpus that reach code which no input of tests/fuzz/corpus reaches
# are copied there, the fewest and smallest that do.
#
#   tools/keep-fuzzed.sh fuzz|asan
#
# The word is the preset of the fuzzers, which tools/run-fuzzers.sh has built. Inputs beyond 4 KiB are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

for program in "build/$1/fuzz"/*; do
  name="$(basename "$program")"
  found="build/fuzzed/corpus/$name"
  kept="tests/fuzz/corpus/$name"
  if [[ ! -f $program || ! -x $program || ! -d $found ]]; then
    continue
  fi
  small="$(mktemp -d)"
  find "$found" -type f -size -5k -exec cp -t "$small" {} +
  before="$(find "$kept" -type f | wc -l)"
  "$program" -merge=1 -timeout=60 -rss_limit_mb=2048 "$kept" "$small" >"build/fuzzed/logs/$name.merge.log" 2>&1
  echo "  $name: $before inputs, now $(find "$kept" -type f | wc -l)"
  rm -r "$small"
done
