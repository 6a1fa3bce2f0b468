#!/usr/bin/env python3
"""preempt and reclaim end to end, with pods that take ten seconds to stop, also when the scheduler is killed in between."""
import json
import pathlib
import time
import unittest

from live import ApiServer, LiveTest

PODS = "/api/v1/namespaces/default/pods"
CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""
STOP = 10  # seconds


def job(name, replicas, minimum, priority, queue="default"):
    template = {"spec": {"priorityClassName": priority, "restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "minAvailable": minimum, "schedulerName": "volcano", "queue": queue, "priorityClassName": priority,
        "tasks": [{"name": "w", "replicas": replicas, "template": template}]}}


class Eviction(LiveTest):
    server_class = ApiServer

    def setUp(self):
        super().setUp()
        conf = pathlib.Path(self.folder) / "scheduler.conf"
        conf.write_text(CONF)
        self.scheduler_flags = (f"--scheduler-conf={conf}", "--schedule-period=100ms", "--leader-elect=false",
                                "--enable-metrics=false", "--enable-healthz=false")
        nodes = self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=4,cpu=2")
        self.until(lambda: "ready" in nodes.said(), "the nodes take pods")
        for node in self.items("/api/v1/nodes"):
            self.kubectl("annotate", "node", node["metadata"]["name"], f"strata.sh/stop-seconds={STOP}")
        self.part("controllers", "--leader-elect=false", *self.server.controller_flags)
        self.scheduler = self.part("scheduler", *self.scheduler_flags)
        for name, value in (("low", 1), ("high", 100)):
            self.make("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})

    def make(self, path, body):
        code, answer = self.server.json("POST", path, body)
        self.assertEqual(code, 201, answer)

    def make_job(self, *arguments, **keywords):
        self.make("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", job(*arguments, **keywords))

    def pods_of(self, name):
        return [pod for pod in self.items(PODS) if pod["metadata"]["name"].startswith(f"{name}-w-")]

    def running(self, name):
        return [pod for pod in self.pods_of(name)
                if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]]

    def run_for_long(self, name, pods):
        """Waits until the job runs, and lets its pods be as old as they must be to be evicted."""
        self.until(lambda: len(self.running(name)) == pods, f"{name} runs")
        for pod in self.running(name):
            condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}
            code, answer = self.server.json("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": {"conditions": [condition]}},
                                            {"Content-Type": "application/strategic-merge-patch+json"})
            self.assertEqual(code, 200, answer)

    def going(self, name):
        return [pod for pod in self.pods_of(name) if "deletionTimestamp" in pod["metadata"]]

    def messages(self, reason):
        return [event["message"] for event in self.items("/api/v1/namespaces/default/events") if event["reason"] == reason]

    def test_preempt_waits_for_pods_that_take_their_time(self):
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_job("high", 2, 2, "high")
        self.until(lambda: len(self.going("low")) == 4, "the whole gang goes")
        since = time.monotonic()
        waiting = self.pods_of("high")
        self.assertEqual(len([pod for pod in waiting if pod["status"].get("nominatedNodeName")]), 2, waiting)
        for pod in self.going("low"):
            conditions = {condition["type"]: condition for condition in pod["status"]["conditions"]}
            self.assertEqual(conditions["DisruptionTarget"]["reason"], "PreemptionByScheduler")
        self.until(lambda: len(self.running("high")) == 2, "the claimant runs")
        self.assertGreater(time.monotonic() - since, STOP - 3)
        self.assertTrue(any("Pod is evicted, because of preempt: default/high" in text for text in self.messages("Evict")))
        self.assertTrue(any("; waits up to 30s" in text for text in self.messages("Evicting")))

    def test_reclaim_takes_what_a_queue_has_too_much_of(self):
        for queue in ("one", "two"):
            self.make("/apis/scheduling.volcano.sh/v1beta1/queues", {
                "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": queue},
                "spec": {"weight": 1, "reclaimable": True}})
        self.make_job("wide", 4, 1, "low", queue="one")
        self.run_for_long("wide", 4)
        self.make_job("poor", 2, 2, "low", queue="two")
        self.until(lambda: len(self.running("poor")) == 2, "the poor queue has its share")
        self.assertEqual(len(self.running("wide")), 2)

    def test_a_killed_scheduler_leaves_nothing_half_done(self):
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_job("high", 4, 4, "high")
        self.until(lambda: self.going("low"), "the first one goes")
        self.scheduler.kill()
        self.scheduler = self.part("scheduler", *self.scheduler_flags)
        self.until(lambda: len(self.running("high")) == 4, f"the claimant runs\n{json.dumps(self.messages('Evicting'))}")
        self.assertEqual(self.messages("Evicting").count(self.messages("Evicting")[0]), len(self.messages("Evicting")))


if __name__ == "__main__":
    unittest.main()
