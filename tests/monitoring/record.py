#!/usr/bin/env python3
"""Records what a busy cluster in which nothing is wrong shows on /metrics, for alerts_test.py.

    STRATA_BINARY=build/strata PYTHONPATH=tests/integration tests/monitoring/record.py --minutes 20

It runs `strata up` with 32 nodes of 8 GPUs. Jobs of 1 to 64 GPUs come faster than they can be placed, so that some always
wait. Some have a high priority, and others are evicted for them, once these have run for a minute. HyperNodes come from
node labels. Every 15 seconds it reads the pages of the scheduler and of the controllers, and keeps the metrics that
deploy/monitoring/rules.yaml asks for.
"""
import argparse
import json
import pathlib
import random
import re
import tempfile
import threading
import time
import urllib.request

import yaml  # Debian: python3-yaml

from api_server import Up

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parents[1] / "deploy" / "monitoring" / "rules.yaml"
SECONDS = 15  # between two samples
METRIC = re.compile(r"\b(?:volcano|strata|process)_[a-z0-9_]+")
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)$")
GENERATE = "spines=2,racks=4,nodes=4,gpus=8"

SCHEDULER_CONF = """
actions: "enqueue, allocate, gangpreempt, backfill"
tiers:
- plugins:
  - {name: priority}
  - {name: gang}
  - {name: conformance}
- plugins:
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
  - {name: network-topology-aware}
"""
CONTROLLER_CONF = """
networkTopologyDiscovery:
- source: label
  enabled: true
  interval: 1m
  config:
    networkTopologyTypes:
      rooms:
      - nodeLabel: strata.sh/spine
      - nodeLabel: strata.sh/rack
      - nodeLabel: kubernetes.io/hostname
"""


def asked_for():
    rules = yaml.safe_load(RULES.read_text())
    return {name for group in rules["groups"] for rule in group["rules"] for name in METRIC.findall(rule["expr"])}


class Load:
    """Jobs that come and go until `stop`, the same ones in every run."""

    def __init__(self, server):
        self.server, self.random, self.count = server, random.Random(27), 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        for name, value in (("high", 100), ("low", 1)):
            self.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def post(self, path, body):
        code, answer = self.server.json("POST", path, body)
        if code != 201:
            raise AssertionError(f"{path}: {code} {answer}")

    def run(self):
        while not self.over.wait(self.random.expovariate(1 / 6.0)):
            self.post("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", self.job())

    def job(self):
        self.count += 1
        pods = self.random.choice((1, 1, 1, 2, 2, 4, 4, 8))
        seconds = self.random.randrange(90, 240)
        container = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": str(self.random.choice((1, 4, 8)))}}}
        template = {"metadata": {"annotations": {"strata.sh/run-seconds": str(seconds)}},
                    "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}}
        spec = {"minAvailable": pods, "schedulerName": "volcano", "queue": "default", "ttlSecondsAfterFinished": 30,
                "priorityClassName": "high" if self.count % 8 == 0 else "low",
                "tasks": [{"name": "worker", "replicas": pods, "template": template}]}
        if self.count % 3 == 0:
            spec["networkTopology"] = {"mode": "hard", "highestTierAllowed": 2}
        return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": f"job-{self.count}"}, "spec": spec}


def port_of(server, part):
    return re.search(r'"serving pages" port="(\d+)"', server.logs(part)).group(1)


def read_page(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return answer.read().decode()


def samples_of(page, names):
    """{'metric{labels}': value} of the families that are asked for."""
    found = {}
    for line in page.splitlines():
        sample = SAMPLE.match(line)
        if sample and sample[1] in names:
            found[f"{sample[1]}{{{sample[2] or ''}}}"] = float(sample[3])
    return found


def record(server, samples):
    """{job: {series: [value or None]}} and when it began."""
    ports = {"scheduler": port_of(server, "scheduler"), "controllers": port_of(server, "controllers")}
    names, series, begun = asked_for(), {job: {} for job in ports}, time.time()
    for at in range(samples):
        time.sleep(max(0.0, begun + at * SECONDS - time.time()))
        for job, port in ports.items():
            for name, value in samples_of(read_page(port), names).items():
                series[job].setdefault(name, [None] * at).append(value)
            for values in series[job].values():
                values += [None] * (at + 1 - len(values))
    return series, begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "healthy.json")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        confs = {}
        for name, text in (("scheduler", SCHEDULER_CONF), ("controller", CONTROLLER_CONF)):
            confs[name] = pathlib.Path(folder) / f"{name}.conf"
            confs[name].write_text(text)
        server = Up(folder, "--generate", GENERATE, "--scheduler-conf", str(confs["scheduler"]), "--controller-conf", str(confs["controller"]),
                    "--scheduler-pages", "127.0.0.1:0", "--controllers-pages", "127.0.0.1:0", "--page", "off")
        try:
            with Load(server) as load:
                series, begun = record(server, wanted.minutes * 60 // SECONDS)
            made = load.count
            server.stop()
        finally:
            server.end()
    lines = [f'  {json.dumps(job)}: {{\n' + ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in sorted(found.items())) + "\n  }"
             for job, found in series.items()]
    facts = {"cluster": GENERATE, "jobs": made, "seconds": SECONDS, "begun": round(begun, 3)}
    wanted.out.write_text('{\n  "run": ' + json.dumps(facts) + ",\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
