#!/usr/bin/env python3
"""`strata controllers` on `strata apiserver`, seen through kubectl. The scheduler and the kubelets are this test."""
import base64
import json
import pathlib
import re
import signal
import ssl
import subprocess
import tempfile
import time
import unittest

from api_server import ApiServer, Kubectl, new_kubectl
from discover_http_test import PASSWORD, USER, serve
from strata_run import FIXTURES, PODS, STRATA, wait_until

STARTED = "Successfully started all network topology discoverers"


def job(name, replicas=2, **spec):
    template = {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 7,
                         "containers": [{"name": "c", "image": "i"}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"tasks": [{"name": "worker", "replicas": replicas, "template": template}], **spec}}


# Longer than a machine stalls. The process that creates the lease waits for its whole duration first.
LEASE = ("--leader-elect=true", "--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=500ms")


class Controllers:
    """A running `strata controllers`, with its log in a file, and without a lease unless told otherwise."""

    def __init__(self, folder, kubeconfig, *arguments, lease=("--leader-elect=false",)):
        self.log = pathlib.Path(folder) / f"controllers-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [STRATA, "controllers", "--kubeconfig", kubeconfig, "--collect-garbage", "--kube-api-qps", "0", "-v", "2",
                 "--discovery-allow", "/bin/sleep",
                 *lease, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        if code != 0:
            raise AssertionError(f"exit {code}: {self.log.read_text()}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class ControllersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.server = ApiServer(cls.scratch.name)
        cls.controllers = Controllers(cls.scratch.name, cls.server.kubeconfig)
        cls.kubectl = Kubectl(new_kubectl(), cls.server.kubeconfig, cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.controllers.stop()
        cls.server.stop()
        cls.scratch.cleanup()

    def eventually(self, check, limit=30):
        """Waits until check() is true; its last answer is shown when it never is."""
        answers = []

        def holds():
            answers.append(check())
            return answers[-1]

        try:
            wait_until(holds, limit, "it")
        except AssertionError as error:
            self.fail(f"{error}: {answers[-1]!r}; log:\n{self.controllers.log.read_text()[-3000:]}")
        return answers[-1]

    def get(self, path):
        status, body = self.server.json("GET", path)
        return body if status == 200 else None

    def items(self, path):
        return (self.get(path) or {"items": []})["items"]

    def apply(self, thing):
        self.kubectl("apply", "-f", "-", stdin=json.dumps(thing))

    def job(self, name):
        return self.get(f"/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/{name}")

    def phase(self, name):
        return ((self.job(name) or {}).get("status") or {}).get("state", {}).get("phase")

    def pods(self, name):
        return self.items(f"/api/v1/namespaces/default/pods?labelSelector=volcano.sh/job-name%3D{name}")

    def patch(self, path, patch):
        status, body = self.server.json("PATCH", path, patch, {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(status, 200, body)

    def admit(self, name):
        """The scheduler lets the job's PodGroup in."""
        uid = self.job(name)["metadata"]["uid"]
        path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/{name}-{uid}"
        self.eventually(lambda: (self.get(path) or {}).get("status", {}).get("phase") == "Pending")
        self.patch(path, {"status": {"phase": "Inqueue"}})

    def set_pod(self, pod, phase, exit_code=None):
        """The kubelet says how the pod is."""
        status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True"}]}
        if exit_code is not None:
            status["containerStatuses"] = [{"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
                                            "state": {"terminated": {"exitCode": exit_code}}}]
        self.patch(f"/api/v1/namespaces/default/pods/{pod}/status", {"status": status})

    def start(self, thing):
        """Applies a job, admits it and runs its pods; their names."""
        name = thing["metadata"]["name"]
        wanted = sum(task["replicas"] for task in thing["spec"]["tasks"])
        self.apply(thing)
        self.eventually(lambda: self.phase(name) == "Pending")
        self.assertEqual(self.pods(name), [])
        self.admit(name)
        pods = self.eventually(lambda: len(self.pods(name)) == wanted and self.pods(name))
        names = [pod["metadata"]["name"] for pod in pods]
        for pod in names:
            self.set_pod(pod, "Running")
        self.eventually(lambda: self.phase(name) == "Running")
        return names

    def test_a_job_runs_and_completes(self):
        names = self.start(job("whole"))
        self.assertEqual(names, ["whole-worker-0", "whole-worker-1"])
        pod = self.get("/api/v1/namespaces/default/pods/whole-worker-1")
        self.assertEqual(pod["spec"]["terminationGracePeriodSeconds"], 7)
        self.assertEqual(pod["metadata"]["annotations"]["volcano.sh/task-index"], "1")
        for name in names:
            self.set_pod(name, "Succeeded")
        self.eventually(lambda: self.phase("whole") == "Completed")
        status = self.job("whole")["status"]
        self.assertEqual(status["succeeded"], 2)
        self.assertEqual([c["status"] for c in status["conditions"]], ["Pending", "Running", "Completed"])
        self.assertRegex(self.kubectl("get", "vcjob", "whole"), r"whole\s+Completed")

    def test_a_failed_pod_restarts_the_job_and_the_event_says_so(self):
        names = self.start(job("again", policies=[{"event": "PodFailed", "action": "RestartJob"}]))
        old = {pod["metadata"]["uid"] for pod in self.pods("again")}
        self.set_pod(names[0], "Failed", 1)
        self.eventually(lambda: self.phase("again") == "Pending" and self.job("again")["status"].get("retryCount") == 1)
        self.eventually(lambda: self.pods("again") == [])
        self.admit("again")
        self.eventually(lambda: len(self.pods("again")) == 2)
        self.assertFalse(old & {pod["metadata"]["uid"] for pod in self.pods("again")})
        self.eventually(lambda: "RestartJob" in self.kubectl("describe", "vcjob", "again"))

    def test_an_exit_code_aborts_it(self):
        names = self.start(job("code", policies=[{"exitCode": 3, "action": "AbortJob"}]))
        self.set_pod(names[1], "Failed", 3)
        self.eventually(lambda: self.phase("code") == "Aborted")
        self.eventually(lambda: [pod["metadata"]["name"] for pod in self.pods("code")] == [names[1]])

    def test_a_pod_deleted_by_somebody_is_replaced_or_a_policy_acts(self):
        names = self.start(job("lost"))
        self.kubectl("delete", "pod", names[0], "--grace-period=0", "--force")
        self.eventually(lambda: len(self.pods("lost")) == 2)
        self.assertNotIn("retryCount", self.job("lost")["status"])
        names = self.start(job("evicted", policies=[{"event": "PodEvicted", "action": "TerminateJob"}]))
        self.kubectl("delete", "pod", names[0], "--grace-period=0", "--force")
        self.eventually(lambda: self.phase("evicted") == "Terminated")

    def command(self, name, action):
        uid = self.job(name)["metadata"]["uid"]
        target = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": uid}
        self.apply({"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command",
                    "metadata": {"name": f"{name}-{action}".lower(), "namespace": "default"},
                    "action": action, "target": target})

    def test_commands_suspend_and_resume(self):
        self.start(job("pause"))
        self.command("pause", "AbortJob")
        self.eventually(lambda: self.phase("pause") == "Aborted")
        self.eventually(lambda: self.pods("pause") == [])
        self.command("pause", "ResumeJob")
        self.eventually(lambda: self.phase("pause") == "Pending")
        self.admit("pause")
        self.eventually(lambda: len(self.pods("pause")) == 2)
        self.assertEqual(self.items("/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"), [])

    def test_scaling_follows_the_spec(self):
        self.start(job("scale", minAvailable=1))
        path = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/scale"
        for count in (3, 1):
            self.server.json("PATCH", path, [{"op": "replace", "path": "/spec/tasks/0/minAvailable", "value": 1},
                                             {"op": "replace", "path": "/spec/tasks/0/replicas", "value": count}],
                             {"Content-Type": "application/json-patch+json"})
            self.eventually(lambda count=count: len(self.pods("scale")) == count)

    def test_plugins_make_what_their_pods_need_and_it_goes_with_the_job(self):
        thing = job("plug", 1, plugins={"svc": [], "ssh": [], "env": []})
        self.start(thing)
        pod = self.get("/api/v1/namespaces/default/pods/plug-worker-0")
        names = {variable["name"] for variable in pod["spec"]["containers"][0]["env"]}
        self.assertLessEqual({"VC_TASK_INDEX", "VK_TASK_INDEX", "VC_WORKER_HOSTS", "VC_WORKER_NUM"}, names)
        self.assertEqual((pod["spec"]["hostname"], pod["spec"]["subdomain"]), ("plug-worker-0", "plug"))
        hosts = self.get("/api/v1/namespaces/default/configmaps/plug-svc")["data"]
        self.assertEqual(hosts["worker.host"], "plug-worker-0.plug")
        self.assertEqual(self.get("/api/v1/namespaces/default/services/plug")["spec"]["clusterIP"], "None")
        keys = {key: base64.b64decode(value) for key, value in
                self.get("/api/v1/namespaces/default/secrets/plug-ssh")["data"].items()}
        self.assert_key_pair(keys)
        self.kubectl("delete", "vcjob", "plug", "--wait=false")
        for gone in ("pods/plug-worker-0", "configmaps/plug-svc", "services/plug", "secrets/plug-ssh"):
            self.eventually(lambda gone=gone: self.get("/api/v1/namespaces/default/" + gone) is None)
        groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
        self.eventually(lambda: not [g for g in self.items(groups) if g["metadata"]["name"].startswith("plug-")])

    def assert_key_pair(self, keys):
        """ssh-keygen reads both halves, and they belong together."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "id_rsa"
            path.write_bytes(keys["id_rsa"])
            path.chmod(0o600)
            made = subprocess.run(["openssl", "rsa", "-in", path, "-check", "-noout"], capture_output=True, check=False)
            self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue(keys["id_rsa"].startswith(b"-----BEGIN RSA PRIVATE KEY-----"))
        self.assertTrue(keys["id_rsa.pub"].startswith(b"ssh-rsa AAAA"))
        self.assertEqual(keys["id_rsa.pub"], keys["authorized_keys"])

    def test_foreground_deletion_waits_for_the_pods(self):
        self.start(job("front"))
        self.kubectl("delete", "vcjob", "front", "--cascade=foreground", "--timeout=30s")
        self.assertEqual(self.pods("front"), [])

    def test_a_plain_pod_gets_a_pod_group(self):
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lone"},
                    "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]}})
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "foreign"},
                    "spec": {"schedulerName": "other", "containers": [{"name": "c", "image": "i"}]}})
        pod = "/api/v1/namespaces/default/pods/lone"
        self.eventually(lambda: (self.get(pod)["metadata"].get("annotations") or {}).get("scheduling.k8s.io/group-name"))
        group = "podgroup-" + self.get(pod)["metadata"]["uid"]
        path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/{group}"
        self.assertEqual(self.get(path)["spec"]["minMember"], 1)
        foreign = self.get("/api/v1/namespaces/default/pods/foreign")["metadata"]["annotations"]
        self.assertNotIn("scheduling.k8s.io/group-name", foreign)
        self.kubectl("delete", "pod", "lone", "foreign", "--grace-period=0", "--force")
        self.eventually(lambda: self.get(path) is None)

    def test_queues_count_and_close(self):
        self.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {}})
        queue = "/apis/scheduling.volcano.sh/v1beta1/queues/q"
        self.apply(job("queued", queue="q"))
        self.eventually(lambda: self.get(queue)["status"].get("pending") == 1)
        uid = self.get(queue)["metadata"]["uid"]
        for action, states in (("CloseQueue", ("Closing",)), ("OpenQueue", ("Open",))):
            self.apply({"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command",
                        "metadata": {"name": action.lower(), "namespace": "default"}, "action": action,
                        "target": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": "q", "uid": uid}})
            self.eventually(lambda states=states: self.get(queue)["status"].get("state") in states)

    def configure(self, sources):
        text = json.dumps({"networkTopologyDiscovery": sources})
        self.apply({"apiVersion": "v1", "kind": "ConfigMap", "data": {"volcano-controller.conf": text},
                    "metadata": {"name": "volcano-controller-configmap", "namespace": "volcano-system"}})

    def hypernodes(self, source):
        return {item["metadata"]["name"]: item for item in self.items(
            f"/apis/topology.volcano.sh/v1alpha1/hypernodes?labelSelector=volcano.sh/network-topology-source%3D{source}")}

    def test_discovery_by_labels_and_from_ufm_with_a_secret(self):
        nodes = json.loads((FIXTURES / "k8s-nodes-labels.json").read_text())
        for node in nodes["items"]:
            self.apply({"apiVersion": "v1", "kind": "Node",
                        "metadata": {"name": node["metadata"]["name"], "labels": node["metadata"].get("labels", {})}})
        folder = pathlib.Path(self.scratch.name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out",
                        folder / "cert.pem"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        endpoint = f"https://localhost:{serve(context)}/good"
        ufm = {"source": "ufm", "enabled": True, "interval": "1s",
               "config": {"endpoint": endpoint, "insecureSkipVerify": True},
               "credentials": {"secretRef": {"name": "ufm-credentials", "namespace": "volcano-system"}}}
        hung = {"source": "exec", "name": "hung", "enabled": True, "config": {"command": ["/bin/sleep", "25"]}}
        self.configure([ufm, hung])
        self.eventually(lambda: STARTED in self.controllers.log.read_text())
        self.eventually(lambda: "ufm-credentials" in self.controllers.log.read_text())  # it is not there yet
        self.kubectl("create", "secret", "generic", "ufm-credentials", "-n", "volcano-system",
                     f"--from-literal=username={USER}", f"--from-literal=password={PASSWORD}")

        def all_leaves():
            found = {name: item for name, item in self.hypernodes("ufm").items() if item["spec"]["tier"] == 1}
            return found if len(found) == len(PODS) else None
        leaves = self.eventually(all_leaves)
        members = sorted(sorted(m["selector"]["exactMatch"]["name"] for m in leaf["spec"]["members"])
                         for leaf in leaves.values())
        self.assertEqual(members, sorted(sorted(pod) for pod in PODS))
        some = next(iter(leaves))
        self.eventually(lambda: self.hypernodes("ufm")[some].get("status", {}).get("nodeCount") ==
                        len(leaves[some]["spec"]["members"]))
        self.assertNotIn(PASSWORD, self.controllers.log.read_text())
        # A broken configuration is refused and told; what is there stays, and so does the old one.
        self.kubectl("patch", "configmap", "volcano-controller-configmap", "-n", "volcano-system", "--type=merge",
                     "-p", json.dumps({"data": {"volcano-controller.conf": "networkTopologyDiscovery: 7"}}))
        self.eventually(lambda: re.search("InvalidConfiguration", self.kubectl("get", "events", "-n", "volcano-system")))
        self.kubectl("delete", "hypernode", some)
        self.eventually(lambda: some in self.hypernodes("ufm"))
        # Hand-made ones are nobody's business.
        self.apply({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": "mine"},
                    "spec": {"tier": 5, "members": [{"type": "HyperNode", "selector": {"exactMatch": {"name": "nowhere"}}}]}})
        self.configure([{"source": "label", "enabled": True, "config": {"networkTopologyTypes": {
            "net": [{"nodeLabel": "test/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}}}])
        names = [node["metadata"]["name"] for node in nodes["items"]]
        self.kubectl("label", "node", *names, "test/rack=r1")
        self.eventually(lambda: [len(item["spec"]["members"]) for item in self.hypernodes("label").values()] == [len(names)])
        self.kubectl("label", "node", names[0], "--overwrite", "test/rack=r2")
        self.eventually(lambda: sorted(len(item["spec"]["members"]) for item in self.hypernodes("label").values()) ==
                        [1, len(names) - 1])
        path = "/apis/topology.volcano.sh/v1alpha1/hypernodes/mine"
        self.eventually(lambda: any(c["type"] == "MissingMembers" and c["status"] == "True"
                                    for c in self.get(path).get("status", {}).get("conditions", [])))
        self.assertTrue(self.hypernodes("ufm"))

    def test_a_configmap_is_not_a_shell(self):
        """The right to edit it is not the right to run programs: it runs none, reads no file and no Secret of another namespace, and sees nothing of them in Events."""
        made = pathlib.Path(self.scratch.name) / "made-by-the-shell"
        hidden = pathlib.Path(self.scratch.name) / "hidden.txt"
        hidden.write_text("swordfish\n")
        self.kubectl("create", "secret", "generic", "admin", "-n", "default", "--from-literal=token=swordfish")
        self.configure([{"source": "exec", "enabled": True, "config": {"command": ["/bin/sh", "-c", f"cat {hidden} >&2; touch {made}; exit 1"]}},
                        {"source": "infiniband", "enabled": True, "config": {"file": str(hidden)}},
                        {"source": "exec", "name": "allowed", "enabled": True, "config": {"command": ["/bin/sleep", "swordfish"]}},
                        {"source": "ufm", "enabled": True, "config": {"endpoint": "https://127.0.0.1:1"},
                         "credentials": {"secretRef": {"name": "admin", "namespace": "default"}}}])

        def told():
            found = json.loads(self.kubectl("get", "events", "-n", "volcano-system", "-o", "json"))["items"]
            return " ".join(event["message"] for event in found if event["reason"] == "DiscoveryFailed")
        for part in ('program "/bin/sh" is not allowed', f'"{hidden}" is not in an allowed folder', '"default" is not allowed',
                     "exec/allowed: the source failed (the log has the reason)"):
            self.eventually(lambda part=part: part in told())
        self.assertNotIn("swordfish", told())
        self.assertIn("invalid time interval", self.controllers.log.read_text())
        self.assertFalse(made.exists())

    def test_a_second_one_waits_for_the_lease_and_takes_over(self):
        self.controllers.stop()
        first = type(self).controllers = Controllers(self.scratch.name, self.server.kubeconfig, lease=LEASE)
        self.eventually(lambda: "Started controllers" in first.log.read_text(), 60)
        second = Controllers(self.scratch.name, self.server.kubeconfig, lease=LEASE)
        self.addCleanup(second.kill)
        self.eventually(lambda: "has seen the cluster" in second.log.read_text())
        self.assertNotIn("Started controllers", second.log.read_text())
        first.stop()
        type(self).controllers = second
        self.eventually(lambda: "Started controllers" in second.log.read_text(), 60)
        second.stop()
        type(self).controllers = Controllers(self.scratch.name, self.server.kubeconfig)  # for the other tests

    def test_killed_in_the_middle_another_goes_on(self):
        self.apply(job("large", 150))
        self.eventually(lambda: self.phase("large") == "Pending")
        self.admit("large")
        self.eventually(lambda: self.pods("large"))
        self.controllers.kill()
        type(self).controllers = Controllers(self.scratch.name, self.server.kubeconfig)
        self.eventually(lambda: len(self.pods("large")) == 150)
        self.eventually(lambda: self.job("large")["status"].get("pending") == 150)
        self.assertEqual(self.phase("large"), "Pending")


if __name__ == "__main__":
    unittest.main()
