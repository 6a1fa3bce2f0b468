#!/usr/bin/env python3
"""kill -9 at random moments while jobs come and go: no pod lost or bound twice, no gang half started for good, nothing
over-committed, no GPU given twice, and it carries on.

STRATA_KILLS says how often (20), STRATA_SEED with which numbers."""
import os
import random
import socket
import unittest

from invariants import Bindings, given_twice, overcommitted
from live import ApiServer, LiveTest, Up

KILLS = int(os.environ.get("STRATA_KILLS", "20"))
SEED = int(os.environ.get("STRATA_SEED", "1"))
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
PODS = "/api/v1/namespaces/default/pods"
CLUSTER = "spines=2,racks=2,nodes=2,gpus=4:dgx1v"  # 32 GPUs
MOST_JOBS = 8
MOST_WRITES = 80  # some more than what the parts make of one change
QUIET_LOOKS = 200


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class KillTest(LiveTest):
    def setUp(self):
        self.random = random.Random(SEED)
        self.port = free_port()
        self.jobs = {}  # name: pods of the gang
        self.made = 0
        self.bindings = Bindings()
        super().setUp()

    def start(self, *arguments):
        return super().start("--plain-http", "--data-dir", f"{self.folder}/data", *arguments,
                             listen=f"127.0.0.1:{self.port}")

    def make_job(self):
        name = f"job-{self.made}"
        self.made += 1
        size = self.random.randint(2, 4)
        resources = {"cpu": "1", "nvidia.com/gpu": str(self.random.randint(1, 3))}
        template = {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "main", "image": "busybox", "resources": {"requests": resources, "limits": resources}}]}}
        spec = {"minAvailable": size, "queue": "default", "schedulerName": "volcano",
                "networkTopology": {"mode": "hard", "highestTierAllowed": self.random.randint(1, 2)},
                "tasks": [{"name": "worker", "replicas": size, "template": template}]}
        code, body = self.server.json("POST", JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                                                     "metadata": {"name": name}, "spec": spec})
        self.assertEqual(code, 201, body)
        self.jobs[name] = size

    def remove_job(self):
        name = self.random.choice(sorted(self.jobs))
        code, body = self.server.json("DELETE", f"{JOBS}/{name}")
        self.assertIn(code, (200, 202, 404), body)
        del self.jobs[name]

    def change(self):
        """Some jobs come, some go."""
        for _ in range(self.random.randint(1, 3)):
            if len(self.jobs) < MOST_JOBS and (not self.jobs or self.random.random() < 0.6):
                self.make_job()
            else:
                self.remove_job()

    def let_write(self, writes):
        """Returns when the parts have written so much, or write no more: the moment of the kill."""
        first = last = self.version()
        looks = 0
        while last - first < writes and looks < QUIET_LOOKS:
            now = self.version()
            looks = looks + 1 if now == last else 0
            last = now

    def version(self):
        return int(self.server.json("GET", PODS + "?limit=1")[1]["metadata"]["resourceVersion"])

    def pods_by_job(self):
        pods = {}
        for pod in self.items(PODS):
            job = pod["metadata"].get("labels", {}).get("volcano.sh/job-name")
            pods.setdefault(job, []).append(pod)
        return pods

    def check_now(self):
        """What must be true at any moment."""
        pods = self.items(PODS)
        problems = overcommitted(self.items("/api/v1/nodes"), pods) + given_twice(pods) + self.bindings.moved(pods)
        self.assertEqual(problems, [])

    def unsettled(self):
        """Why the cluster is not yet as it should end up; "" when it is."""
        pods = self.pods_by_job()
        for name in set(pods) - set(self.jobs):
            return f"{name} is deleted and has {len(pods[name])} pods"
        phases = {group["metadata"]["name"].rsplit("-", 5)[0]: group.get("status", {}).get("phase")
                  for group in self.items(GROUPS)}
        for name, size in self.jobs.items():
            mine = pods.get(name, [])
            if phases.get(name) not in ("Pending", "Inqueue", "Running"):
                return f"{name}: its PodGroup is {phases.get(name)}"
            running = sum(pod["status"].get("phase") == "Running" for pod in mine)
            bound = sum("nodeName" in pod["spec"] for pod in mine)
            if running not in (0, size) or bound not in (0, size):
                return f"{name}: {bound} of {size} bound, {running} running"
            if len(mine) != size and (mine or phases[name] != "Pending"):
                return f"{name}: {len(mine)} pods of {size}"
        return ""

    def settle(self):
        try:
            self.until(lambda: self.unsettled() == "", "every gang whole or waiting whole")
        except AssertionError as error:
            raise AssertionError(f"{self.unsettled()}\n{error}") from None
        self.check_now()

    def prove_life(self):
        """A job that fits anywhere starts, once there is room."""
        for name in list(self.jobs):
            self.server.json("DELETE", f"{JOBS}/{name}")
        self.jobs.clear()
        self.make_job()
        name, size = next(iter(self.jobs.items()))
        self.until(lambda: sum(pod["status"].get("phase") == "Running" for pod in self.pods_by_job().get(name, [])) == size,
                   "a new job runs")
        self.settle()


class TheWhole(KillTest):
    server_class = Up
    arguments = ("--generate", CLUSTER)

    def test_the_cluster_survives(self):
        for kill in range(max(1, KILLS // 2)):
            with self.subTest(kill=kill, seed=SEED):
                self.change()
                self.let_write(self.random.randint(0, MOST_WRITES))
                self.server.kill()
                self.start()
                self.check_now()
                self.settle()
        self.prove_life()
        self.server.stop()


class TheParts(KillTest):
    server_class = ApiServer
    commands = {"virtual-nodes": ("--generate", CLUSTER),
                "controllers": ("--collect-garbage",),
                "scheduler": ("--leader-elect=false", "--schedule-period=100ms")}

    def start_part(self, name):
        part = self.part(name, *self.commands[name])
        self.parts[name] = part
        return part

    def test_the_cluster_survives(self):
        self.parts = {}
        for name in self.commands:
            self.start_part(name)
        for kill in range(max(1, KILLS // 2)):
            victim = self.random.choice(["apiserver", *self.commands])
            with self.subTest(kill=kill, victim=victim, seed=SEED):
                self.change()
                self.let_write(self.random.randint(0, MOST_WRITES))
                if victim == "apiserver":
                    self.server.kill()
                    self.start()
                else:
                    self.parts[victim].kill()
                    self.start_part(victim)
                self.check_now()
                self.settle()
        self.prove_life()


if __name__ == "__main__":
    unittest.main()
