#!/usr/bin/env python3
"""Figures of `strata up` under load, as a table: tools/bench_live.py [PODS].

5,000 virtual nodes, gangs of ten pods until PODS (10,000) run; then a look at what the cluster costs while nothing
happens. A figure that misses its target is marked."""
import concurrent.futures
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GANG = 10
CLIENTS = 8
IDLE_SECONDS = 20
LIMIT = 600


class Cluster:
    """A `strata up` on plain HTTP, and how long it took to be ready."""

    def __init__(self, folder, spec):
        started = time.monotonic()
        self.process = subprocess.Popen(
            [BUILD / "strata", "up", "--plain-http", "--kubeconfig", f"{folder}/kubeconfig", "--generate", spec],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.ready_seconds = time.monotonic() - started
        if not line.startswith("ready "):
            sys.exit(f"bench_live: no cluster: {line!r}")
        self.address = line.split()[1].split("//")[1]

    def connect(self):
        return http.client.HTTPConnection(self.address, timeout=60)

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def cpu_seconds(self):
        return cpu_of(f"/proc/{self.process.pid}/stat")

    def cpu_by_thread(self):
        """{name: CPU seconds}. A part's connection has threads of its own, which have the part's name, too: they
        came later, and are summed up as `<name>'s connection`."""
        seconds, known = {}, set()
        for thread in sorted(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir(), key=lambda path: int(path.name)):
            name = (thread / "comm").read_text().strip()
            if name in known:
                name += "'s connection"
            known.add(name)
            seconds[name] = seconds.get(name, 0) + cpu_of(thread / "stat")
        return seconds

    def cycle_seconds(self):
        """How long the scheduler's cycles took so far, by the lines of its log."""
        connection = self.connect()
        connection.request("GET", "/api/v1/namespaces/volcano-system/pods/volcano-scheduler/log")
        log = connection.getresponse().read().decode()
        return sum(float(ms) for ms in re.findall(r'"cycle" .* ms="?([0-9.e+-]+)', log)) / 1000

    def version(self):
        """The last write's number: one per write."""
        return int(call(self.connect(), "GET", "/api/v1/namespaces/kube-public/configmaps")["metadata"]["resourceVersion"])

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def cpu_of(path):
    fields = pathlib.Path(path).read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def call(connection, method, path, body=None):
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        sys.exit(f"bench_live: {method} {path}: {answer.status} {text[:300]}")
    return json.loads(text)


def job(number):
    resources = {"cpu": "8", "memory": "16Gi"}
    template = {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": resources, "limits": resources}}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": f"gang-{number}"},
            "spec": {"minAvailable": GANG, "queue": "default", "schedulerName": "volcano",
                     "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
                     "tasks": [{"name": "worker", "replicas": GANG, "template": template}]}}


def watch_running(cluster, pods, started):
    """(seconds until every pod was bound, until every pod ran), by a watch from before the first was made."""
    connection = cluster.connect()
    connection.request("GET", "/api/v1/namespaces/default/pods?watch=true&resourceVersion=0&timeoutSeconds=3600")
    stream = connection.getresponse()
    bound, running, times = set(), set(), [None, None]
    while len(running) < pods:
        line = stream.readline()
        if not line or time.monotonic() - started > LIMIT:
            sys.exit(f"bench_live: {len(bound)} of {pods} pods bound, {len(running)} run after {LIMIT} s")
        event = json.loads(line)["object"]
        name = event["metadata"]["name"]
        if event["spec"].get("nodeName"):
            bound.add(name)
        if event["status"].get("phase") == "Running":
            running.add(name)
        now = time.monotonic() - started
        if len(bound) == pods and times[0] is None:
            times[0] = now
        times[1] = now
    return times


def create(cluster, numbers):
    connection = cluster.connect()
    for number in numbers:
        call(connection, "POST", JOBS, job(number))


def row(what, figure, target="", good=True):
    print(f"{what:<36} {figure:>24}   {target:<16} {'' if good else 'MISSED'}", flush=True)


def measure(cluster, pods):
    row("5,000 nodes: ready", f"{cluster.ready_seconds:.1f} s", "< 10 s", cluster.ready_seconds < 10)
    row("resident with them", f"{cluster.resident_mb():.0f} MB")
    jobs = pods // GANG
    version, cpu, threads = cluster.version(), cluster.cpu_seconds(), cluster.cpu_by_thread()
    cycles = cluster.cycle_seconds()
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS + 1) as pool:
        watcher = pool.submit(watch_running, cluster, pods, started)
        for part in [pool.submit(create, cluster, range(i, jobs, CLIENTS)) for i in range(CLIENTS)]:
            part.result()
        created = time.monotonic() - started
        bound, running = watcher.result()
    row(f"{jobs:,} gangs of {GANG}: created within", f"{created:.1f} s")
    row("pods per second, create to bound", f"{pods / bound:,.0f}/s")
    row("pods per second, create to running", f"{pods / running:,.0f}/s")
    writes = cluster.version() - version
    row("API writes per pod", f"{writes / pods:.2f}")
    row("without those of virtual nodes", f"{writes / pods - 1:.2f}")
    spent = cluster.cpu_seconds() - cpu
    row("CPU of the whole cluster per pod", f"{spent / pods * 1e6:,.0f} us")
    cycles = (cluster.cycle_seconds() - cycles) / running
    row("the scheduler's cycles, of the time", f"{cycles:.1%}", "< 10%", cycles < 0.10)
    after = cluster.cpu_by_thread()
    for name in sorted(after, key=lambda name: threads.get(name, 0) - after[name]):
        share = (after[name] - threads.get(name, 0)) / max(spent, 0.01)
        if name == "scheduler":
            row("its thread (reads, decides, reports)", f"{share:.1%} of the CPU", "< 10%", share < 0.10)
        elif share >= 0.005:
            row(f"  {name}", f"{share:.1%} of the CPU")
    row("resident afterwards", f"{cluster.resident_mb():.0f} MB")


def measure_idle(cluster):
    # What was put off by a moment (conditions, counts) is done when no write comes for a second.
    version = -1
    while version != cluster.version():
        version = cluster.version()
        time.sleep(1)
    before, cpu = cluster.version(), cluster.cpu_seconds()
    time.sleep(IDLE_SECONDS)
    idle = (cluster.cpu_seconds() - cpu) / IDLE_SECONDS
    row("idle: CPU of one core", f"{idle:.2%}", "< 1%", idle < 0.01)
    row(f"idle: writes in {IDLE_SECONDS} s", f"{cluster.version() - before}", "0", cluster.version() == before)


def main():
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder, "spines=10,racks=25,nodes=20")
        try:
            measure(cluster, pods)
            measure_idle(cluster)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
