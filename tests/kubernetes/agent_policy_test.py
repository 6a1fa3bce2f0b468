#!/usr/bin/env python3
"""deploy/chart/rbac/agent.yaml on a real API server: what the account of `strata-agent` may do on its own Node and to pods there, and nothing else.
tests/agent/policy_test.cc has the same policy with the patches of the program."""
import json
import unittest

from live import IS_REAL, ApiServer, LiveTest

SPACE = "/api/v1/namespaces/volcano-system"
PODS = "/api/v1/namespaces/default/pods"
MERGE = {"Content-Type": "application/merge-patch+json"}
LOCK = "hami.io/mutex.lock"


@unittest.skipUnless(IS_REAL, "needs a real API server: tools/e2e.py agent-policy")
class AgentPolicy(LiveTest):
    server_class = ApiServer

    def setUp(self):
        super().setUp()
        for name in ("node-a", "node-b"):
            self.make("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {LOCK: "x,default,pod"}}})
            self.make(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-on-{name}", "annotations": {
                "hami.io/vgpu-node": name, "hami.io/bind-phase": "allocating"}}, "spec": {"nodeName": name, "containers": [{"name": "c", "image": "i"}]}})
        self.make(f"{SPACE}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent-of-a"}, "spec": {
            "nodeName": "node-a", "serviceAccountName": "strata-agent", "containers": [{"name": "c", "image": "i"}]}})
        self.addCleanup(self.server.json, "DELETE", f"{SPACE}/pods/agent-of-a", {"gracePeriodSeconds": 0})
        self.token = self.token_of("agent-of-a")
        self.until(lambda: self.patch("/api/v1/nodes/node-b", self.annotations({"strata.sh/agent": "{}"})) == 422, "the policy holds")

    def make(self, path, body):
        code, answer = self.server.json("POST", path, body)
        self.assertIn(code, (200, 201, 409), answer)

    def token_of(self, pod):
        """What the kubelet gives a pod: a token that says on which node the pod is. Without a pod it belongs to nobody."""
        spec = {"expirationSeconds": 3600}
        if pod:
            uid = self.server.json("GET", f"{SPACE}/pods/{pod}")[1]["metadata"]["uid"]
            spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": pod, "uid": uid}
        code, answer = self.server.json("POST", f"{SPACE}/serviceaccounts/strata-agent/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        self.assertEqual(code, 201, answer)
        return answer["status"]["token"]

    def ask(self, method, path, body=None, headers=None):
        """(status, answer) with the rights of the agent."""
        with_token = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        return self.server.json(method, path, body, with_token)

    def patch(self, path, body):
        code, self.answer = self.ask("PATCH", path, body, MERGE)
        return code

    @staticmethod
    def annotations(values):
        return {"metadata": {"annotations": values}}

    def allow(self, path, body):
        self.assertEqual(self.patch(path, body), 200, self.answer)

    def refuse(self, path, body, part):
        self.assertEqual(self.patch(path, body), 422, self.answer)
        self.assertIn(part, self.answer["message"])

    def test_its_own_node(self):
        node = "/api/v1/nodes/node-a"
        self.assertEqual(self.ask("GET", node)[0], 200)
        self.allow(node, self.annotations({"strata.sh/agent": "{}", "hami.io/node-nvidia-register": "[]", "hami.io/node-nvidia-score": "[]"}))
        self.allow(node, {"metadata": {"labels": {"nvidia.com/gpu.clique": "c.1", "nvidia.com/gpu.count": "8"}}})
        self.allow(node, self.annotations({LOCK: None}))
        self.refuse(node, self.annotations({LOCK: "x,default,other"}), "annotations of a Node")
        self.refuse(node, self.annotations({"hami.io/device-cordon": "GPU-1"}), "annotations of a Node")
        self.refuse(node, {"metadata": {"labels": {"strata.sh/gpu-agent": "true"}}}, "labels of a Node")
        self.refuse(node, {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}, "nothing else")
        self.refuse(node, {"spec": {"unschedulable": True}}, "nothing else")
        self.allow(node, self.annotations({key: None for key in ("strata.sh/agent", "hami.io/node-nvidia-register", "hami.io/node-nvidia-score")}))

    def test_another_node_and_its_pods(self):
        self.refuse("/api/v1/nodes/node-b", self.annotations({"strata.sh/agent": "{}"}), "the Node that it runs on")
        self.refuse(f"{PODS}/pod-on-node-b", self.annotations({"hami.io/bind-phase": "success"}), "the Node that it runs on")

    def test_pods_of_its_own_node(self):
        pod = f"{PODS}/pod-on-node-a"
        self.allow(pod, self.annotations({"hami.io/bind-phase": "success", "hami.io/vgpu-devices-to-allocate": ";",
                                          "hami.io/vgpu-devices-allocated": "GPU-1,NVIDIA,1,1:;"}))
        self.refuse(pod, self.annotations({"hami.io/vgpu-node": "node-b"}), "annotations of a pod")
        self.refuse(pod, {"metadata": {"labels": {"app": "x"}}}, "no label of a pod")
        self.refuse(pod, {"spec": {"activeDeadlineSeconds": 1}}, "nothing else")

    def test_a_token_without_a_pod_changes_nothing(self):
        self.token = self.token_of(None)
        self.refuse("/api/v1/nodes/node-a", self.annotations({"strata.sh/agent": "{}"}), "the Node that it runs on")

    def test_what_no_role_gives(self):
        for method, path in (("DELETE", "/api/v1/nodes/node-a"), ("DELETE", f"{PODS}/pod-on-node-a"), ("GET", "/api/v1/nodes"),
                             ("GET", "/api/v1/nodes/node-a/proxy/pods"), ("GET", "/api/v1/namespaces/default/secrets")):
            self.assertEqual(self.ask(method, path)[0], 403, path)
        self.assertEqual(self.patch("/api/v1/nodes/node-a/status", {"status": {"phase": "x"}}), 403, json.dumps(self.answer))


if __name__ == "__main__":
    unittest.main()
