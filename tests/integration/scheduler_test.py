#!/usr/bin/env python3
"""`strata scheduler` against `strata apiserver`: places, statuses, events, configuration, restart, leases."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from api_server import ApiServer
from strata_run import STRATA, wait_until

GROUPS = "/apis/scheduling.volcano.sh/v1beta1"
TOPOLOGY = "/apis/topology.volcano.sh/v1alpha1"
ADVICE = "; this alone would let it start: "


def node(index):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{index}"},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "20"},
                       "capacity": {"cpu": "8", "memory": "32Gi", "pods": "20"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def hypernode(name, tier, kind, members):
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name},
            "spec": {"tier": tier, "members": [{"type": kind, "selector": {"exactMatch": {"name": member}}}
                                               for member in members]}}


def gang(name, pods, tier=1, cpu="8"):
    """A PodGroup that wants all of its pods below one HyperNode of that tier, and the pods."""
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": name, "namespace": "default"},
             "spec": {"minMember": pods, "queue": "default",
                      "networkTopology": {"mode": "hard", "highestTierAllowed": tier}}}
    return [group] + [
        {"apiVersion": "v1", "kind": "Pod",
         "metadata": {"name": f"{name}-worker-{i}", "namespace": "default",
                      "annotations": {"scheduling.k8s.io/group-name": name}},
         "spec": {"schedulerName": "volcano",
                  "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]}}
        for i in range(pods)]


CLUSTER = ([node(i) for i in range(8)]
           + [hypernode("s0", 1, "Node", [f"node-{i}" for i in range(4)]),
              hypernode("s1", 1, "Node", [f"node-{i}" for i in range(4, 8)]),
              hypernode("s2", 2, "HyperNode", ["s0", "s1"])])

PATHS = {"Node": "/api/v1/nodes", "Pod": "/api/v1/namespaces/default/pods", "HyperNode": TOPOLOGY + "/hypernodes",
         "PodGroup": GROUPS + "/namespaces/default/podgroups"}


class Scheduler:
    """A running `strata scheduler`; its lines go to a file."""

    def __init__(self, server, folder, *arguments):
        self.path = pathlib.Path(folder) / f"scheduler-{id(self)}.log"
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [STRATA, "scheduler", "--kubeconfig", server.kubeconfig, "--schedule-period", "100ms", *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)

    def log(self):
        return self.path.read_text(encoding="utf-8")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(20) != 0:
            raise AssertionError(f"exit {self.process.returncode}: {self.log()}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class LiveScheduler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = ApiServer(self.folder)
        self.addCleanup(self.server.kill)

    def start(self, *arguments, lease=("--leader-elect=false",)):
        scheduler = Scheduler(self.server, self.folder, *lease, *arguments)
        self.addCleanup(scheduler.kill)
        return scheduler

    def create(self, objects, path=None):
        for item in objects:
            status, answer = self.server.json("POST", path or PATHS[item["kind"]], item)
            self.assertEqual(status, 201, answer)
            if item["kind"] == "Node":  # what the node controller does with a node that is ready
                status, _, text = self.server.request("PATCH", PATHS["Node"] + "/" + item["metadata"]["name"],
                                                      {"spec": {"taints": None}},
                                                      {"Content-Type": "application/merge-patch+json"})
                self.assertEqual(status, 200, text)

    def places(self, prefix):
        _, pods = self.server.json("GET", PATHS["Pod"])
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in pods["items"]
                if pod["metadata"]["name"].startswith(prefix)}

    def wait_bound(self, prefix, count):
        wait_until(lambda: sum(1 for place in self.places(prefix).values() if place) == count, 60, f"{prefix} bound")
        return self.places(prefix)

    def group(self, name):
        return self.server.json("GET", PATHS["PodGroup"] + "/" + name)[1]

    def condition(self, name, kind):
        for condition in self.group(name).get("status", {}).get("conditions", []):
            if condition["type"] == kind and condition["status"] == "True":
                return condition
        return None

    def events(self, name):
        _, events = self.server.json("GET", "/api/v1/namespaces/default/events")
        return [(event["reason"], event["message"]) for event in events["items"]
                if event["involvedObject"]["name"] == name]

    def delete(self, path):
        status, _, text = self.server.request("DELETE", path + "?gracePeriodSeconds=0")
        self.assertEqual(status, 200, text)

    def test_binds_where_simulate_does_and_says_so(self):
        self.create(CLUSTER)
        self.start()
        objects = gang("train", 4)
        self.create(objects)
        places = self.wait_bound("train-", 4)
        manifests = pathlib.Path(self.folder) / "all.json"
        manifests.write_text("\n".join(json.dumps(item) for item in CLUSTER + objects), encoding="utf-8")
        done = subprocess.run([STRATA, "simulate", "-f", str(manifests), "-o", "json"], capture_output=True, check=True)
        self.assertEqual({"default/" + pod: place for pod, place in places.items()}, json.loads(done.stdout)["binds"])
        wait_until(lambda: self.group("train").get("status", {}).get("phase") == "Running", 30, "phase Running")
        self.assertIsNotNone(self.condition("train", "Scheduled"))
        wait_until(lambda: ("Scheduled", f"Successfully assigned default/train-worker-0 to {places['train-worker-0']}")
                   in self.events("train-worker-0"), 30, "event")
        wait_until(lambda: ("Scheduled", "pod group is ready") in self.events("train"), 30, "event of the group")
        queue = GROUPS + "/queues/default"
        wait_until(lambda: self.server.json("GET", queue)[1].get("status", {}).get("allocated", {}).get("cpu") == "32",
                   30, "queue status")
        self.assertEqual(self.server.json("GET", GROUPS + "/queues/root")[0], 200)

    def test_waits_with_its_sentence_and_starts_when_there_is_room(self):
        self.create(CLUSTER)
        self.start()
        self.create(gang("first", 4))
        self.create(gang("second", 4))
        self.wait_bound("first-", 4)
        self.wait_bound("second-", 4)
        self.create(gang("third", 4))
        wait_until(lambda: self.condition("third", "Unschedulable"), 30, "condition Unschedulable")
        condition = self.condition("third", "Unschedulable")
        message = condition["message"].partition(ADVICE)[0]
        self.assertNotEqual(message, "")
        wait_until(lambda: ("Unschedulable", message) in self.events("third"), 30, "event")
        pod = PATHS["Pod"] + "/third-worker-0"
        wait_until(lambda: any(c["type"] == "PodScheduled" and c["status"] == "False" and c["message"]
                               for c in self.server.json("GET", pod)[1]["status"].get("conditions", [])),
                   30, "condition of the pod")
        self.assertEqual(set(self.places("third-").values()), {None})
        for i in range(4):
            self.delete(PATHS["Pod"] + f"/first-worker-{i}")
        self.assertEqual(len(set(self.wait_bound("third-", 4).values())), 4)
        wait_until(lambda: self.condition("third", "Scheduled"), 30, "condition Scheduled")
        self.assertIsNone(self.condition("third", "Unschedulable"))

    def test_a_waiting_gang_says_what_alone_would_let_it_start(self):
        self.create(CLUSTER)
        scheduler = self.start("-v", "3")
        self.create(gang("wide", 5))
        advice = (ADVICE + "allow tier 2: spec.networkTopology.highestTierAllowed 2 instead of 1: "
                  "kubectl patch podgroup wide -n default --type=json -p '[{\"op\":\"add\","
                  "\"path\":\"/spec/networkTopology\",\"value\":{\"mode\":\"hard\",\"highestTierAllowed\":2}}]'")
        wait_until(lambda: self.condition("wide", "Unschedulable")
                   and self.condition("wide", "Unschedulable")["message"].endswith(advice), 30, "advice")
        self.assertIn('"relaxation" job="default/wide"', scheduler.log())
        message = self.condition("wide", "Unschedulable")["message"]
        plain = message.removesuffix(advice)
        wait_until(lambda: ("Unschedulable", plain) in self.events("wide"), 30, "event")
        told = [text for reason, text in self.events("wide") if reason == "Unschedulable"]
        self.assertEqual(told.count(plain), 1)
        self.assertEqual([text for text in told if ADVICE in text], [], "advice is not an event")
        version = self.group("wide")["metadata"]["resourceVersion"]
        self.create(gang("narrow", 1))  # more cycles with the same verdict
        self.wait_bound("narrow-", 1)
        wait_until(lambda: self.group("narrow").get("status", {}).get("phase") == "Running", 30, "phase Running")
        group = self.group("wide")
        if message in [condition["message"] for condition in group["status"]["conditions"]]:
            self.assertEqual(group["metadata"]["resourceVersion"], version)
        scheduler.stop()

    def test_a_restart_knows_where_jobs_run_and_moves_nothing(self):
        self.create(CLUSTER)
        first = self.start()
        self.create(gang("train", 3))
        before = self.wait_bound("train-", 3)
        first.stop()
        second = self.start("-v", "4")
        self.create(gang("other", 1))
        self.wait_bound("other-", 1)
        self.assertEqual(self.places("train-"), before)
        leaf = "s0" if before["train-worker-0"] in [f"node-{i}" for i in range(4)] else "s1"
        wait_until(lambda: f'"AllocatedHyperNode in session" job="default/train" AllocatedHyperNode="{leaf}"'
                   in second.log(), 30, "the line of the log")
        self.assertIn("HyperNodesReadyToSchedule", second.log())

    def test_follows_its_config_map_and_refuses_a_broken_one(self):
        self.create(CLUSTER)
        scheduler = self.start()
        conf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "volcano-scheduler-configmap"},
                "data": {"volcano-scheduler.conf": 'actions: "nonsense"'}}
        maps = "/api/v1/namespaces/volcano-system/configmaps"
        self.create([conf], maps)
        wait_until(lambda: "invalid configuration" in scheduler.log(), 30, "refusal")
        wait_until(lambda: any(event["reason"] == "InvalidConfiguration" for event in self.server.json(
            "GET", "/api/v1/namespaces/volcano-system/events")[1]["items"]), 30, "event")
        self.create(gang("train", 1))
        self.wait_bound("train-", 1)
        conf["data"]["volcano-scheduler.conf"] = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n  - name: network-topology-aware\n'
        self.assertEqual(self.server.json("PUT", maps + "/volcano-scheduler-configmap", conf)[0], 200)
        wait_until(lambda: '"configuration read"' in scheduler.log(), 30, "configuration")
        self.create(gang("idle", 1))
        wait_until(lambda: self.group("idle").get("status", {}).get("phase") == "Inqueue", 30, "phase Inqueue")
        self.assertEqual(self.places("idle-"), {"idle-worker-0": None})

    def test_of_two_with_one_lease_one_binds_and_the_other_takes_over(self):
        self.create(CLUSTER)
        lease = ("--leader-elect-lease-duration", "10s", "--leader-elect-renew-deadline", "8s",
                 "--leader-elect-retry-period", "500ms")
        first = self.start(lease=lease)
        wait_until(lambda: "leading" in first.log(), 60, "the first leads")
        second = self.start(lease=lease)
        self.create(gang("train", 2))
        self.wait_bound("train-", 2)
        self.assertNotIn("leading", second.log())
        self.assertNotIn("pods placed", second.log())
        first.kill()
        self.create(gang("more", 2))
        self.wait_bound("more-", 2)
        self.assertIn("leading", second.log())

    def test_pages_verbosity_and_the_dump(self):
        self.create(CLUSTER)
        scheduler = self.start("--enable-metrics=true", "--listen-address", "127.0.0.1:0", "-v=1", "--cache-dump-dir",
                               self.folder, "--csi-storage=true")
        self.create(gang("train", 2))
        self.wait_bound("train-", 2)
        self.assertIn('"flag is ignored" flag="--csi-storage"', scheduler.log())
        port = re.search(r'"serving pages" port="(\d+)"', scheduler.log()).group(1)

        def page(path, method="GET", body=None):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, method=method)
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.read().decode()
        self.assertEqual(page("/healthz"), "ok")
        self.assertEqual(page("/readyz"), "ok")
        wait_until(lambda: 'volcano_schedule_attempts_total{result="scheduled"} 2' in page("/metrics"), 30, "metric")
        wait_until(lambda: 'volcano_queue_allocated_milli_cpu{queue_name="default"} 16000' in page("/metrics"), 30, "metric of the queue")
        self.assertIn("verbosity to 5", page("/debug/flags/v", "PUT", b"5"))
        self.create(gang("more", 1))
        self.wait_bound("more-", 1)
        for words in ("hyperNode in session", "HyperNodesReadyToSchedule", "networkTopologyAware hyperNode score",
                      "networkTopologyAware node score", "hyperNode binpacking score calculation", "AllocatedHyperNode"):
            self.assertIn(words, scheduler.log())
        scheduler.process.send_signal(signal.SIGUSR2)
        dumps = pathlib.Path(self.folder)
        wait_until(lambda: any("pod default/train-worker-0 Bound" in dump.read_text(encoding="utf-8")
                               for dump in dumps.glob("strata-cache-*.txt")), 30, "dump")
        scheduler.process.send_signal(signal.SIGUSR1)

        def snapshot():
            for file in dumps.glob("snapshot-*.json"):
                text = file.read_text(encoding="utf-8")
                if text.endswith("}\n"):
                    return json.loads(text)
            return None
        wait_until(snapshot, 30, "snapshot")
        self.assertEqual(snapshot()["jobs"]["default/train"]["pods"]["default/train-worker-0"]["status"], "Bound")
        for name in ("volcano_e2e_job_scheduling_latency_milliseconds_count",
                     "volcano_task_scheduling_latency_milliseconds_count 3",
                     'volcano_queue_share{queue_name="default"}', 'volcano_queue_overused{queue_name="default"}',
                     'volcano_queue_deserved_milli_cpu{queue_name="default"}'):
            wait_until(lambda name=name: name in page("/metrics"), 10, name)

    def test_flags_that_make_no_sense(self):
        for arguments in (["-v", "much"], ["--schedule-period", "soon"], ["--nonsense"]):
            done = subprocess.run([STRATA, "scheduler", *arguments], capture_output=True, timeout=20, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
        done = subprocess.run([STRATA, "scheduler", "--kubeconfig", self.server.kubeconfig, "--scheduler-conf", "/nowhere"],
                              capture_output=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"/nowhere", done.stderr)

    def test_an_idle_scheduler_runs_no_cycle(self):
        self.create(CLUSTER)
        scheduler = self.start("-v", "3")
        self.create(gang("train", 2))
        self.wait_bound("train-", 2)
        wait_until(lambda: self.group("train").get("status", {}).get("phase") == "Running", 30, "phase Running")

        def quiet():
            seen = scheduler.log().count("HyperNodesReadyToSchedule")
            wait_until(lambda: self.server.request("GET", "/readyz")[0] == 200, 5, "server")
            subprocess.run(["sleep", "1"], check=True)
            return scheduler.log().count("HyperNodesReadyToSchedule") == seen
        wait_until(quiet, 20, "quiet")


if __name__ == "__main__":
    unittest.main()
