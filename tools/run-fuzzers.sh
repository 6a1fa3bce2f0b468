#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz and runs all of them for a number of seconds in total.
#
#   tools/run-fuzzers.sh fuzz|asan 300
#
# The first word is the preset. `fuzz` is for long runs: every module tells the fuzzers which branches an input took. `asan` is for
# CI: nothing is compiled that its tests do not need anyway, only the modules marked FUZZED tell, and every run makes up the
# same inputs in the same order, so that a finding can be repeated. Each fuzzer first runs the whole corpus; then as many run at a
# time as there are cores, each with an equal share of the time. The checked-in corpus (tests/fuzz/corpus/<name>) is read only;
# new inputs go to build/fuzzed/corpus/<name>, and an input that breaks something to build/fuzzed/crashes/<name>-*.
set -euo pipefail
cd "$(dirname "$0")/.."

preset="$1"
total_seconds="$2"
programs=build/$preset/fuzz
seed=0  # a new one for each run
if [[ $preset == asan ]]; then
  seed=1
fi
out=build/fuzzed

cmake --preset "$preset" >/dev/null
cmake --build "build/$preset" --target strata_fuzzers

names=()
for program in "$programs"/*; do
  if [[ -f $program && -x $program ]]; then
    names+=("$(basename "$program")")
  fi
done
count=${#names[@]}
if [[ $count -eq 0 ]]; then
  echo "no fuzzers in $programs" >&2
  exit 1
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
  # Every file of the corpus, by name: a fuzzer that is given folders may end before it has run all of them.
  if ! find "${corpora[@]}" -type f -print0 | xargs -0 --no-run-if-empty "$programs/$name" -timeout=60 -rss_limit_mb=2048 \
    -artifact_prefix="$out/crashes/$name-" >"$log" 2>&1; then
    echo "  $name: FAILED on its corpus, see $log" >&2
    tail -n 60 "$log" >&2
    return 1
  fi
  if "$programs/$name" -seed="$seed" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$name-" "${corpora[@]}" >"$log" 2>&1 </dev/null; then
    awk -v name="$name" '/number_of_executed_units/ { runs = $2 } /average_exec_per_sec/ { rate = $2 }
      END { print "  " name ": " runs " runs, " rate " per second, no finding" }' "$log"
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
