#!/usr/bin/env python3
"""Walk-throughs of guides for Volcano users, typed as a person types them: the kubectl on PATH against `strata up`."""
import base64
import http.server
import json
import pathlib
import re
import ssl
import subprocess
import threading
import unittest

from live import EXAMPLES, IS_REAL, STRATA, ApiServer, LiveTest
from strata_run import FIXTURES

JOB = "pytorch-distributed-training"
BELOW = {"s4": {"node0", "node1", "node2", "node3"}, "s5": {"node4", "node5", "node6", "node7"}}
BLOCKERS = """
apiVersion: v1
kind: Pod
metadata: {name: blocker-%d}
spec:
  schedulerName: volcano
  nodeName: node%d
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "1", nvidia.com/gpu: "1"}, limits: {nvidia.com/gpu: "1"}}}]
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: node%d}
status:
  allocatable: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "1", pods: "110"}
---
"""


class Walk(LiveTest):
    def workers(self, job=JOB):
        items = self.items("/api/v1/namespaces/default/pods")
        return [pod for pod in items if pod["metadata"].get("labels", {}).get("volcano.sh/job-name") == job]

    def places(self, job=JOB):
        return {pod["spec"].get("nodeName") for pod in self.workers(job)}

    def runs(self, count=4, job=JOB):
        phases = [pod["status"].get("phase") for pod in self.workers(job)]
        return phases == ["Running"] * count

    def pod_group(self, job=JOB):
        groups = self.items("/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups")
        return next((group for group in groups if group["metadata"]["name"].startswith(job)), None)

    def make_nodes(self, text, labelled=IS_REAL):
        """Under `up` every node is virtual; elsewhere those that say so."""
        self.apply(text.replace("metadata: {", 'metadata: {labels: {strata.sh/virtual: "true"}, ') if labelled else text)

    def build_by_hand(self, labelled=IS_REAL):
        """Nodes, then their labels, then HyperNodes that match the labels."""
        self.make_nodes("".join(NODE % i for i in range(8)), labelled)
        for i in range(8):
            self.kubectl("label", "node", f"node{i}", f"switch=s{i // 2}")
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "hypernodes.yaml"))

    def wait_for_describe(self, what, pattern):
        self.until(lambda: re.search(pattern, self.kubectl("describe", *what)), f"{pattern} in describe {what}")


class Training(Walk):
    def setUp(self):
        super().setUp()
        self.build_by_hand()

    def test_a_hard_gang_stays_below_one_tier_two_switch(self):
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "job.yaml"))
        self.until(self.runs, "four workers run")
        self.assertIn(self.places(), BELOW.values())
        self.assertEqual(len(re.findall(r" Running .* node[0-7] ", self.kubectl("get", "pods", "-o", "wide"))), 4)
        self.until(lambda: "phase: Running" in self.kubectl("get", "vcjob", JOB, "-o", "yaml"), "the Job says so")
        self.assertIn("highestTierAllowed: 2", self.kubectl("get", "vcjob", JOB, "-o", "yaml"))
        self.until(lambda: self.pod_group()["status"].get("phase") == "Running", "the PodGroup says so")
        story = subprocess.run([STRATA, "explain", f"default/{JOB}", "--kubeconfig", self.server.kubeconfig],
                               check=True, capture_output=True, text=True).stdout
        self.assertIn("is Running in s", story)
        self.assertRegex(story, r"If it were placed again now, it would go to s[45] \(tier 2\):")
        self.assertRegex(story, "tier 2: chosen: s[45] with score")

    def test_hypernodes_show_their_nodes(self):
        pattern = r"(?m)^s4 +2 +\S* +4 "
        self.until(lambda: re.search(pattern, self.kubectl("get", "hypernodes", "-o", "wide")), "node counts")

    def test_hard_waits_with_a_reason_and_starts_when_room_comes(self):
        for number, node in enumerate((1, 6)):
            self.apply(BLOCKERS % (number, node))
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "job.yaml"))
        self.until(lambda: len(self.workers()) == 4 or self.pod_group(), "the PodGroup")
        group = ("podgroup", self.pod_group()["metadata"]["name"])
        self.wait_for_describe(group, r"no HyperNode of tier 2 or below holds 4 pods")
        self.assertEqual(self.places() - {None}, set())
        self.kubectl("delete", "pod", "blocker-0")
        self.until(self.runs, "it starts")
        self.assertEqual(self.places(), BELOW["s4"])

    def test_soft_starts_at_once_across_switches(self):
        for number, node in enumerate((1, 6)):
            self.apply(BLOCKERS % (number, node))
        self.kubectl("apply", "-f", str(EXAMPLES / "soft" / "job.yaml"))
        self.until(lambda: len([pod for pod in self.items("/api/v1/namespaces/default/pods")
                                if pod["status"].get("phase") == "Running" and "blocker" not in pod["metadata"]["name"]])
                   == 4, "four workers run")

    def test_the_configuration_is_read_again_when_it_is_edited(self):
        self.kubectl("-n", "volcano-system", "get", "configmap", "volcano-scheduler-configmap")
        conf = (EXAMPLES / "scheduler-conf" / "configmap.yaml").read_text()
        self.apply(conf)
        self.until(lambda: self.server.logs("scheduler").count('"configuration read"') >= 2, "it is read again")
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "job.yaml"))
        self.until(self.runs, "four workers run")

    def test_the_lines_that_the_debugging_guide_greps_for(self):
        self.server.stop()
        self.start("-v", "5")
        self.build_by_hand()
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "job.yaml"))
        self.until(self.runs, "four workers run")
        logs = self.server.logs("scheduler")
        for line in ("hyperNode in session", "HyperNodesReadyToSchedule", "networkTopologyAware hyperNode score",
                     "networkTopologyAware node score"):
            self.assertIn(line, logs)

    @unittest.skipIf(IS_REAL, "the components are not pods there")
    def test_the_end_of_the_logs(self):
        tail = self.kubectl("logs", "-n", "volcano-system", "volcano-scheduler", "--tail=2")
        self.assertEqual(tail.count("\n"), 2)

    @unittest.skipIf(IS_REAL, "the components are not pods there")
    def test_logs_can_be_followed(self):
        follow = self.kubectl.start("logs", "-f", "-n", "volcano-system", "volcano-scheduler", "--tail=1")
        self.addCleanup(follow.communicate)
        self.addCleanup(follow.kill)
        self.assertTrue(follow.stdout.readline(), "it follows now")
        self.kubectl("apply", "-f", str(EXAMPLES / "training" / "job.yaml"))
        self.assertTrue(follow.stdout.readline())


class Recovery(Walk):
    """A scheduler that starts again knows where its jobs are."""
    server_class = ApiServer

    def start_parts(self):
        self.scheduler = self.part("scheduler", "--leader-elect=false", "--schedule-period=100ms", "-v", "5")

    def test_a_restarted_scheduler_goes_on_below_the_same_switch(self):
        self.part("virtual-nodes")
        self.part("controllers", *self.server.controller_flags)
        self.start_parts()
        self.build_by_hand(labelled=True)
        job = (EXAMPLES / "training" / "job.yaml").read_text()
        self.apply(job.replace("minAvailable: 4", "minAvailable: 2").replace("replicas: 4", "replicas: 2"))
        self.until(lambda: self.runs(2), "two workers run")
        home = next(nodes for nodes in BELOW.values() if self.places() <= nodes)
        leaves = {f"s{int(place[4:]) // 2}" for place in self.places()}
        switch = leaves.pop() if len(leaves) == 1 else next(name for name, nodes in BELOW.items() if nodes == home)
        group = self.pod_group()["metadata"]["name"]
        self.scheduler.kill()
        self.kubectl("patch", "vcjob", JOB, "--type=json",
                     "-p", '[{"op":"replace","path":"/spec/tasks/0/replicas","value":4}]')
        self.start_parts()
        self.until(lambda: self.runs(4), "two more run")
        self.assertTrue(self.places() <= home, self.places())
        recovered = re.search(rf'"AllocatedHyperNode in session" job="default/{group}" AllocatedHyperNode="(\S+)"',
                              self.scheduler.said())
        self.assertIsNotNone(recovered, self.scheduler.said())
        self.assertEqual(recovered.group(1), switch)


class Ufm(http.server.BaseHTTPRequestHandler):
    """A fabric manager that knows one user."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        good = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"admin:hush").decode()
        body = (FIXTURES / "ufm-ports.json").read_bytes() if good else b"who?"
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Fabric:
    """That fabric manager, behind TLS, until the test ends."""

    def __init__(self, test):
        key, certificate = (str(pathlib.Path(test.folder) / name) for name in ("key.pem", "cert.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ufm)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        self.url = f"https://127.0.0.1:{server.server_address[1]}"


class Discovery(Walk):
    def test_hypernodes_come_from_a_fabric_manager_with_a_secret(self):
        endpoint = Fabric(self).url
        self.kubectl("create", "secret", "generic", "ufm-credentials", "--from-literal=username=admin",
                     "--from-literal=password=hush", "-n", "volcano-system")
        for i in range(1, 9):
            self.make_nodes((NODE % i).replace(f"node{i}", f"node-{i:02d}"))
        conf = {"networkTopologyDiscovery": [{
            "source": "ufm", "enabled": True, "interval": "10m",
            "credentials": {"secretRef": {"name": "ufm-credentials", "namespace": "volcano-system"}},
            "config": {"endpoint": endpoint, "insecureSkipVerify": True}}]}
        self.apply(json.dumps({"apiVersion": "v1", "kind": "ConfigMap",
                               "metadata": {"name": "volcano-controller-configmap", "namespace": "volcano-system"},
                               "data": {"volcano-controller.conf": json.dumps(conf)}}))
        found = ("get", "hypernodes", "-l", "volcano.sh/network-topology-source=ufm")
        self.until(lambda: any(item.get("status", {}).get("nodeCount") == 8 for item in self.kubectl.json(*found)["items"]),
                   "HyperNodes of the fabric, up to one of all eight nodes")
        self.until(lambda: "Successfully started all network topology discoverers" in self.server.logs("controllers"),
                   "the line in the log")


if __name__ == "__main__":
    unittest.main()
