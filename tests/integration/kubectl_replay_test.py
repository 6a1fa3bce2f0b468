#!/usr/bin/env python3
"""The recorded requests of kubectl 1.20 and 1.36 (tests/fixtures/kubectl), sent again one by one."""
import json
import re
import tempfile
import unittest

from api_server import ApiServer, traces

# What the recordings found there, besides what they made themselves.
BEFORE = [
    ("/api/v1/nodes", {"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "1"}}}),
    ("/api/v1/namespaces/default/pods",
     {"metadata": {"name": "p1"}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}),
    ("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
     {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j1"},
      "spec": {"minAvailable": 1, "tasks": [{"name": "w", "replicas": 3, "template": {
          "spec": {"containers": [{"name": "c", "image": "busybox"}]}}}]}}),
    ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {"metadata": {"name": "n1"}}),
]
# Deployments are not served; nobody here runs the pods whose logs are read; the recording knew no queue q7.
UNSERVED = re.compile(r"/apis/apps/|/log(\?|$)|^/openapi/v3/apis/apps|^/swagger")


class Replay(unittest.TestCase):
    def replay(self, name):
        with tempfile.TemporaryDirectory() as folder:
            server = ApiServer(folder)
            try:
                for path, body in BEFORE:
                    self.assertEqual(server.json("POST", path, body)[0], 201, path)
                sent = sum(self.replay_one(server, command, *request)
                           for command, requests in traces(name) for request in requests)
                self.assertGreater(sent, 30)
            finally:
                server.stop()

    def replay_one(self, server, command, method, target, headers, body):
        if UNSERVED.search(target) or "watch=true" in target:
            return 0
        text = "\n".join(body)
        if method in ("PUT", "PATCH", "POST"):
            try:
                json.loads(text)
            except ValueError:
                return 0  # recorded cut short
        text = text.replace('"queue":"q7"', '"queue":"default"')
        text = re.sub(r',"resourceVersion":"\d+"', "", text)
        status, _, answer = server.request(method, target, text or None, {
            "Accept": headers["Accept"], "Content-Type": None if headers.get("Content-Type") == "None" else headers.get("Content-Type")})
        expected = self.expected(command, method, target)
        self.assertIn(status, expected, f"{command}: {method} {target}: {answer[:300]}")
        return 1

    @staticmethod
    def expected(command, method, target):
        if method == "POST":
            return (201, 409)  # the pod and the job are there already
        if "--server-side" in command:
            return (200, 201, 409)  # `kubectl edit` before it owns a field that it wants
        if method == "PUT":
            return (422,)  # a custom kind wants the resourceVersion that was cut out
        if method == "GET" and command.startswith(("kubectl delete", "kubectl apply")):
            return (200, 404)
        return (200, 201)

    def test_kubectl_1_20(self):
        self.replay("kubectl-1.20-trace.txt")

    def test_kubectl_1_36(self):
        self.replay("kubectl-1.36-trace.txt")


if __name__ == "__main__":
    unittest.main()
