#!/usr/bin/env bash
# Runs every static check and says at the end which failed. Needs build/compile_commands.json.
#
#   tools/lint.sh [all]
#
# The two checks that take long look only at what differs from a commit at which they found nothing (tools/changes.py). With `all`
# they look at everything, every source is compiled by itself, too, and a commit that is clean is recorded in .ci/linted.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

failed=()
changed=(--changed)
alone=(--headers --changed)
if [[ ${1:-} == all ]]; then
  changed=()
  alone=()
fi

# check <what> <command...>: runs one check, with its time, and remembers a failure.
check() {
  local what="$1"
  local started=$SECONDS
  shift
  echo "-- lint: $what"
  if ! "$@"; then
    failed+=("$what")
    echo "-- lint: $what FAILED"
  fi
  echo "   $((SECONDS - started)) s"
}

shell_scripts() {
  local scripts
  mapfile -t scripts < <(find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0 |
    xargs -0 grep --files-with-matches --max-count=1 -E '^#!.*\b(ba)?sh\b')
  if ! command -v shellcheck >/dev/null; then
    echo "   shellcheck is not installed, skipped"
    return 0
  fi
  shellcheck "${scripts[@]}"
}

python_scripts() {
  find tools tests bench examples -name '*.py' -print0 |
    xargs -0 --no-run-if-empty python3 -c '
import ast, pathlib, sys
for name in sys.argv[1:]:
    ast.parse(pathlib.Path(name).read_text(), name)'
}

# Helm reads only what is below a chart, and symbolic links do not outlive every way that a tree takes.
chart_definitions() {
  if ! diff --recursive --brief deploy/crds deploy/chart/crds; then
    echo "   change deploy/crds, then: rm -r deploy/chart/crds && cp -r deploy/crds deploy/chart/crds"
    return 1
  fi
}

# Only a commit can be recorded: not one with changes on top, which are what was looked at.
record() {
  if [[ -n "$(git status --porcelain --untracked-files=normal -- . ':!.ci/linted')" ]]; then
    echo "lint: not recorded in .ci/linted: there are changes that are not committed"
    return
  fi
  git rev-parse HEAD >.ci/linted
  echo "lint: recorded in .ci/linted; commit that file"
}

check "format (make format repairs it)" tools/format.sh --check
check "layers" tools/check_layers.py
check "tree" tools/check_tree.py
check "words, links and columns" tools/check_prose.py
check "definitions in the chart are those of deploy/crds" chart_definitions
check "mutants" tools/mutants.py --check
check "shell scripts" shell_scripts
check "python scripts" python_scripts
check "types of the page" tools/check_types.sh
check "every header compiles on its own (lint-all: every source, too)" tools/compile_alone.py "${alone[@]}"
check "clang-tidy" tools/run_tidy.py "${changed[@]}"

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'lint failed:\n'
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
echo "lint: all clean"
if [[ ${1:-} == all ]]; then
  record
fi
