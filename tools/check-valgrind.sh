#!/usr/bin/env bash
# The tests of the core under valgrind's memcheck: no invalid access, no value that was never set, nothing lost.
#
#   tools/check-valgrind.sh       (a quarter of an hour)
#
# The sanitizers see what is instrumented; memcheck also sees values that were never set, and what libraries do. The
# scenarios start `strata` itself: that is followed, and an error there is an exit status that no scenario expects.
# Left out are scenarios that run others again in another order, and those of discovery, which is not of the core.
set -euo pipefail
cd "$(dirname "$0")/.."

units=(base model sched convert whatif report explain simulate)
properties=(property cycle_property relaxation_property quota_property feed_property)
scenarios=(waiting scenario)

targets=()
for name in "${units[@]}" "${properties[@]}" "${scenarios[@]}"; do
  targets+=("strata_${name}_test")
done
cmake --build build --target "${targets[@]}"

failed=0
# memcheck <folder> <name...>: runs the tests of build/<folder>.
memcheck() {
  local folder="$1"
  shift
  for name in "$@"; do
    local program="build/${folder//%/$name}/strata_${name}_test"
    local started=$SECONDS
    if valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
      --suppressions="$PWD/tools/valgrind.supp" --trace-children=yes --read-inline-info=no "$program" --gtest_brief=1 \
      --gtest_filter='-*DoesNotDependOnTheOrderOfTheDocuments*:*Discover*' >"build/valgrind-$name.log" 2>&1; then
      echo "  $name: clean, $((SECONDS - started)) s"
    else
      echo "  $name: FAILED" >&2
      tail -n 60 "build/valgrind-$name.log" >&2
      failed=1
    fi
  done
}
memcheck src/% "${units[@]}"
memcheck tests/property "${properties[@]}"
memcheck tests/scenario "${scenarios[@]}"
exit "$failed"
