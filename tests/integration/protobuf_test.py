#!/usr/bin/env python3
"""The bodies that kubectl 1.32 sends as protobuf (src/wire/kubectl_bodies.h), POSTed to `strata apiserver`, whatever kubectl there is on PATH."""
import pathlib
import re
import tempfile
import unittest

from api_server import ApiServer
from strata_run import HERE

SENT = {"Content-Type": "application/vnd.kubernetes.protobuf", "Accept": "application/vnd.kubernetes.protobuf,application/json"}
HEADER = pathlib.Path(HERE).parent.parent / "src" / "wire" / "kubectl_bodies.h"
CORE = "/api/v1/namespaces/default/"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

# Where a body goes, and what must come back of it, field by field.
BODIES = {
    "kNamespace": ("/api/v1/namespaces", {"kind": "Namespace", "metadata.name": "foo", "status.phase": "Active", "spec.finalizers": ["kubernetes"]}),
    "kSecret": (CORE + "secrets", {"kind": "Secret", "metadata.name": "s", "data": {"a": "Yg==", "bin": "eAD/eQ=="}, "type": "Opaque"}),
    "kConfigMap": (CORE + "configmaps", {"kind": "ConfigMap", "data": {"a": "b"}, "binaryData": {"bin": "eAD/eQ=="}}),
    "kQuota": (CORE + "resourcequotas", {"spec.hard": {"cpu": "1", "pods": "2"}, "spec.scopes": ["BestEffort"]}),
    "kPriorityClass": ("/apis/scheduling.k8s.io/v1/priorityclasses",
                       {"metadata.name": "pc", "value": 0, "description": "hi", "preemptionPolicy": "PreemptLowerPriority"}),
    "kBudget": (BUDGETS, {"metadata.name": "pdb", "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}}}),
    "kBudgetOfZero": (BUDGETS, {"metadata.name": "pdb2", "spec.maxUnavailable": 0}),
    "kServiceAccount": (CORE + "serviceaccounts", {"kind": "ServiceAccount", "metadata.name": "sa"}),
    "kService": (CORE + "services", {"metadata.labels": {"app": "svc"}, "spec.type": "ClusterIP", "spec.selector": {"app": "svc"},
                                     "spec.ports": [{"name": "80-8080", "protocol": "TCP", "port": 80, "targetPort": 8080}]}),
    "kNodePort": (CORE + "services", {"metadata.name": "svc2", "spec.type": "NodePort",
                                      "spec.ports": [{"name": "80-http", "protocol": "TCP", "port": 80, "targetPort": "http", "nodePort": 30001}]}),
    "kCanI": ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"kind": "SelfSubjectAccessReview", "status.allowed": True}),
}


def field(body, path):
    for key in path.split("."):
        body = body[key]
    return body


class Protobuf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = ApiServer(folder.name)
        self.addCleanup(self.server.stop)
        found = re.findall(r'inline constexpr std::string_view (k\w+) =\s*((?:"[0-9a-f]*"\s*)+);', HEADER.read_text())
        self.bodies = {name: bytes.fromhex("".join(re.findall("[0-9a-f]+", text))) for name, text in found}

    def test_every_body_is_taken_and_comes_back(self):
        self.assertEqual(sorted(self.bodies), sorted(BODIES))
        for name, (path, wanted) in BODIES.items():
            with self.subTest(name):
                status, answer = self.server.json("POST", path + "?fieldManager=kubectl-create&fieldValidation=Strict", self.bodies[name], SENT)
                self.assertEqual(status, 201, answer)
                self.check(answer, wanted)
                if name != "kServiceAccount" and name != "kCanI":  # which have no field that could be owned
                    self.assertEqual(answer["metadata"]["managedFields"][0]["manager"], "kubectl-create")
                if name != "kCanI":  # which is kept nowhere
                    self.check(self.server.json("GET", f"{path}/{answer['metadata']['name']}")[1], wanted)

    def check(self, body, wanted):
        for path, value in wanted.items():
            self.assertEqual(field(body, path), value, path)

    def test_a_dry_run_leaves_nothing(self):
        path = BODIES["kSecret"][0]
        status, answer = self.server.json("POST", path + "?dryRun=All", self.bodies["kSecret"], SENT)
        self.assertEqual((status, answer["data"]["a"]), (201, "Yg=="))
        self.assertEqual(self.server.json("GET", path + "/s")[0], 404)

    def test_a_body_that_is_cut_or_changed_is_refused_and_never_fatal(self):
        for name, (path, _) in BODIES.items():
            body = self.bodies[name]
            for cut in range(0, len(body), 7):
                status, _, text = self.server.request("POST", path + "?dryRun=All", body[:cut], SENT)
                self.assertIn(status, (201, 400, 415, 422), text)
            broken = bytes([*body[:-9], 0xff, *body[-8:]])
            self.assertIn(self.server.request("POST", path + "?dryRun=All", broken, SENT)[0], (201, 400, 422))
        status, answer = self.server.json("POST", CORE + "secrets", self.bodies["kConfigMap"], SENT)
        self.assertEqual(status, 400, answer)  # of another kind
        self.assertEqual(self.server.json("GET", "/api/v1/namespaces/default")[0], 200)


if __name__ == "__main__":
    unittest.main()
