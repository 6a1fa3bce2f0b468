#!/usr/bin/env python3
"""Figures on a real control plane, as a table: tools/bench_kubernetes.py [PODS].

1,000 virtual nodes, PODS (5,000) pods in hard gangs of 100. First a bare client of ours creates as many pods like them, binds them and writes an Event for
each; then Jobs of them come, and the controllers and the scheduler do the same. When the last of theirs was bound and told of is read from the audit log. Needs build/strata, build/bench/load/bare_client and what
tools/build-control-plane.sh builds. A figure that misses its target is marked, and the exit status is 1."""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("STRATA_BINARY", str(ROOT / "build" / "strata"))
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("integration", "kubernetes")]

# pylint: disable=wrong-import-position
from control_plane import Daemon
from real_cluster import Installed
from strata_run import STRATA, wait_until

CLUSTER = "spines=10,racks=10,nodes=10"
NODES = 1000
GANG = 100
AT_A_TIME = 64
LIMIT = 1200
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
PARTS = {"virtual-nodes": ("--generate", CLUSTER), "controllers": ("--kube-api-qps=2000", "--kube-api-burst=2000"),
         "scheduler": ("--schedule-period=200ms",)}
SET_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "ownerReferences")
WRITES = ("create", "update", "patch", "delete")
BOUND, TOLD = "scheduler: create pods/binding", "scheduler: create events"
missed = []


def row(what, figure, target="", good=True):
    if not good:
        missed.append(what)
    print(f"{what:<52} {figure:>24}   {target:<14} {'' if good else 'MISSED'}", flush=True)


def cpu_of(daemon):
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(daemon):
    return int(pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def make_job(plane, name, replicas):
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "10", "memory": "1Gi"}}}
    spec = {"minAvailable": replicas, "queue": "default", "schedulerName": "volcano",
            "networkTopology": {"mode": "hard", "highestTierAllowed": 2},
            "tasks": [{"name": "worker", "replicas": replicas, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}]}
    code, answer = plane.json("POST", JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
                                             "spec": spec})
    if code != 201:
        sys.exit(f"bench_kubernetes: {answer}")


def count_of(plane, path):
    """How many there are; by a page of one, so that looking costs little."""
    _, page = plane.json("GET", f"{path}?limit=1")
    return len(page["items"]) + page["metadata"].get("remainingItemCount", 0)


def all_bound(plane, pods):
    """Whether there are so many pods, each with a node."""
    return not plane.json("GET", f"{PODS}?fieldSelector=spec.nodeName%3D&limit=1")[1]["items"] and count_of(plane, PODS) == pods


def empty(plane):
    for path in (JOBS, PODS):
        wait_until(lambda path=path: is_empty(plane, path), LIMIT, f"{path} empty")


def is_empty(plane, path):
    """Deletes what is there; a server that takes too long stops half way, and is asked again."""
    try:
        plane.json("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
    except TimeoutError:
        return False
    return not plane.json("GET", f"{path}?limit=1")[1]["items"]


def sample_pod(plane, path):
    """A pod as the controllers make it, for the bare client."""
    make_job(plane, "sample", 1)
    wait_until(lambda: all_bound(plane, 1), LIMIT, "the sample is bound")
    pod = plane.json("GET", f"{PODS}/sample-worker-0")[1]
    for key in SET_BY_SERVER:
        pod["metadata"].pop(key, None)
    pod["metadata"]["annotations"].pop("scheduling.k8s.io/group-name", None)
    pod["spec"].pop("nodeName", None)
    pod["spec"]["schedulerName"] = "nobody"
    del pod["status"]
    path.write_text(json.dumps(pod))
    empty(plane)


def measure_bare(plane, folder, pods):
    pod = folder / "pod.json"
    sample_pod(plane, pod)
    said = subprocess.run([ROOT / "build/bench/load/bare_client", plane.kubeconfig, pod, str(pods), str(NODES), str(AT_A_TIME)],
                          check=True, capture_output=True).stdout
    empty(plane)
    return pods / json.loads(said)["seconds"]


def measure_ours(plane, daemons, pods):
    """(Seconds from the first create to the last bind, to the last Event of a pod, CPU of each process, writes by kind)."""
    before = {name: cpu_of(daemon) for name, daemon in daemons.items()}
    asked, told = len(plane.audit()), count_of(plane, EVENTS)
    started = time.time()
    for number in range(pods // GANG):
        make_job(plane, f"gang-{number}", GANG)
    wait_until(lambda: all_bound(plane, pods), LIMIT, "all are bound")
    used = {name: cpu_of(daemon) - before[name] for name, daemon in daemons.items()}
    wait_until(lambda: count_of(plane, EVENTS) >= told + pods, LIMIT, "all Events are written")
    wait_until(lambda: phases(plane) == {"Running"}, LIMIT, "all jobs say that they run")
    ours = [entry for entry in plane.audit()[asked:] if entry["verb"] in WRITES
            and entry["user"]["username"].rsplit(":", 1)[-1] in ("strata-controllers", "strata-scheduler")]
    ends = {what: max(when_of(entry) for entry in ours if what_of(entry) == what and "-worker-" in entry["objectRef"]["name"])
            for what in (BOUND, TOLD)}
    return ends[BOUND] - started, ends[TOLD] - started, used, collections.Counter(what_of(entry) for entry in ours)


def when_of(entry):
    return datetime.datetime.fromisoformat(entry["stageTimestamp"].replace("Z", "+00:00")).timestamp()


def what_of(entry):
    reference = entry["objectRef"]
    below = f"/{reference['subresource']}" if "subresource" in reference else ""
    return f"{entry['user']['username'].rsplit('-', 1)[-1]}: {entry['verb']} {reference['resource']}{below}"


def phases(plane):
    return {job.get("status", {}).get("state", {}).get("phase") for job in plane.json("GET", JOBS)[1]["items"]}


def main():
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        plane = Installed(folder)
        daemons = {name: Daemon(folder, name, [STRATA, name, "--kubeconfig", plane.account(f"strata-{name}"), *flags])
                   for name, flags in PARTS.items()}
        try:
            for daemon in daemons.values():
                daemon.start()
            wait_until(lambda: "ready" in daemons["virtual-nodes"].said(), LIMIT, "nodes ready")
            bare = measure_bare(plane, folder, pods)
            everyone = {**daemons, "kube-apiserver": plane.server, "etcd": plane.etcd}
            bound, told, cpu, writes = measure_ours(plane, everyone, pods)
            row("bare client: pods created, bound, told of", f"{bare:,.0f}/s")
            row("jobs of 100: pods from create to bound", f"{pods / bound:,.0f}/s", f">= {0.8 * bare:,.0f}/s", pods / bound >= 0.8 * bare)
            row("the same until the last Event is written", f"{pods / told:,.0f}/s")
            each = sum(writes.values()) / pods
            row("API writes per pod, controllers and scheduler", f"{each:.2f}", "<= 3.2", each <= 3.2)
            for what, count in writes.most_common():
                row(f"  {what}", f"{count / pods:.3f}")
            for name, seconds in cpu.items():
                row(f"{name}: CPU per pod, resident", f"{seconds / pods * 1000:.2f} ms, {resident_mb(everyone[name]):.0f} MB")
        finally:
            for daemon in daemons.values():
                daemon.kill()
            plane.kill()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
