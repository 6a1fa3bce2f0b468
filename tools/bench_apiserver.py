#!/usr/bin/env python3
"""Figures of `strata apiserver` on this machine, as a table: tools/bench_apiserver.py [PODS].

Runs build/strata and build/bench/load/api_load, in memory and with a folder. A figure that misses its target is marked."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
CONNECTIONS = "32"


class Server:
    """A `strata apiserver` on plain HTTP, and how long it took to be ready."""

    def __init__(self, folder, *arguments):
        started = time.monotonic()
        self.process = subprocess.Popen(
            [BUILD / "strata", "apiserver", "--listen", "127.0.0.1:0", "--kubeconfig", f"{folder}/kubeconfig", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.ready_ms = (time.monotonic() - started) * 1000
        if not line.startswith("ready "):
            sys.exit(f"bench_apiserver: no server: {line!r}")
        self.port = line.split()[1].rsplit(":", 1)[1]

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def load(self, *arguments):
        """What api_load says, with the server's CPU time per request in microseconds."""
        before = self.cpu_seconds()
        text = subprocess.run(
            [BUILD / "bench/load/api_load", self.port, *arguments], stdout=subprocess.PIPE, check=True).stdout
        figures = json.loads(text)
        figures["cpuUs"] = (self.cpu_seconds() - before) / figures.get("count", 1) * 1e6
        return figures

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


missed = []


def row(what, figure, target, good):
    if not good:
        missed.append(what)
    print(f"{what:<34} {figure:>34}   {target:<16} {'' if good else 'MISSED'}")


def rate(what, figures, target):
    figure = f"{figures['perSecond']:,.0f}/s, p99 {figures['p99Ms']:.1f} ms, {figures['cpuUs']:.0f} us CPU"
    row(what, figure, f">= {target:,}/s", figures["perSecond"] >= target)


def measure(what, folder, pods, creates_wanted, *arguments):
    server = Server(folder, *arguments)
    row(f"{what}: ready", f"{server.ready_ms:.0f} ms", "< 200 ms", server.ready_ms < 200)
    row(f"{what}: resident at start", f"{server.resident_mb():.1f} MB", "<= 32 MB", server.resident_mb() <= 32)
    rate(f"{what}: create pods of 2 kB", server.load("create", str(pods), CONNECTIONS), creates_wanted)
    rate(f"{what}: bind them", server.load("bind", str(pods), CONNECTIONS), creates_wanted)
    listed = server.load("list")
    limit = pods / 100
    row(f"{what}: list {pods:,} pods whole", f"{listed['ms']:.0f} ms, {listed['bytes'] / 1e6:.0f} MB",
        f"< {limit / 1000:.1f} s", listed["ms"] < limit)
    row(f"{what}: resident with them", f"{server.resident_mb():.0f} MB", "", True)
    server.stop()


def main():
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        measure("in memory", folder, pods, 5000, "--plain-http")
        measure("--data-dir", folder, min(pods, 20_000), 2000, "--plain-http", "--data-dir", f"{folder}/data")
        server = Server(folder)
        row("with TLS: ready", f"{server.ready_ms:.0f} ms", "< 200 ms", server.ready_ms < 200)
        row("with TLS: resident at start", f"{server.resident_mb():.1f} MB", "<= 32 MB", server.resident_mb() <= 32)
        server.stop()


if __name__ == "__main__":
    main()
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)
