#!/usr/bin/env bash
# Makes build/gpu-kit: the programs, stripped, the libraries that they need, and the script that checks the agent on a
# machine with a GPU. Copy the folder there and run check-gpu.sh; nothing has to be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

kit=build/gpu-kit
rm -rf "$kit"
mkdir -p "$kit/lib"
for program in build/strata build/strata-agent build/tests/probe/strata_agent_hour build/tests/agent/strata_admit_pods; do
  strip -o "$kit/$(basename "$program")" "$program"
  # The C library is that of the machine: the others were made for it or for an older one.
  ldd "$program" | awk '$3 ~ /^\// && $3 !~ /\/lib(c|m|dl|rt|pthread|resolv)\.so/ { print $3 }' |
    xargs -I{} cp -L {} "$kit/lib/"
done
cp tests/probe/check-gpu.sh "$kit/"
du -sh "$kit"
