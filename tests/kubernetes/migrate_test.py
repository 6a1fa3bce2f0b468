#!/usr/bin/env python3
"""docs/migrate-from-volcano.md: what Volcano's own controllers and scheduler made goes on under ours, and back. The objects are written here as Volcano
leaves them; the other scheduler is a holder of its lease."""
import json
import time
import unittest

from live import VIRTUAL, ApiServer, LiveTest

JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
PODS = "/api/v1/namespaces/default/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases"
TIMES = ("--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=1s")
CONTAINER = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
MERGE = {"Content-Type": "application/merge-patch+json"}
KEEP = ("jobs", "podgroups", "pods", "queues", "hypernodes")


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())


class Migration(LiveTest):
    server_class = ApiServer

    def make(self, path, body, status=None):
        """Writes an object as another field manager does, and its status where that is a subresource."""
        code, made = self.server.json("POST", f"{path}?fieldManager=vc-controller-manager", body)
        self.assertEqual(code, 201, made)
        if status:
            code, made = self.server.json("PATCH", f"{path}/{made['metadata']['name']}/status?fieldManager=vc-controller-manager",
                                          {"status": status}, MERGE)
            self.assertEqual(code, 200, made)
        return made

    # --- what Volcano left

    def setUp(self):
        super().setUp()
        self.part("virtual-nodes")
        for i in range(4):
            self.make("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}", "labels": VIRTUAL}})
        self.make_hypernodes()
        self.make_queue()
        self.job = self.make_job()
        self.group = self.make_group()
        for index, node in enumerate(("n0", "n1")):
            self.make_pod(index, node)
        self.until(lambda: [self.phase(f"train-worker-{i}") for i in range(2)] == ["Running"] * 2, "the old pods run")

    def make_hypernodes(self):
        for name, members in (("left", ("n0", "n1")), ("right", ("n2", "n3"))):
            self.make(HYPERNODES, {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
                                   "metadata": {"name": name, "labels": {"volcano.sh/network-topology-source": "ufm"}},
                                   "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": member}}}
                                                                   for member in members]}}, {"nodeCount": 2})

    def make_queue(self):
        self.make(QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "team"},
                           "spec": {"weight": 4, "reclaimable": True, "dequeueStrategy": "traverse"}},
                  {"state": "Open", "running": 1, "reservation": {}, "allocated": {"cpu": "2", "memory": "0", "pods": "2"}})

    def make_job(self):
        spec = {"minAvailable": 2, "queue": "team", "schedulerName": "volcano", "maxRetry": 3,
                "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
                "policies": [{"event": "PodEvicted", "action": "RestartJob"}], "plugins": {"env": []},
                "tasks": [{"name": "worker", "replicas": 2, "minAvailable": 2, "maxRetry": 3,
                           "template": {"metadata": {}, "spec": {"restartPolicy": "OnFailure", "containers": [CONTAINER]}}}]}
        status = {"state": {"phase": "Running", "lastTransitionTime": now()[:19] + "Z"}, "minAvailable": 2, "running": 2, "version": 0,
                  "taskStatusCount": {"worker": {"phase": {"Running": 2}}}, "controlledResources": {"plugin-env": "env"},
                  "conditions": [{"status": phase, "lastTransitionTime": now()[:19] + "Z"} for phase in ("Pending", "Running")]}
        return self.make(JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}, status)

    def owner(self):
        return [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train", "uid": self.job["metadata"]["uid"],
                 "controller": True, "blockOwnerDeletion": True}]

    def make_group(self):
        """As Volcano makes it: it has no version of the job."""
        return self.make(GROUPS, {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": f"train-{self.job['metadata']['uid']}", "ownerReferences": self.owner()},
            "spec": {"minMember": 2, "minTaskMember": {"worker": 2}, "queue": "team", "minResources": {"cpu": "2", "count/pods": "2",
                                                                                                     "pods": "2", "requests.cpu": "2"},
                     "networkTopology": {"mode": "hard", "highestTierAllowed": 1}},
            "status": {"phase": "Running", "running": 2, "conditions": [
                {"type": "Scheduled", "status": "True", "transitionID": "a", "reason": "tasks in gang are ready to be scheduled",
                 "lastTransitionTime": now()[:19] + "Z"}]}})

    def make_pod(self, index, node):
        labels = {"volcano.sh/job-name": "train", "volcano.sh/job-namespace": "default", "volcano.sh/queue-name": "team",
                  "volcano.sh/task-index": str(index), "volcano.sh/task-spec": "worker"}
        annotations = {"scheduling.k8s.io/group-name": self.group["metadata"]["name"], "volcano.sh/job-name": "train",
                       "volcano.sh/job-version": "0", "volcano.sh/job-retry-count": "0", "volcano.sh/queue-name": "team",
                       "volcano.sh/task-index": str(index), "volcano.sh/task-spec": "worker", "volcano.sh/template-uid": "train-worker"}
        self.make(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": f"train-worker-{index}", "labels": labels, "annotations": annotations, "ownerReferences": self.owner()},
            "spec": {"schedulerName": "volcano", "restartPolicy": "OnFailure", "nodeName": node, "containers": [CONTAINER]}})

    # --- who leads

    def hold_lease(self, name, seconds=15):
        """Renews a lease as the other program does that holds it."""
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": {
            "holderIdentity": "volcano-scheduler-7d9_4f2b", "leaseDurationSeconds": seconds, "acquireTime": now(), "renewTime": now()}}
        code, answer = self.server.json("POST", LEASES, body)
        if code == 409:
            code, answer = self.server.json("PATCH", f"{LEASES}/{name}", {"spec": body["spec"]}, MERGE)
        self.assertIn(code, (200, 201), answer)

    def start_ours(self):
        self.controllers = self.part("controllers", *TIMES)
        self.scheduler = self.part("scheduler", *TIMES, "--schedule-period=100ms")

    def holder(self, name):
        lease = self.get(f"{LEASES}/{name}")
        return lease["spec"].get("holderIdentity", "") if lease else ""

    # --- what must stay

    def identities(self):
        """{what: uid} of everything that Volcano left."""
        paths = dict(zip(KEEP, (JOBS, GROUPS, PODS, QUEUES, HYPERNODES)))
        return {(kind, item["metadata"]["name"]): item["metadata"]["uid"] for kind, path in paths.items() for item in self.items(path)}

    def assert_kept(self, before):
        after = self.identities()
        self.assertEqual({key: after.get(key) for key in before}, before)

    def workers(self):
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in self.items(PODS) if pod["status"].get("phase") == "Running"}

    def test_nothing_is_made_again_and_everything_goes_on(self):
        before = self.identities()
        self.start_ours()
        self.until(lambda: self.holder("volcano") and self.holder("vc-controller-manager"), "ours lead")
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "fresh"}, "spec": {
                "minAvailable": 2, "queue": "team", "schedulerName": "volcano", "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
                "tasks": [{"name": "worker", "replicas": 2, "template": {"spec": {"containers": [CONTAINER]}}}]}}))
        self.until(lambda: sum(name.startswith("fresh-") for name in self.workers()) == 2, "a new job runs")
        self.assert_kept(before)
        self.assertEqual(self.get(f"{JOBS}/train")["status"]["state"]["phase"], "Running")
        self.assertEqual(self.get(f"{GROUPS}/{self.group['metadata']['name']}")["status"]["phase"], "Running")
        self.until(lambda: self.get(f"{QUEUES}/team")["status"].get("running") == 2, "the queue counts old and new")
        self.grow()
        self.assert_kept(before)

    def grow(self):
        """The old job gets a third worker, below the same HyperNode as the others."""
        self.kubectl("patch", "vcjob", "train", "--type=json", "-p", '[{"op":"replace","path":"/spec/tasks/0/replicas","value":3}]')
        self.until(lambda: "train-worker-2" in self.workers(), "the third worker runs")
        self.assertIn(self.workers()["train-worker-2"], ("n0", "n1"))

    def test_a_lost_pod_of_an_old_job_is_replaced_in_its_place(self):
        self.start_ours()
        self.until(lambda: self.holder("volcano"), "ours lead")
        old = self.pod("train-worker-1")["metadata"]["uid"]
        self.kubectl("delete", "pod", "train-worker-1", "--wait=false")
        self.until(lambda: (self.pod("train-worker-1") or {"metadata": {"uid": old}})["metadata"]["uid"] != old
                   and "train-worker-1" in self.workers(), "a new one runs")
        self.assertIn(self.workers()["train-worker-1"], ("n0", "n1"))

    def test_ours_wait_while_volcano_holds_the_lease(self):
        for name in ("volcano", "vc-controller-manager"):
            self.hold_lease(name)
        before = self.identities()
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits"}, "spec": {"schedulerName": "volcano", "containers": [CONTAINER]}}))
        self.start_ours()
        begun = time.monotonic()

        def held_long_enough():
            for name in ("volcano", "vc-controller-manager"):
                self.hold_lease(name)
            self.assertNotIn("nodeName", self.pod("waits")["spec"])
            return time.monotonic() - begun > 20  # twice the lease of ours

        self.until(held_long_enough, "Volcano has held the leases for twice their time")
        self.until(lambda: self.phase("waits") == "Running", "Volcano is gone, ours take over")
        self.assert_kept(before)

    def test_going_back_leaves_everything_as_it_is(self):
        self.start_ours()
        self.until(lambda: self.holder("volcano") and self.holder("vc-controller-manager"), "ours lead")
        before = self.identities()
        for part, name in ((self.scheduler, "volcano"), (self.controllers, "vc-controller-manager")):
            begun = time.monotonic()
            part.stop()
            if time.monotonic() - begun < 2:  # else it had no answer in time, and keeps it to its end
                self.assertEqual(self.holder(name), "", "the lease is given back, the other need not wait")
        self.assert_kept(before)


if __name__ == "__main__":
    unittest.main()
