#!/usr/bin/env python3
"""Measures `strata page` with a real cluster in chromium: how soon the map is there, what viewers cost, how late a gang is seen.

Usage: STRATA_BINARY=build/strata PYTHONPATH=tests/integration:tests/e2e:tests/web /usr/bin/python3 bench/page.py [--small]

The cluster has 5,000 nodes, 40,000 GPUs and 2,000 jobs of two nodes each; --small has a tenth. Prints a line for each figure.
"""
import argparse
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import threading
import time

import browser
from api_server import Kubectl, Up, new_kubectl
from live import Part

JOB = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
LOADS, VIEWERS, PIECE = 11, 100, 65536
TICKS = os.sysconf("SC_CLK_TCK")


def job(name, pods, gpus, tier=0):
    resources = {"cpu": "1", "nvidia.com/gpu": str(gpus)}
    spec = {"schedulerName": "volcano", "minAvailable": pods, "tasks": [{"name": "w", "replicas": pods, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "resources": {"requests": resources, "limits": {"nvidia.com/gpu": str(gpus)}}}]}}}]}
    if tier:
        spec["networkTopology"] = {"mode": "hard", "highestTierAllowed": tier}
    return JOB | {"metadata": {"name": name}, "spec": spec}


def tell(what, value, unit, budget):
    print(f"{what:58} {value:10.1f} {unit:4} at most {budget}", flush=True)


def until(condition, what, limit=900):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not seen in {limit} s: {what}")
        time.sleep(0.02)


class Page:
    """The process of the page, and what it answers."""

    def __init__(self, folder, server):
        self.part = Part(folder, "page", "--kubeconfig", server.kubeconfig, "--plain-http")
        until(lambda: "ready http" in self.part.said(), "the page")
        self.url = re.search(r"ready (\S+)", self.part.said())[1]
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.part.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """MB."""
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.part.process.pid}/status").read_text())[1]) / 1024

    def ask(self, path, method="GET", body=None):
        """(bytes as sent, milliseconds)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        begun = time.monotonic()
        headers = {"Accept-Encoding": "gzip"} | ({"Content-Type": "application/json"} if body else {})
        connection.request(method, "/page/v1/" + path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {data[:300]}")
        return data, 1000 * (time.monotonic() - begun)

    def json(self, path):
        data, _ = self.ask(path)
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def load_map(chromium, page):
    painted = []
    for _ in range(LOADS):
        chromium.command("Network.setCacheDisabled", cacheDisabled=True)
        chromium.open(page.url)
        painted.append(chromium.run("return performance.getEntriesByName('strata-painted')[0].startTime"))
    return statistics.median(painted)


def measure_loads(page):
    chromium = browser.Browser(1440, 900)
    chromium.command("Network.enable")
    tell("map painted, median of 11", load_map(chromium, page), "ms", "300")
    chromium.command("Emulation.setCPUThrottlingRate", rate=4)
    tell("the same, throttled four times", load_map(chromium, page), "ms", "1000")
    chromium.command("Emulation.setCPUThrottlingRate", rate=1)
    chromium.open(page.url)
    chromium.command("HeapProfiler.collectGarbage")
    chromium.command("Performance.enable")
    heap = {entry["name"]: entry["value"] for entry in chromium.command("Performance.getMetrics")["metrics"]}
    tell("heap after loading", heap["JSHeapUsedSize"] / 1e6, "MB", "30")
    return chromium


def measure_answers(page):
    data, _ = page.ask("cluster")
    tell("cluster, compressed", len(data) / 1000, "kB", "120")
    tell("fit of another shape", min(page.ask("fit?pod=nvidia.com/gpu=3")[1] for _ in range(5)), "ms", "50")
    body = {"pods": 64, "pod": "nvidia.com/gpu=8", "mode": "hard", "highestTierAllowed": 2}
    tell("what-if of a gang of 64", min(page.ask("what-if", "POST", body)[1] for _ in range(5)), "ms", "300")


def measure_gang(server, page, chromium, pods):
    """How much later than at the API server the last pod of a gang is on the map."""
    before = chromium.view()["gpus"]["used"]
    server.json("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", job("gang", pods, 1))
    at_server, on_map = [], []

    def bound():
        listed = server.json("GET", "/api/v1/namespaces/default/pods?labelSelector=volcano.sh/job-name%3Dgang")[1]["items"]
        return sum("nodeName" in pod["spec"] for pod in listed) == pods

    def watch():
        until(bound, "the gang is bound")
        at_server.append(time.monotonic())

    watching = threading.Thread(target=watch)
    watching.start()
    until(lambda: chromium.view()["gpus"]["used"] == before + pods, "the gang is on the map")
    on_map.append(time.monotonic())
    watching.join()
    tell(f"a gang of {pods}: on the map after its last bind", max(0.0, 1000 * (on_map[0] - at_server[0])), "ms", "500")


class Viewer:
    """A connection that follows the stream; it reads, or not."""

    def __init__(self, page, picture, reads):
        self.connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=600)
        self.connection.request("GET", f"/page/v1/events?after={picture['revision']}&epoch={picture['epoch']}")
        self.answer = self.connection.getresponse()
        self.bytes = 0
        if reads:
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the page ends before its viewers
            while data := self.answer.read1(PIECE):
                self.bytes += len(data)


def measure_viewers(server, page, viewers, seconds=10):
    idle = page.cpu()
    time.sleep(5)
    tell("processor time while nobody looks, nothing changes", 100 * (page.cpu() - idle) / 5, "%", "1")
    picture = page.json("cluster")
    open_ones = [Viewer(page, picture, True) for _ in range(viewers)]
    Viewer(page, picture, False)  # stops reading at once
    memory, begun, used = page.memory(), time.monotonic(), page.cpu()
    number = 0
    while time.monotonic() - begun < seconds:
        number += 1
        label = {"metadata": {"labels": {"user": f"user-{number}"}}}
        group = server.json("GET", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups?limit=1")[1]["items"][0]["metadata"]["name"]
        server.json("PATCH", f"/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/{group}", label, {"Content-Type": "application/merge-patch+json"})
        time.sleep(max(0, begun + number / 4 - time.monotonic()))
    tell(f"{viewers} viewers, four changes a second, of a core", 100 * (page.cpu() - used) / (time.monotonic() - begun), "%", "10")
    tell("memory that they took", page.memory() - memory, "MB", "-")
    tell("memory of the process", page.memory(), "MB", "150")
    if not all(viewer.bytes for viewer in open_ones):
        sys.exit("a viewer got nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as folder:
        server = Up(folder, "--generate", f"spines={2 if small else 10},racks={10 if small else 20},nodes=25,gpus=8:hgxh100", "--page", "off")
        try:
            jobs = 200 if small else 2000
            manifest = {"apiVersion": "v1", "kind": "List", "items": [job(f"job-{i}", 2, 8, 1) for i in range(jobs)]}
            Kubectl(new_kubectl(), server.kubeconfig, folder)("create", "-f", "-", stdin=json.dumps(manifest))
            page = Page(folder, server)
            until(lambda: page.json("cluster")["gpus"]["state"].count("u") >= jobs * 16, "the jobs run")
            measure_answers(page)
            chromium = measure_loads(page)
            try:
                measure_gang(server, page, chromium, 100 if small else 1000)
            finally:
                chromium.close()
            measure_viewers(server, page, VIEWERS)
            page.part.kill()
        finally:
            server.end()


if __name__ == "__main__":
    main()
