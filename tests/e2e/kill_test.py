#!/usr/bin/env python3
"""kill -9 at random moments while jobs come and go: no pod lost or bound twice, no gang half started for good, nothing
over-committed, no GPU given twice, and it carries on.

STRATA_KILLS says how often (20), STRATA_SEED with which numbers."""
import os
import random
import select
import subprocess
import threading
import typing
import unittest

from invariants import Ledger, given_twice, misgiven, overcommitted, room_for
from live import STRATA, ApiServer, LiveTest, Up
from strata_run import free_port

KILLS = int(os.environ.get("STRATA_KILLS", "20"))
SEED = int(os.environ.get("STRATA_SEED", "1"))
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
PODS = "/api/v1/namespaces/default/pods"
GPUS = 4  # of a node
CLUSTER = f"spines=2,racks=2,nodes=2,gpus={GPUS}:dgx1v"  # 32 GPUs
LABEL_OF_TIER = {1: "strata.sh/rack", 2: "strata.sh/spine"}
MOST_JOBS = 8
MOST_WRITES = 80  # some more than what the parts make of one change
QUIET_LOOKS = 200
AGAIN = 0.3  # of the kills are followed by another while it starts
LONGEST_START = 0.4  # seconds: what a start takes, more or less


class Gang(typing.NamedTuple):
    """A Job of this test."""
    uid: str
    size: int
    gpus: int  # of each pod
    tier: int  # at most
    ends: bool


class KillTest(LiveTest):
    def setUp(self):
        self.random = random.Random(SEED)
        self.port = free_port()
        self.jobs = {}  # name: Gang
        self.made = 0
        self.ledger = Ledger()
        self.outcomes = set()  # phases in which jobs came to rest
        super().setUp()

    def start(self, *arguments):
        return super().start("--plain-http", "--data-dir", f"{self.folder}/data", *arguments,
                             listen=f"127.0.0.1:{self.port}")

    def start_in_vain(self):
        """A start that is killed, too: before it is ready, or soon after."""
        arguments = ("--listen", f"127.0.0.1:{self.port}", "--kubeconfig", self.server.kubeconfig, "--plain-http",
                     "--data-dir", f"{self.folder}/data")
        with subprocess.Popen([STRATA, self.server_class.command, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            select.select([process.stdout], [], [], self.random.uniform(0, LONGEST_START))
            process.kill()

    def make_job(self, most=4, priority=""):
        name = f"job-{self.made}"
        self.made += 1
        size, gpus, tier = self.random.randint(2, most), self.random.randint(1, most - 1), self.random.randint(1, 2)
        ends = self.random.random() < 0.25
        resources = {"cpu": "1", "nvidia.com/gpu": str(gpus)}
        template = {"metadata": {"annotations": {"strata.sh/run-seconds": "0.5"} if ends else {}},
                    "spec": {"restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "busybox", "resources": {"requests": resources, "limits": resources}}]}}
        spec = {"minAvailable": size, "queue": "default", "schedulerName": "volcano",
                "networkTopology": {"mode": "hard", "highestTierAllowed": tier},
                **({"priorityClassName": priority} if priority else {}), "tasks": [{"name": "worker", "replicas": size, "template": template}]}
        code, body = self.server.json("POST", JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                                                     "metadata": {"name": name}, "spec": spec})
        self.assertEqual(code, 201, body)
        self.jobs[name] = Gang(body["metadata"]["uid"], size, gpus, tier, ends)
        return name

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
        self.assertEqual(overcommitted(self.items("/api/v1/nodes"), pods) + given_twice(pods) + misgiven(pods)
                         + self.ledger.problems(pods, [gang.uid for gang in self.jobs.values()]), [])

    def unsettled(self):
        """Why the cluster is not yet as it should end up; "" when it is."""
        pods = self.pods_by_job()
        groups = {group["metadata"]["ownerReferences"][0]["name"]: group for group in self.items(GROUPS)}
        for name in (set(pods) | set(groups)) - set(self.jobs):
            return f"{name} is deleted and has {len(pods.get(name, []))} pods"
        jobs = {job["metadata"]["name"]: job for job in self.items(JOBS)}
        for name, gang in self.jobs.items():
            why = self.unsettled_job(gang, jobs[name], groups.get(name), pods.get(name, []))
            if why:
                return f"{name}: {why}"
        return ""

    def unsettled_job(self, gang, job, group, pods):
        """The same of one job: it runs whole, has ended whole, or waits whole because it fits nowhere, and says so."""
        phase = job.get("status", {}).get("state", {}).get("phase")
        seen = {pod["status"].get("phase") for pod in pods}
        if len(pods) == gang.size and seen == {"Succeeded"} and gang.ends:
            return "" if phase == "Completed" and group is None else f"all have ended, and it is {phase}"
        phase_of_group = (group or {}).get("status", {}).get("phase")
        if len(pods) != gang.size or phase_of_group not in ("Inqueue", "Running"):
            return f"{len(pods)} pods of {gang.size}, its PodGroup is {phase_of_group}"
        if seen == {"Running"} and not gang.ends:
            return "" if (phase, phase_of_group) == ("Running", "Running") else f"all run, and it is {phase}"
        if any("nodeName" in pod["spec"] for pod in pods):
            return f"some of {gang.size} are bound: {sorted(seen)}"
        everything = self.items(PODS)
        room = room_for(self.items("/api/v1/nodes"), everything, LABEL_OF_TIER[gang.tier], gang.gpus, GPUS)
        if room >= gang.size:
            return f"waits, with room for {room} of its {gang.size} pods"
        told = [condition for condition in group["status"].get("conditions", [])
                if (condition["type"], condition["status"]) == ("Unschedulable", "True")]
        return "" if told and told[0].get("message") and phase == "Pending" else "waits, and does not say why"

    def settle(self):
        try:
            self.until(lambda: self.unsettled() == "", "every gang runs, has ended or waits, whole")
        except AssertionError as error:
            raise AssertionError(f"{self.unsettled()}\n{error}") from None
        self.check_now()
        self.outcomes.update(job["status"]["state"]["phase"] for job in self.items(JOBS))

    def prove_life(self, rounds):
        """Once all else is gone, a job that fits into every rack starts. And before, if there were enough rounds, all there is to see was seen."""
        if rounds >= 20:
            self.assertEqual(self.outcomes, {"Pending", "Running", "Completed"})
        while self.jobs:
            self.remove_job()
        name = self.make_job(most=2)
        self.settle()
        self.assertIn({pod["status"]["phase"] for pod in self.pods_by_job()[name]}, ({"Running"}, {"Succeeded"}))


class TheWhole(KillTest):
    server_class = Up
    arguments = ("--generate", CLUSTER)

    def test_the_cluster_survives(self):
        for kill in range(max(1, KILLS // 2)):
            with self.subTest(kill=kill, seed=SEED):
                self.change()
                self.let_write(self.random.randint(0, MOST_WRITES))
                self.server.kill()
                if self.random.random() < AGAIN:
                    self.start_in_vain()
                self.start()
                self.check_now()
                self.settle()
        self.prove_life(KILLS)
        self.server.stop()


class TheParts(KillTest):
    server_class = ApiServer
    commands = {"virtual-nodes": ("--generate", CLUSTER),
                "controllers": ApiServer.controller_flags,
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
                again = self.random.random() < AGAIN
                if victim == "apiserver":
                    self.server.kill()
                    if again:
                        self.start_in_vain()
                    self.start()
                else:
                    self.parts[victim].kill()
                    if again:
                        part = self.start_part(victim)
                        threading.Event().wait(self.random.uniform(0, LONGEST_START))
                        part.kill()
                    self.start_part(victim)
                self.check_now()
                self.settle()
        self.prove_life(KILLS)


if __name__ == "__main__":
    unittest.main()
