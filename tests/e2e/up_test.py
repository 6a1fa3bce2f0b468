#!/usr/bin/env python3
"""`strata up` as a command: the ready line, what it shows of itself, logs, bad input, the end."""
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.request

from live import EXAMPLES, LiveTest, Up
from strata_run import STRATA

SYSTEM = "/api/v1/namespaces/volcano-system"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec: {schedulerName: volcano, containers: [{name: main, image: busybox}]}
"""


class Shown(LiveTest):
    arguments = ("--generate", "spines=2,racks=2,nodes=2")

    def test_the_ready_line_and_a_private_kubeconfig(self):
        self.assertRegex(self.server.ready, r"^ready https://127\.0\.0\.1:\d+ kubeconfig=" + self.server.kubeconfig + "$")
        self.assertEqual(stat.S_IMODE(pathlib.Path(self.server.kubeconfig).stat().st_mode), 0o600)

    def test_nodes_and_hypernodes_are_there_when_it_is_ready(self):
        self.assertEqual(self.kubectl("get", "nodes", "--no-headers").count(" Ready "), 8)
        tiers = {item["metadata"]["name"]: item["spec"]["tier"] for item in
                 self.items("/apis/topology.volcano.sh/v1alpha1/hypernodes")}
        self.assertEqual(tiers, {**{f"rack-{i}": 1 for i in range(4)}, "spine-0": 2, "spine-1": 2})

    def test_its_parts_are_pods_that_run_on_no_node(self):
        for name in ("volcano-scheduler", "volcano-controllers"):
            pod = self.kubectl.json("get", "pods", "-n", "volcano-system", "-l", f"app={name}")["items"][0]
            self.assertEqual(pod["status"]["phase"], "Running")
            self.assertNotIn("nodeName", pod["spec"])
            self.assertEqual([c["name"] for c in pod["spec"]["containers"]], [name])
            self.assertEqual(pod["spec"]["containers"][0].get("resources", {}), {})

    def test_both_configmaps_are_there(self):
        scheduler = self.get(f"{SYSTEM}/configmaps/volcano-scheduler-configmap")
        self.assertIn("network-topology-aware", scheduler["data"]["volcano-scheduler.conf"])
        self.assertIn("networkTopologyDiscovery",
                      self.get(f"{SYSTEM}/configmaps/volcano-controller-configmap")["data"]["volcano-controller.conf"])

    def test_the_default_configuration_is_what_holds_without_one(self):
        data = self.get(f"{SYSTEM}/configmaps/volcano-scheduler-configmap")["data"]
        conf = pathlib.Path(self.folder) / "scheduler.conf"
        conf.write_text(data["volcano-scheduler.conf"])
        trace = [pathlib.Path(self.folder) / name for name in ("a.jsonl", "b.jsonl")]
        simulate = [STRATA, "simulate", "-f", EXAMPLES / "training", "-o", "json", "--trace"]
        bare = subprocess.run([*simulate, trace[0]], capture_output=True, check=True)
        given = subprocess.run([*simulate, trace[1], "--scheduler-conf", conf], capture_output=True, check=True)
        self.assertEqual((bare.stdout, bare.stderr, trace[0].read_text()), (given.stdout, given.stderr, trace[1].read_text()))

    def strata(self, *arguments, code=0):
        """What a command says: standard output and error."""
        done = subprocess.run([STRATA, *arguments], env={**os.environ, "KUBECONFIG": self.server.kubeconfig},
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def test_a_queue_and_a_job_from_the_command_line(self):
        self.assertEqual(self.strata("queue", "create", "research", "--weight", "2"), "queue research created\n")
        self.assertEqual(self.strata("job", "run", "hello", "-r", "2", "-m", "2", "-q", "research"),
                         "job default/hello created\n")
        self.until(lambda: self.phase("hello-hello-1") == "Running", "the pods of the job run")
        for follow in ((), ("-f",)):
            self.assertEqual(self.strata("job", "logs", "hello", *follow, code=1),
                             "default/hello: its pods are on virtual nodes, which run no containers and have no logs\n")
        self.assertIn("default/hello", self.strata("top", "--drain", "rack-0", "--without", "hello"))
        self.strata("job", "cancel", "hello", "--yes")
        groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
        self.until(lambda: not self.items(groups), "the PodGroup of the job goes")
        self.assertEqual(self.strata("queue", "delete", "research", "--yes"), "queue research deleted\n")

    def test_the_end_is_clean_by_either_signal(self):
        self.server.stop()
        self.assertEqual(self.start().interrupt(), 0)


class Pages(LiveTest):
    """What each part says over HTTP, as `strata scheduler` and `strata controllers` do."""
    arguments = ("--generate", "spines=1,racks=1,nodes=2", "--scheduler-pages", "127.0.0.1:0",
                 "--controllers-pages", "127.0.0.1:0")

    def log_of(self, part):
        return self.kubectl("logs", "-n", "volcano-system", f"volcano-{part}", "--tail=-1")

    def ask(self, part, method, path, body=None):
        """(status, text) of a page; the port is in the part's log."""
        port = re.search(r'"serving pages" port="(\d+)"', self.log_of(part)).group(1)
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()

    def test_each_part_is_well_and_counts(self):
        for part, metric in (("scheduler", "volcano_e2e_scheduling_latency_milliseconds"),
                             ("controllers", 'strata_controllers_plans_total{controller="job"}')):
            for page in ("/healthz", "/readyz"):
                self.assertEqual(self.ask(part, "GET", page), (200, "ok"), part)
            self.assertIn(metric, self.ask(part, "GET", "/metrics")[1])

    def test_the_verbosity_is_changed_while_it_runs(self):
        self.assertEqual(self.ask("scheduler", "PUT", "/debug/flags/v", b"5")[0], 200)
        self.kubectl("apply", "-f", "-", stdin=POD)
        self.until(lambda: self.phase("lone") == "Running", "the pod runs")
        self.assertIn("hyperNode in session", self.log_of("scheduler"))

    def test_the_scheduler_writes_down_what_it_knows(self):
        self.server.process.send_signal(signal.SIGUSR2)
        told = re.compile(r'"cache dumped" file="(.*)"')
        self.until(lambda: told.search(self.log_of("scheduler")), "the line that says where")
        dump = pathlib.Path(told.search(self.log_of("scheduler")).group(1))
        self.addCleanup(dump.unlink)
        self.assertIn("node-1", dump.read_text())

    def test_an_address_that_is_taken_ends_it_with_one_line(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            done = subprocess.run([STRATA, "up", "--kubeconfig", f"{self.folder}/other", "--listen", "127.0.0.1:0",
                                   "--scheduler-pages", address], capture_output=True, text=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn(address, done.stderr)


class Files(unittest.TestCase):
    def run_up(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([STRATA, "up", "--kubeconfig", f"{folder}/kubeconfig", *arguments],
                                  capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)

    def test_a_bad_file_is_one_line_before_anything_serves(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n"
                       "spec: {networkTopology: {mode: medium}, tasks: [{name: w, template: {spec: {containers: []}}}]}\n")
            file.flush()
            done = self.run_up("-f", file.name)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^\S+\.yaml: Job default/train: spec\.\S+: .*\n$")

    def test_bad_usage_is_one_line_and_status_two(self):
        for arguments in (("--generate", "spines=1"), ("--generate", "spines=1,racks=1,nodes=1,gpus=8:toaster"),
                          ("-v", "loud"), ("--scheduler-pages", "here")):
            done = self.run_up(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)

    def test_what_the_server_refuses_is_one_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n"
                       "spec: {queue: nowhere, minAvailable: 1, tasks: [{name: w, replicas: 1, template: {spec: "
                       "{containers: [{name: c, image: i}]}}}]}\n")
            file.flush()
            done = self.run_up("-f", file.name)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn("nowhere", done.stderr)

    def test_files_are_applied_and_may_be_applied_again(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("--data-dir", f"{folder}/data", "-f", str(EXAMPLES / "training"))
            for _ in range(2):
                server = Up(folder, *arguments)
                _, nodes = server.json("GET", "/api/v1/nodes")
                self.assertEqual(len(nodes["items"]), 8)
                _, job = server.json(
                    "GET", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/pytorch-distributed-training")
                self.assertEqual(job["spec"]["minAvailable"], 4)
                server.stop()


class HowFast(unittest.TestCase):
    """From the start to the ready line. The time on the wall counts where the machine has nothing else to do, the time on its
    CPUs always. `make bench-live` has the figures."""

    def start_once(self, spec):
        """Seconds until it was ready: on the wall, on the CPUs."""
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            server = Up(folder, "--generate", spec)
            wall = time.monotonic() - started
            user, system = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
            server.stop()
        return wall, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def expect_ready_within(self, limit, spec):
        walls = []
        while not walls or min(walls) >= limit:
            self.assertLess(len(walls), 5, f"{walls} s on an idle machine")
            idle = os.getloadavg()[0] < os.cpu_count()
            wall, cpu = self.start_once(spec)
            self.assertLess(cpu, limit)
            if not idle:
                return
            walls.append(wall)

    def test_eight_nodes_are_ready_in_two_seconds(self):
        self.expect_ready_within(2, "spines=2,racks=2,nodes=2")

    def test_five_thousand_nodes_are_ready_in_ten_seconds(self):
        self.expect_ready_within(10, "spines=10,racks=25,nodes=20")


if __name__ == "__main__":
    unittest.main()
