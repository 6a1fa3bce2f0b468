#!/usr/bin/env python3
"""Virtual nodes: what they do for Nodes and pods, and what they leave alone. Pods are bound by hand."""
import json
import unittest

from live import IS_REAL, VIRTUAL, ApiServer, LiveTest, ready_of

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {},
       "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "busybox"}]}}
NOT_READY = "node.kubernetes.io/not-ready"
USUAL = VIRTUAL if IS_REAL else {}  # under `up` every node is virtual


class VirtualNodesTest(LiveTest):
    def make_pod(self, name, node=None, annotations=None, finalizers=None):
        pod = json.loads(json.dumps(POD))
        pod["metadata"] = {"name": name, "annotations": annotations or {}, "finalizers": finalizers or []}
        if node:
            pod["spec"]["nodeName"] = node
        status, body = self.server.json("POST", "/api/v1/namespaces/default/pods", pod)
        self.assertEqual(status, 201, body)

    def make_node(self, name, status=None, labels=USUAL):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        if status:
            node["status"] = status
        code, body = self.server.json("POST", "/api/v1/nodes", node)
        self.assertEqual(code, 201, body)

    def patch(self, path, body):
        code, answer = self.server.json("PATCH", path, body, {"Content-Type": "application/strategic-merge-patch+json"})
        self.assertEqual(code, 200, answer)

    def set_ready(self, node, status):
        self.patch(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [{"type": "Ready", "status": status}]}})

    def is_settled(self, name):
        """Ready, and without the taint that it was born with."""
        node = self.node(name)
        return ready_of(node) == "True" and NOT_READY not in str(node["spec"].get("taints"))

    def writes_within(self, seconds):
        """What changes of Nodes and pods a watch sees in so many seconds."""
        seen = []
        for kind in ("nodes", "pods"):
            version = self.get(f"/api/v1/{kind}")["metadata"]["resourceVersion"]
            _, _, text = self.server.request(
                "GET", f"/api/v1/{kind}?watch=true&resourceVersion={version}&timeoutSeconds={seconds}")
            seen += [line for line in text.splitlines() if line]
        return seen


class EveryNode(VirtualNodesTest):
    """Under `up`."""
    arguments = ("--generate", "spines=1,racks=1,nodes=1")

    def test_the_pods_of_a_deleted_node_go_after_it(self):
        self.make_pod("left", "node-0")
        self.make_pod("ghost", "never-there")
        self.until(lambda: self.phase("left") == "Running", "the pod runs")
        self.assertEqual(self.server.json("DELETE", "/api/v1/nodes/node-0")[0], 200)
        self.until(lambda: not self.items("/api/v1/namespaces/default/pods"), "both pods are gone")

    def test_a_node_of_the_user_becomes_ready(self):
        self.make_node("mine")
        self.until(lambda: self.is_settled("mine"), "Ready")
        self.assertEqual(self.node("mine")["status"]["allocatable"]["cpu"], "96")
        self.assertRegex(self.kubectl("get", "nodes"), r"mine +Ready ")

    def test_a_status_that_was_given_stays(self):
        self.make_node("small", {"allocatable": {"cpu": "4", "pods": "10"}})
        self.make_node("broken", {"conditions": [{"type": "Ready", "status": "False"}]})
        self.until(lambda: self.is_settled("small"), "Ready")
        self.assertEqual(self.node("small")["status"]["allocatable"], {"cpu": "4", "pods": "10"})
        self.assertEqual(ready_of(self.node("broken")), "False")

    def wait_for_others(self):
        """kube-controller-manager writes to each new node, too."""
        if IS_REAL:
            self.until(lambda: all(self.is_settled(node["metadata"]["name"]) and "node.alpha.kubernetes.io/ttl" in node["metadata"].get("annotations", {})
                                   for node in self.items("/api/v1/nodes")), "nobody else writes")

    def test_what_somebody_else_writes_is_not_put_back(self):
        self.make_pod("p", "node-0")
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.wait_for_others()
        self.patch("/api/v1/nodes/node-0/status", {"status": {"allocatable": {"cpu": "1"}}})
        self.patch("/api/v1/namespaces/default/pods/p/status", {"status": {"phase": "Failed", "reason": "Mine"}})
        self.assertEqual(self.writes_within(2), [])
        self.assertEqual(self.node("node-0")["status"]["allocatable"]["cpu"], "1")
        self.assertEqual(self.phase("p"), "Failed")

    def test_an_idle_cluster_writes_nothing(self):
        self.make_pod("p", "node-0")
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.wait_for_others()
        self.assertEqual(self.writes_within(3), [])

    def test_a_bound_pod_runs_and_looks_like_it(self):
        self.make_pod("p")
        code, answer = self.server.json("POST", "/api/v1/namespaces/default/pods/p/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "node-0"}})
        self.assertEqual(code, 201, answer)
        self.kubectl("wait", "pod/p", "--for=condition=Ready", "--timeout=30s")
        status = self.pod("p")["status"]
        self.assertTrue(status["containerStatuses"][0]["ready"])
        self.assertIn("running", status["containerStatuses"][0]["state"])
        self.assertRegex(self.kubectl("get", "pod", "p", "-o", "wide"), r"1/1 +Running +0 +\S+ +10\.\S+ +node-0")

    def test_a_pod_ends_by_its_annotations_whatever_its_restart_policy(self):
        self.make_pod("good", "node-0", {"strata.sh/run-seconds": "0.5"})
        self.make_pod("bad", "node-0", {"strata.sh/run-seconds": "0.5", "strata.sh/exit-code": "1"})
        self.until(lambda: self.phase("good") == "Succeeded", "Succeeded")
        self.until(lambda: self.phase("bad") == "Failed", "Failed")
        for name, code in (("good", 0), ("bad", 1)):
            state = self.pod(name)["status"]["containerStatuses"][0]["state"]
            self.assertEqual(state["terminated"]["exitCode"], code)

    def test_a_deleted_pod_goes_without_waiting_for_its_grace(self):
        self.make_pod("p", "node-0")
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.kubectl("delete", "pod", "p", "--grace-period=1000", "--timeout=30s")
        self.assertIsNone(self.pod("p"))

    def test_finalizers_hold_a_deleted_pod(self):
        self.make_pod("p", "node-0", finalizers=["example.com/hold"])
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.kubectl("delete", "pod", "p", "--wait=false")
        self.until(lambda: self.pod("p")["metadata"].get("deletionGracePeriodSeconds") == 0, "no grace left")
        self.kubectl("patch", "pod", "p", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.until(lambda: self.pod("p") is None, "gone")

    def test_a_node_can_be_deleted_in_the_foreground(self):
        self.kubectl("delete", "node", "node-0", "--cascade=foreground", "--timeout=30s")
        self.assertIsNone(self.node("node-0"))

    def test_a_failed_node_runs_nothing_until_it_is_written_ready(self):
        self.make_pod("old", "node-0", {"strata.sh/run-seconds": "10"})
        self.until(lambda: self.phase("old") == "Running", "Running")
        self.set_ready("node-0", "False")
        self.until(lambda: NOT_READY in str(self.node("node-0")["spec"].get("taints")), "the taint")
        self.make_pod("new", "node-0")
        self.assertEqual([line for line in self.writes_within(2) if '"phase":"Running"' in line], [])
        self.assertIn("NotReady", self.kubectl("get", "node", "node-0"))
        self.set_ready("node-0", "True")
        self.until(lambda: self.phase("new") == "Running" and self.phase("old") == "Succeeded", "it goes on")
        self.until(lambda: self.is_settled("node-0"), "no taint")


class Agents(VirtualNodesTest):
    """Under `up`, with GPUs."""
    arguments = ("--generate", "spines=1,racks=1,nodes=1,gpus=4:dgx1v")

    def make_gpu_pod(self, name, gpus):
        pod = json.loads(json.dumps(POD))
        pod["metadata"] = {"name": name}
        pod["spec"]["schedulerName"] = "volcano"
        pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
        status, body = self.server.json("POST", "/api/v1/namespaces/default/pods", pod)
        self.assertEqual(status, 201, body)

    def bind_phase(self, name):
        return self.pod(name)["metadata"].get("annotations", {}).get("hami.io/bind-phase")

    def test_a_pod_with_gpus_starts_when_the_agent_has_served_it(self):
        self.make_gpu_pod("p", 2)
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.assertEqual(self.bind_phase("p"), "success")

    def test_a_stopped_agent_leaves_its_pods_unstarted(self):
        self.kubectl("annotate", "node", "node-0", "strata.sh/agent-stopped=true")
        self.make_gpu_pod("p", 2)
        self.until(lambda: self.bind_phase("p") == "allocating", "bound")
        self.make_pod("plain", "node-0")
        self.until(lambda: self.phase("plain") == "Running", "others start")
        self.assertEqual(self.phase("p"), "Pending")
        self.kubectl("annotate", "node", "node-0", "strata.sh/agent-stopped-")
        self.until(lambda: self.phase("p") == "Running", "Running")
        self.assertEqual(self.bind_phase("p"), "success")

    def test_a_pod_whose_record_names_no_gpu_of_the_node_fails_and_says_why(self):
        pod = json.loads(json.dumps(POD))
        record = "GPU-elsewhere,NVIDIA,1000,100:;"
        pod["metadata"] = {"name": "p", "annotations": {"hami.io/vgpu-node": "node-0", "hami.io/vgpu-devices-allocated": record}}
        pod["spec"]["nodeName"] = "node-0"
        pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 1}}
        status, body = self.server.json("POST", "/api/v1/namespaces/default/pods", pod)
        self.assertEqual(status, 201, body)
        self.until(lambda: self.phase("p") == "Failed", "Failed")
        self.assertEqual(self.bind_phase("p"), "failed")
        self.assertEqual(self.pod("p")["status"]["reason"], "UnexpectedAdmissionError")
        self.assertIn("GPU-elsewhere, which this node does not have", self.pod("p")["status"]["message"])


class Restart(VirtualNodesTest):
    def setUp(self):
        self.arguments = ()
        super().setUp()

    def start(self, *arguments):
        return super().start("--data-dir", f"{self.folder}/data", *arguments)

    def test_everything_goes_on_after_kill_nine(self):
        self.server.stop()
        self.start("--generate", "spines=1,racks=1,nodes=2")
        self.make_pod("long", "node-0")
        self.make_pod("short", "node-1", {"strata.sh/run-seconds": "15"})
        self.until(lambda: self.phase("short") == self.phase("long") == "Running", "Running")
        self.set_ready("node-1", "False")
        self.kubectl("delete", "pod", "long", "--wait=false")
        self.server.kill()
        self.start()
        self.assertEqual(ready_of(self.node("node-0")), "True")
        self.assertEqual(ready_of(self.node("node-1")), "False")
        self.until(lambda: self.pod("long") is None, "the deleted pod goes")
        self.assertEqual(self.phase("short"), "Running")
        self.set_ready("node-1", "True")
        self.until(lambda: self.phase("short") == "Succeeded", "it ends")


class BesideOtherNodes(VirtualNodesTest):
    """`strata virtual-nodes` against an API server that may have real nodes."""
    server_class = ApiServer

    def test_only_labelled_nodes_are_touched_and_their_leases_renewed(self):
        self.make_node("real", labels={})
        self.make_node("mine", labels=VIRTUAL)
        part = self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=2,gpus=4:dgx1v")
        self.until(lambda: "ready" in part.said(), "ready")
        for name in ("mine", "node-0", "node-1"):
            self.until(lambda name=name: self.is_settled(name), f"{name} settled")
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        self.until(lambda: len(self.items(leases)) == 3, "leases")
        self.assertIsNone(ready_of(self.node("real")))
        self.make_pod("there", "real")
        self.make_pod("here", "node-1")
        self.until(lambda: self.phase("here") == "Running", "Running")
        self.assertEqual(self.phase("there"), "Pending")
        self.assertEqual(self.node("node-0")["status"]["capacity"]["nvidia.com/gpu"], "40")
        self.assertIn("GPU-node-0-3", self.node("node-0")["metadata"]["annotations"]["hami.io/node-nvidia-register"])
        part.stop()


if __name__ == "__main__":
    unittest.main()
