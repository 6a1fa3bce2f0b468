#!/usr/bin/env python3
"""Memory of every part while jobs come and go: a table, and exit status 1 if one grows.

Every part is a process of its own: API server with a data folder, controllers, scheduler, virtual nodes, webhooks, page.
STRATA_SECONDS says for how long (3600); the first third is warm-up. STRATA_JOBS_PER_SECOND says how many jobs (2). A part
grows if its memory rises by 1 % an hour or more, beyond what chance explains. Events are deleted every minute, so
that the API server has as many at the end as after a minute."""
import contextlib
import http.client
import json
import math
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from api_server import ApiServer
from strata_run import STRATA
from webhooks_test import DEFINITIONS, definition, review

SECONDS = float(os.environ.get("STRATA_SECONDS", "3600"))
RATE = float(os.environ.get("STRATA_JOBS_PER_SECOND", "2"))
MOST_JOBS = 12  # at a time; the cluster has room for about ten
SAMPLE_SECONDS = 5.0
CLEAN_SECONDS = 60.0
MAX_SLOPE = 1.0  # % per hour
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
EVENTS = "/api/v1/namespaces/default/events"
PAGE_STREAM_SECONDS = 20.0


class Parts:
    """The processes of a cluster, by name."""

    def __init__(self, folder):
        self.folder = folder
        self.server = ApiServer(folder, "--plain-http", "--data-dir", f"{folder}/data")
        self.processes = {"apiserver": self.server.process}
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            self.server.json("POST", DEFINITIONS, definition(kind))
        self.start("controllers", "--collect-garbage", "--keep-budgets")
        self.start("scheduler")
        self.start("virtual-nodes", "--generate", "spines=2,racks=2,nodes=2,gpus=8:dgx1v")
        self.webhooks = self.start_until_ready("webhooks")
        self.page = self.start_until_ready("page")

    def start(self, name, *arguments, **keywords):
        with open(f"{self.folder}/{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen([STRATA, name, "--kubeconfig", self.server.kubeconfig, *arguments],
                                                    stdin=subprocess.DEVNULL, stderr=log, **{"stdout": log, **keywords})
        return self.processes[name]

    def start_until_ready(self, name):
        """Its URL."""
        process = self.start(name, stdout=subprocess.PIPE)
        line = process.stdout.readline().decode()
        if not line.startswith("ready "):
            raise SystemExit(f"{name} is not ready: {line!r} {pathlib.Path(self.folder, name + '.log').read_text()}")
        return line.split()[1]

    def end(self):
        for process in reversed(self.processes.values()):
            process.terminate()
            process.communicate(timeout=30)

    def dead(self):
        return [name for name, process in self.processes.items() if process.poll() is not None]


class Churn:
    """Creates and deletes jobs, and asks the webhooks and the page, until it is told to stop."""

    def __init__(self, parts):
        self.parts = parts
        self.made = 0
        self.problems = []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.guard, args=(work,)) for work in (self.jobs, self.reviews, self.viewer)]

    def guard(self, work):
        try:
            work()
        except Exception as error:  # pylint: disable=broad-except  # told at the end
            self.problems.append(f"{work.__name__}: {error!r}")

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def make_job(self):
        size = self.made % 4 + 1
        resources = {"cpu": "1", "nvidia.com/gpu": str(self.made % 3 + 1)}
        template = {"metadata": {"annotations": {"strata.sh/run-seconds": "0.5"} if self.made % 4 == 0 else {}},
                    "spec": {"restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "busybox", "resources": {"requests": resources, "limits": resources}}]}}
        spec = {"minAvailable": size, "queue": "default", "schedulerName": "volcano",
                "networkTopology": {"mode": "hard", "highestTierAllowed": self.made % 2 + 1},
                "tasks": [{"name": "worker", "replicas": size, "template": template}]}
        name = f"job-{self.made}"
        self.made += 1
        code, text = self.parts.server.json("POST", JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                                                           "metadata": {"name": name}, "spec": spec})
        if code != 201:
            raise RuntimeError(f"create {name}: {code} {text}")
        return name

    def jobs(self):
        there = []
        cleaned = time.monotonic()
        while not self.stopping.wait(1 / RATE):
            there.append(self.make_job())
            if len(there) > MOST_JOBS:
                self.parts.server.request("DELETE", f"{JOBS}/{there.pop(0)}")
            if time.monotonic() - cleaned > CLEAN_SECONDS:
                cleaned = time.monotonic()
                self.parts.server.request("DELETE", EVENTS)

    def reviews(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, port = self.parts.webhooks.split("//")[1].split(":")
        while not self.stopping.wait(1 / RATE):
            task = {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
            new = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"},
                   "spec": {"tasks": [task]}}
            with contextlib.closing(http.client.HTTPSConnection(host, int(port), context=context, timeout=30)) as connection:
                for path in ("/jobs/mutate", "/jobs/validate"):
                    connection.request("POST", path, json.dumps(review("jobs", "CREATE", new)), {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status != 200:
                        raise RuntimeError(f"{path}: {answer.status}")

    def viewer(self):
        """A tab that is open for a while, again and again."""
        address, _, fragment = self.parts.page.split("//")[1].partition("/")
        token = fragment.partition("token=")[2]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        while not self.stopping.is_set():
            with contextlib.closing(http.client.HTTPConnection(address, timeout=5)) as connection:
                connection.request("GET", "/page/v1/cluster", headers=headers)
                picture = json.loads(connection.getresponse().read())
            with contextlib.closing(http.client.HTTPConnection(address, timeout=1)) as connection:
                connection.request("GET", f"/page/v1/events?after={picture['revision']}&epoch={picture['epoch']}", headers=headers)
                answer = connection.getresponse()
                until = time.monotonic() + PAGE_STREAM_SECONDS
                with contextlib.suppress(TimeoutError):
                    while time.monotonic() < until and not self.stopping.is_set() and answer.read1(65536):
                        pass
            self.stopping.wait(1)


def memory_kb(process):
    """What the process has for itself."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise RuntimeError("no RssAnon")


def slope(samples):
    """(% per hour, its standard error) of a straight line through [(seconds, KiB)]."""
    count = len(samples)
    mean_x = sum(x for x, _ in samples) / count
    mean_y = sum(y for _, y in samples) / count
    square = sum((x - mean_x) ** 2 for x, _ in samples)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in samples) / square
    # Samples that follow each other are alike: as if there were a tenth as many.
    rest = sum((y - mean_y - rise * (x - mean_x)) ** 2 for x, y in samples) / max(count / 10 - 2, 1)
    per_hour = 3600 * 100 / mean_y
    return rise * per_hour, math.sqrt(rest / (square / 10)) * per_hour


def report(samples, churn):
    """Prints the table; the parts that grow."""
    growing = []
    print(f"{churn.made} jobs in {SECONDS:.0f} s; warm-up {SECONDS / 3:.0f} s")
    print(f"{'part':14} {'after warm-up':>14} {'at the end':>11} {'max':>9} {'% per hour':>18}")
    for name, all_of_it in samples.items():
        warm = [sample for sample in all_of_it if sample[0] > SECONDS / 3]
        if len(warm) < 12:
            raise SystemExit("too few samples: STRATA_SECONDS must be at least 120")
        per_hour, error = slope(warm)
        if per_hour - 2 * error >= MAX_SLOPE:
            growing.append(name)
        mib = [kib / 1024 for _, kib in warm]
        few = max(1, len(mib) // 10)
        print(f"{name:14} {sum(mib[:few]) / few:10.1f} MiB {sum(mib[-few:]) / few:7.1f} MiB {max(mib):5.1f} MiB "
              f"{per_hour:+8.2f} ± {2 * error:.2f}")
    return growing


def main():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        churn = Churn(parts)
        samples = {name: [] for name in parts.processes}
        try:
            churn.start()
            begun = time.monotonic()
            while time.monotonic() - begun < SECONDS and not churn.problems and not parts.dead():
                for name, process in parts.processes.items():
                    samples[name].append((time.monotonic() - begun, memory_kb(process)))
                time.sleep(SAMPLE_SECONDS)
        finally:
            churn.stop()
            dead = parts.dead()
            parts.end()
        if churn.problems or dead:
            sys.exit(f"{churn.problems} ended: {dead}")
        growing = report(samples, churn)
        if growing:
            sys.exit("memory grows: " + ", ".join(growing))


if __name__ == "__main__":
    main()
