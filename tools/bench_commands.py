#!/usr/bin/env python3
"""How long people wait for the commands, as a table: tools/bench_commands.py [RUNS].

A `strata up` with its page, 5,000 virtual nodes of eight GPUs, 4,000 running and 880 waiting pods in 610 jobs. Each
command runs RUNS (5) times; the row has the median and the slowest. A figure that misses its target is marked."""
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import bench_live
from bench_live import BUILD, CLIENTS, JOBS, LIMIT, call, row

CORDONED = 1_000  # of the 5,000 nodes: what the running jobs leave free
RUNNING = [10] * 400  # pods of each job
WAITING = [4] * 200 + [8] * 10


def job(number, pods):
    requests = {"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "8"}
    template = {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": requests, "limits": requests}}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": f"train-{number}"},
            "spec": {"minAvailable": pods, "queue": "default", "schedulerName": "volcano",
                     "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
                     "tasks": [{"name": "worker", "replicas": pods, "template": template}]}}


def create(cluster, numbered):
    connection = cluster.connect()
    for number, pods in numbered:
        call(connection, "POST", JOBS, job(number, pods))


def create_all(cluster, first, jobs):
    numbered = list(enumerate(jobs, first))
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for part in [pool.submit(create, cluster, numbered[i::CLIENTS]) for i in range(CLIENTS)]:
            part.result()


def cordon(cluster):
    """Cordons the nodes of the last racks, so that the running jobs fill what is left exactly."""
    connection = cluster.connect()
    names = [node["metadata"]["name"] for node in call(connection, "GET", "/api/v1/nodes")["items"]]
    names.sort(key=lambda name: int(name.rsplit("-", 1)[1]))
    for name in names[-CORDONED:]:
        connection.request("PATCH", f"/api/v1/nodes/{name}", json.dumps({"spec": {"unschedulable": True}}),
                           {"Content-Type": "application/merge-patch+json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"bench_commands: node {name} cannot be cordoned: {answer.status}")


def pods_by_phase(cluster):
    counts = {}
    for pod in call(cluster.connect(), "GET", "/api/v1/namespaces/default/pods")["items"]:
        phase = pod["status"].get("phase")
        counts[phase] = counts.get(phase, 0) + 1
    return counts


def wait_for_pods(cluster, wanted):
    deadline = time.monotonic() + LIMIT
    counts = pods_by_phase(cluster)
    while counts != wanted:
        if time.monotonic() > deadline:
            sys.exit(f"bench_commands: {counts} after {LIMIT} s, expected {wanted}")
        time.sleep(1)
        counts = pods_by_phase(cluster)


def private_mb(process):
    """What only this process holds, as the kernel counts it."""
    with open(f"/proc/{process.pid}/smaps_rollup", encoding="utf-8") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_")) / 1024


def measure(folder, arguments, target, runs):
    environment = {**os.environ, "KUBECONFIG": f"{folder}/kubeconfig"}
    seconds = []
    for _ in range(runs):
        started = time.monotonic()
        done = subprocess.run([BUILD / "strata", *arguments], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
        seconds.append(time.monotonic() - started)
        # explain says by 1 that the job waits
        if done.returncode not in ((0, 1) if arguments[0] == "explain" else (0,)):
            sys.exit(f"bench_commands: strata {' '.join(arguments)}: {done.stderr.decode()}")
    median = statistics.median(seconds)
    row("strata " + " ".join(arguments), f"{median:.2f} s, {max(seconds):.2f} s", f"< {target} s", median < target)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        cluster = bench_live.Cluster(folder, "spines=10,racks=25,nodes=20,gpus=8")
        try:
            row("5,000 nodes: ready", f"{cluster.ready_seconds:.1f} s", "< 10 s", cluster.ready_seconds < 10)
            cordon(cluster)
            create_all(cluster, 0, RUNNING)
            wait_for_pods(cluster, {"Running": sum(RUNNING)})
            row("private memory of up: 4,000 pods run", f"{private_mb(cluster.process):.0f} MB")
            create_all(cluster, len(RUNNING), WAITING)
            wait_for_pods(cluster, {"Running": sum(RUNNING), "Pending": sum(WAITING)})
            memory = private_mb(cluster.process)
            row("and 880 wait", f"{memory:.0f} MB", "< 250 MB", memory < 250)
            row("resident, with libraries", f"{cluster.resident_mb():.0f} MB")
            waiting = f"default/train-{len(RUNNING) + len(WAITING) // 2}"
            measure(folder, ["explain", waiting], 3, runs)
            measure(folder, ["explain", waiting, "-o", "json"], 3, runs)
            for command in (["job", "list"], ["top"], ["queue", "list"]):
                measure(folder, command, 0.5, runs)
            memory = private_mb(cluster.process)
            row("private memory of up afterwards", f"{memory:.0f} MB", "< 250 MB", memory < 250)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
