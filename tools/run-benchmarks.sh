#!/usr/bin/env bash
# Runs every benchmark program of a folder; arguments after it go to each of them.
#
#   tools/run-benchmarks.sh build/bench --benchmark_filter=Cycle
set -euo pipefail

folder="$1"
shift
found=no
for program in "$folder"/*; do
  if [[ -f $program && -x $program ]]; then
    found=yes
    printf '\n== %s\n\n' "$(basename "$program")"
    "$program" "$@"
  fi
done
if [[ $found == no ]]; then
  echo "no benchmarks in $folder"
fi
