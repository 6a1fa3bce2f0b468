#!/usr/bin/env python3
"""A `--data-dir` that an older version of strata left behind, killed while it ran, still opens, and its cluster goes on.

tests/fixtures/data-dir-44054e0.tar.xz was written by `strata up` of commit 44054e0 with the nodes, HyperNodes and Job of
examples/training, a pod that fits nowhere, a Queue, a PriorityClass, a Namespace and two ConfigMaps, one of them deleted."""
import pathlib
import tarfile
import tempfile
import unittest

from api_server import ApiServer, Kubectl, Up, new_kubectl, read_until
from strata_run import HERE

FOLDER = HERE.parent / "fixtures" / "data-dir-44054e0.tar.xz"
LIMIT = 120  # seconds
LAST_VERSION = 104  # of the list of pods, shortly before the end
NODES = {  # of each pod of the Job, with its uid
    "pytorch-distributed-training-worker-0": ["node0", "cb689efd-c115-42ad-b86a-d34894bb6b25"],
    "pytorch-distributed-training-worker-1": ["node1", "aa4b49aa-4d30-40bd-bf99-f2e769b0636e"],
    "pytorch-distributed-training-worker-2": ["node2", "f681d9e7-7a90-4dd7-9d2c-7beb2aad6ca1"],
    "pytorch-distributed-training-worker-3": ["node3", "246275b8-8b09-47bf-9e82-6a33dbc0cc1e"],
}


class OldData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with tarfile.open(FOLDER) as archive:
            archive.extractall(self.folder)

    def start(self, kind):
        server = kind(self.folder, "--data-dir", str(self.folder / "data"))
        self.addCleanup(server.end)
        return server

    def names(self, server, path):
        return sorted(item["metadata"]["name"] for item in server.json("GET", path)[1]["items"])

    def job_pods(self, server):
        pods = server.json("GET", "/api/v1/namespaces/default/pods")[1]["items"]
        return {pod["metadata"]["name"]: [pod["spec"].get("nodeName"), pod["metadata"]["uid"]] for pod in pods}

    def test_every_object_is_there(self):
        server = self.start(ApiServer)
        self.assertEqual(self.names(server, "/api/v1/nodes"), [f"node{i}" for i in range(8)])
        self.assertEqual(self.names(server, "/apis/topology.volcano.sh/v1alpha1/hypernodes"), [f"s{i}" for i in range(7)])
        self.assertEqual(self.names(server, "/apis/batch.volcano.sh/v1alpha1/jobs"), ["pytorch-distributed-training"])
        self.assertIn("research", self.names(server, "/apis/scheduling.volcano.sh/v1beta1/queues"))
        self.assertIn("high", self.names(server, "/apis/scheduling.k8s.io/v1/priorityclasses"))
        self.assertIn("team", self.names(server, "/api/v1/namespaces"))
        configs = self.names(server, "/api/v1/namespaces/default/configmaps")
        self.assertIn("kept", configs)
        self.assertNotIn("deleted", configs)
        self.assertEqual(self.job_pods(server), NODES)

    def test_versions_go_on(self):
        server = self.start(ApiServer)
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
        status, made = server.json("POST", "/api/v1/namespaces/default/configmaps", config)
        self.assertEqual(status, 201)
        self.assertGreater(int(made["metadata"]["resourceVersion"]), LAST_VERSION)

    def test_its_cluster_goes_on(self):
        server = self.start(Up)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"},
               "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]}}
        self.assertEqual(server.json("POST", "/api/v1/namespaces/team/pods", pod)[0], 201)
        kubectl = Kubectl(new_kubectl(), server.kubeconfig, self.folder)
        with kubectl.start("wait", "pod/new", "--namespace=team", "--for=condition=PodScheduled", f"--timeout={LIMIT}s") as waits:
            read_until(waits, "condition met", LIMIT)
        self.assertEqual(self.job_pods(server), NODES)


if __name__ == "__main__":
    unittest.main()
