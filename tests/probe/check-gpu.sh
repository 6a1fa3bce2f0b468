#!/usr/bin/env bash
# The agent on a machine with a real GPU, against our own API server and a kubelet of our own, as user nobody: what it
# sees, an hour by a clock that it is given, what it publishes, what containers get, an application's error, and a minute
# of its work. Takes about two minutes. `make gpu-kit` puts this script beside the programs it needs. STRATA_NVML names
# another driver library, for a trial without a GPU.
set -euo pipefail
cd "$(dirname "$0")"
nvml="${STRATA_NVML:-}"
work="$(mktemp -d /tmp/k.XXXXXX)" # short: sockets are in it
chmod 777 "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

# Words before a command, not functions: what runs in the background is then that program, and not a shell that waits for it.
ours=(env "LD_LIBRARY_PATH=$PWD/lib")
as_nobody=("${ours[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups)

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

server=http://127.0.0.1:18080

# start_agent: as a device plugin of the kubelet in $work. Sets agent.
start_agent() {
  : >"$work/agent"
  "${as_nobody[@]}" ./strata-agent run --kubeconfig "$work/kubeconfig" --node-name here --state-dir "$work/state" ${nvml:+--nvml "$nvml"} \
    --pages 127.0.0.1:18081 --device-plugin-dir "$work/plugins" --pods-api "$work/pods-api.sock" \
    --pod-resources "$work/resources.sock" >>"$work/agent" 2>&1 &
  agent=$!
}

# make_pod: one that is bound here, with a record of the first GPU.
make_pod() {
  page $server/api/v1/nodes/here | python3 -c 'import json, sys
annotations = json.load(sys.stdin)["metadata"]["annotations"]
uuid = json.loads(annotations["hami.io/node-nvidia-register"])[0]["id"]
record = f"{uuid},NVIDIA,1000,0:;"
print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "annotations": {
    "hami.io/vgpu-node": "here", "hami.io/vgpu-devices-allocated": record, "hami.io/bind-phase": "allocating"}},
    "spec": {"nodeName": "here", "containers": [{"name": "main", "image": "i", "resources": {
        "limits": {"nvidia.com/gpu": "1"}}}]}}))' >"$work/pod"
  page $server/api/v1/namespaces/default/pods "$(cat "$work/pod")" >/dev/null
}

phase_is() {
  page $server/api/v1/namespaces/default/pods/train | grep -q "\"hami.io/bind-phase\":\"$1\""
}

metric() {
  page http://127.0.0.1:18081/metrics | awk -v name="$1" '$1 == name { print $2 }'
}

counts_xid_31() {
  [[ "$(metric 'strata_agent_xids_total{xid="31"}')" -ge 1 ]]
}

# write_outside: an application that writes where it may not; the driver reports XID 31. Fails where there is no CUDA.
write_outside() {
  python3 - <<'PYTHON'
import ctypes
import sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit(f"no CUDA: {error}")
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry outside()
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 4096;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
for step, code in (("init", cuda.cuInit(0)), ("device", cuda.cuDeviceGet(ctypes.byref(device), 0)),
                   ("context", cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)),
                   ("module", cuda.cuModuleLoadData(ctypes.byref(module), PTX)),
                   ("function", cuda.cuModuleGetFunction(ctypes.byref(function), module, b"outside")),
                   ("launch", cuda.cuLaunchKernel(function, *[1] * 6, 0, None, None, None))):
    if code != 0:
        sys.exit(f"CUDA: {step}: error {code}")
print("CUDA says:", cuda.cuCtxSynchronize(), "(700 is an illegal address)")
PYTHON
}

ticks() {
  awk '{ print $14 + $15 }' "/proc/$1/stat"
}

echo "== what is there"
nvidia-smi -L 2>/dev/null || true
"${as_nobody[@]}" ./strata-agent probe ${nvml:+--nvml "$nvml"}
echo "== an hour by a clock that it is given"
"${as_nobody[@]}" ./strata_agent_hour ${nvml:+"$nvml"}

"${ours[@]}" ./strata apiserver --plain-http --listen 127.0.0.1:18080 --kubeconfig "$work/kubeconfig" >"$work/server" 2>&1 &
until_true grep -q ready "$work/server"
chmod 644 "$work/kubeconfig"
page $server/api/v1/nodes '{"apiVersion":"v1","kind":"Node","metadata":{"name":"here"}}' >/dev/null
mkdir "$work/plugins" && chmod 777 "$work/plugins"
start_agent
published() { page $server/api/v1/nodes/here | grep -q strata.sh/agent; }
until_true published
make_pod
page $server/api/v1/namespaces/default/pods >"$work/pods"
devices="$(page $server/api/v1/nodes/here | python3 -c 'import json, sys
print(sum(gpu["count"] for gpu in json.loads(json.load(sys.stdin)["metadata"]["annotations"]["hami.io/node-nvidia-register"])))')"
echo "== a kubelet that admits pods: one with a record, then 500 without"
"${as_nobody[@]}" ./strata_admit_pods "$work" "$devices" 500 <"$work/pods" >"$work/admitted" 2>&1 &
kubelet=$!
until_true grep -q "restart the agent" "$work/admitted"
until_true phase_is success
echo "== the Node, and the agent's /metrics"
page $server/api/v1/nodes/here
page http://127.0.0.1:18081/metrics | grep -v '^#'
echo "== an application's error (XID 31): counted, and the GPU stays healthy"
if write_outside; then
  until_true counts_xid_31
  page http://127.0.0.1:18081/metrics | grep -E 'xids_total|gpu_healthy'
fi
echo "== a minute of its work"
grep -E '^(Uid|CapEff)' "/proc/$agent/status"
before="$(ticks "$agent")"
sleep 60
echo "CPU: $(($(ticks "$agent") - before)) ticks of $((60 * $(getconf CLK_TCK)))"
awk '/^Private_Dirty/ { print "private memory, driver included: " $2 " kB" }' "/proc/$agent/smaps_rollup"
# By file: what the driver's library has written is not the agent's.
awk '/^[0-9a-f]+-/ { name = $6 } /^Private_Dirty/ { sum[name ~ /nvidia|cuda/ ? "driver" : "agent"] += $2 }
  END { for (who in sum) print "private memory, " who ": " sum[who] " kB" }' "/proc/$agent/smaps"
echo "== a restart of the agent"
cp "$work/agent" "$work/agent.1"
kill "$agent"
wait "$agent"
start_agent
wait "$kubelet" || { cat "$work/admitted"; exit 1; }
cat "$work/admitted"
kill "$agent"
wait "$agent"
echo "== what it said"
grep -hv 'pod="rounds/' "$work/agent.1" "$work/agent"
