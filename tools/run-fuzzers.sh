#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz and runs all of them for a number of seconds in total.
#
#   tools/run-fuzzers.sh 300
#
# Preset fuzz builds them where preset asan builds its tests, so that the sources are compiled once for both. As many
# run at a time as there are cores, each with an equal share of the time. The checked-in corpus
# (tests/fuzz/corpus/<name>) is read only; what is found goes to build/fuzz/corpus/<name>, and an input
# that breaks something to build/fuzz/crashes/<name>-*.
set -euo pipefail
cd "$(dirname "$0")/.."

total_seconds="$1"
programs=build/asan/fuzz
out=build/fuzz

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz

names=()
for program in "$programs"/*; do
  if [[ -f $program && -x $program ]]; then
    names+=("$(basename "$program")")
  fi
done
count=${#names[@]}
if [[ $count -eq 0 ]]; then
  echo "no fuzzers in tests/fuzz"
  exit 0
fi

jobs="$(nproc)"
rounds=$(((count + jobs - 1) / jobs))
seconds=$((total_seconds / rounds))
if [[ $seconds -lt 1 ]]; then
  seconds=1
fi
echo "$count fuzzers, $seconds s each, $jobs at a time: ${names[*]}"

export ASAN_OPTIONS="detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
ASAN_SYMBOLIZER_PATH="$(command -v llvm-symbolizer-14 || true)"
export ASAN_SYMBOLIZER_PATH

# Runs the fuzzer `name`; prints one line when it holds, its whole log when it does not.
fuzz_one() {
  local name="$1"
  local log="$out/logs/$name.log"
  local seeds="tests/fuzz/corpus/$name"
  local corpora=("$out/corpus/$name")
  if [[ -d $seeds ]]; then
    corpora+=("$seeds")
  fi
  mkdir -p "$out/corpus/$name" "$out/crashes" "$out/logs"
  if "$programs/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$name-" "${corpora[@]}" >"$log" 2>&1 </dev/null; then
    awk -v name="$name" '/number_of_executed_units/ { print "  " name ": " $2 " runs, no finding" }' "$log"
  else
    echo "  $name: FAILED, see $log" >&2
    tail -n 60 "$log" >&2
    return 1
  fi
}

failed=0
while [[ ${#names[@]} -gt 0 ]]; do
  pids=()
  for name in "${names[@]:0:jobs}"; do
    fuzz_one "$name" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
  done
  names=("${names[@]:jobs}")
done
exit "$failed"
