#!/usr/bin/env bash
# Runs every static check and says at the end which failed. Needs build/compile_commands.json.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

failed=()

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

headers_alone() {
  cmake --build build --target all_verify_interface_header_sets
}

check "format (make format repairs it)" tools/format.sh --check
check "layers" tools/check_layers.py
check "tree" tools/check_tree.py
check "definitions in the chart are those of deploy/crds" chart_definitions
check "mutants" tools/mutants.py --check
check "shell scripts" shell_scripts
check "python scripts" python_scripts
check "every header compiles on its own" headers_alone
check "clang-tidy" tools/run_tidy.py

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'lint failed:\n'
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
echo "lint: all clean"
