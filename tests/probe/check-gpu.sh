#!/usr/bin/env bash
# The agent on a machine with a real GPU, against our own API server, as user nobody: what it publishes, an hour by a
# clock that it is given, and a minute by the real one. `make gpu-kit` puts this script beside the programs it needs.
set -euo pipefail
cd "$(dirname "$0")"
export LD_LIBRARY_PATH="$PWD/lib"
work="$(mktemp -d)"
chmod 777 "$work"
trap 'kill "$(jobs -p)" 2>/dev/null || true; rm -rf "$work"' EXIT

as_nobody() {
  setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# until_true <command...>: tries it for half a minute.
until_true() {
  for _ in $(seq 150); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  echo "not within 30 s: $*" >&2
  return 1
}

# page <url> [<json>]: GET, or POST with a body.
page() {
  python3 -c 'import sys, urllib.request as u
body = sys.argv[2].encode() if len(sys.argv) > 2 else None
print(u.urlopen(u.Request(sys.argv[1], body, {"Content-Type": "application/json"})).read().decode())' "$@"
}

ticks() {
  awk '{ print $14 + $15 }' "/proc/$1/stat"
}

echo "== an hour by a clock that it is given"
as_nobody ./strata_agent_hour

./strata apiserver --plain-http --listen 127.0.0.1:18080 --kubeconfig "$work/kubeconfig" >"$work/server" 2>&1 &
until_true grep -q ready "$work/server"
chmod 644 "$work/kubeconfig"
page http://127.0.0.1:18080/api/v1/nodes '{"apiVersion":"v1","kind":"Node","metadata":{"name":"here"}}' >/dev/null
as_nobody ./strata-agent run --publish-only --kubeconfig "$work/kubeconfig" --node-name here --state-dir "$work/state" \
  --pages 127.0.0.1:18081 >"$work/agent" 2>&1 &
agent=$!
until_true page http://127.0.0.1:18081/readyz
echo "== the Node"
page http://127.0.0.1:18080/api/v1/nodes/here
echo "== /metrics"
page http://127.0.0.1:18081/metrics
echo "== a minute of its work"
grep -E '^(Uid|CapEff)' "/proc/$agent/status"
before="$(ticks "$agent")"
sleep 60
echo "CPU: $(($(ticks "$agent") - before)) ticks of 6000"
awk '/^Private_Dirty/ { print "private memory, driver included: " $2 " kB" }' "/proc/$agent/smaps_rollup"
kill "$agent"
wait "$agent"
cat "$work/agent"
