#!/usr/bin/env bash
# g++ and clang, debug and release, must decide the same: random clusters through each of them, byte by byte.
#
#   tools/check-determinism.sh 1000
set -euo pipefail
cd "$(dirname "$0")/.."

count="$1"
out=build/determinism
presets=(release dev clang clang-release)
mkdir -p "$out"

programs=()
for preset in "${presets[@]}"; do
  folder="build/$preset"
  if [[ $preset == release ]]; then
    folder=build
  fi
  cmake --preset "$preset" >/dev/null
  cmake --build "$folder" --target strata
  programs+=("$folder/strata")
done

bound=0
for ((seed = 1; seed <= count; ++seed)); do
  tools/random_manifests.py "$seed" >"$out/in.json"
  for i in "${!programs[@]}"; do
    "${programs[$i]}" simulate -f "$out/in.json" -o json --trace "$out/$i.trace" >"$out/$i.json"
    if ! cmp -s "$out/0.json" "$out/$i.json" || ! cmp -s "$out/0.trace" "$out/$i.trace"; then
      echo "seed $seed: ${presets[0]} and ${presets[$i]} differ (tools/random_manifests.py $seed)" >&2
      exit 1
    fi
  done
  if ! grep -q '"binds": {}' "$out/0.json"; then
    bound=$((bound + 1))
  fi
  if [[ -t 1 ]]; then
    printf '\r%d of %d' "$seed" "$count"
  fi
done
echo "$count clusters, $bound of them with pods bound: ${#presets[@]} builds decide and trace the same"
