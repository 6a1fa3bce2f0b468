#!/usr/bin/env bash
# g++ and clang, debug and release, must decide the same: random clusters through each of them, byte by byte.
#
#   tools/check-determinism.sh 1000
set -euo pipefail
cd "$(dirname "$0")/.."

count="$1"
out=build/determinism
presets=(release dev clang clang-release)

echo "$count random clusters"
rm -rf "$out/in"
mkdir -p "$out/in"
tools/random_manifests.py "$out/in" 1 "$count"

for preset in "${presets[@]}"; do
  # Only the decisions are built, several sources at a time: the flags are those of the preset.
  cmake --preset "$preset" -B "$out/$preset" -DBUILD_TESTING=OFF -DSTRATA_BENCH=OFF -DCMAKE_UNITY_BUILD=ON >/dev/null
  cmake --build "$out/$preset" --target strata_decide
  (cd "$out/in" && find . -name '*.json' | sort | xargs "../$preset/strata_decide") >"$out/$preset.txt"
  if ! cmp -s "$out/${presets[0]}.txt" "$out/$preset.txt"; then
    # The last heading up to the first line that differs names the cluster.
    line="$(cmp "$out/${presets[0]}.txt" "$out/$preset.txt" | awk '{ print $NF }')"
    where="$(head -n "$line" "$out/$preset.txt" | grep '^== ' | tail -n 1)"
    echo "${presets[0]} and $preset differ about $out/in: ${where#== }" >&2
    exit 1
  fi
  echo "  $preset: $(grep -c '^== ' "$out/$preset.txt") clusters, $(wc -c <"$out/$preset.txt") bytes of decisions and traces"
done
bound="$(grep -c '"type":"commit"' "$out/${presets[0]}.txt" || true)"
if [[ $bound -eq 0 ]]; then
  echo "no job found a place: nothing was compared" >&2
  exit 1
fi
echo "${#presets[@]} builds decide and trace the same; $bound jobs found a place"
