#!/usr/bin/env python3
"""The rights in deploy/chart/rbac are what the parts use: none is missing, none is left over. What they ask for is read from the audit log of a real API
server, or from recorders in front of our own."""
import contextlib
import http.client
import json
import pathlib
import re
import signal
import ssl
import unittest

from live import IS_REAL, VIRTUAL, ApiServer, LiveTest
from recorder import Recorder
from rights import allows, grants_of, needs_of, table

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
RBAC, CONF = DEPLOY / "chart" / "rbac", DEPLOY / "chart" / "config"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
SYSTEM = "/api/v1/namespaces/volcano-system"
LEASE = ("--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=1s")
REFUSED = "refused"  # a pod of this name cannot be bound
METHODS = {"get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE",
           "deletecollection": "DELETE"}
NO_BIND = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-bind"}, "spec": {
    "failurePolicy": "Fail",
    "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/binding"], "operations": ["CREATE"]}]},
    "validations": [{"expression": f"object.metadata.name != '{REFUSED}'", "message": "refused by a test"}]}}
NO_BIND_ANYWHERE = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-bind"},
                    "spec": {"policyName": "no-bind", "validationActions": ["Deny"]}}
DISCOVERY = {"networkTopologyDiscovery": [{"source": "label", "enabled": True, "interval": "1h", "config": {
    "networkTopologyTypes": {"racks": [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}}},
    {"source": "ufm", "enabled": True, "interval": "1h", "config": {"endpoint": "https://127.0.0.1:1"}, "credentials": {"secretRef": {"name": "ufm"}}}]}
GPUS = [{"id": "GPU-0", "count": 10, "devmem": 81920, "devcore": 100, "type": "NVIDIA H100", "mode": "hami-core", "health": True}]
ACCOUNT = "system:serviceaccount:volcano-system:"
POLICIES = "/apis/admissionregistration.k8s.io/v1"


class Rights(LiveTest):
    server_class = ApiServer
    arguments = () if IS_REAL else ("--plain-http",)

    def setUp(self):
        super().setUp()
        self.recorders = {}
        self.known = len(self.server.plane.audit()) if IS_REAL else 0

    # --- what is asked

    def part(self, command, *arguments):
        if not IS_REAL:
            self.record(command)
        return super().part(command, *arguments)

    def record(self, command):
        """Puts a recorder between the part and the server."""
        if command not in self.recorders:
            self.recorders[command] = Recorder(int(self.server.url.rsplit(":", 1)[1]), rf"/pods/{REFUSED}/binding")
            self.addCleanup(self.recorders[command].close)
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "r", "users": [],
                  "clusters": [{"name": "r", "cluster": {"server": f"http://127.0.0.1:{self.recorders[command].port}"}}],
                  "contexts": [{"name": "r", "context": {"cluster": "r", "user": ""}}]}
        path = pathlib.Path(self.folder) / f"{command}.kubeconfig"
        path.write_text(json.dumps(config))
        self.server.kubeconfig_for = lambda part: str(pathlib.Path(self.folder) / f"{part}.kubeconfig")

    def needs(self):
        """All that the parts have asked for."""
        if not IS_REAL:
            return {need for command, recorder in self.recorders.items() for method, target in recorder.requests
                    for need in needs_of(f"strata-{command}", method, target)}
        return {need for entry in self.server.plane.audit()[self.known:] if entry["user"]["username"].startswith(ACCOUNT)
                for need in needs_of(entry["user"]["username"].removeprefix(ACCOUNT), METHODS[entry["verb"]], entry["requestURI"])}

    # --- what is done

    def make(self, path, body):
        code, answer = self.server.json("POST", path, body)
        self.assertIn(code, (200, 201), answer)
        return answer

    def change(self, path, body):
        code, answer = self.server.json("PATCH", path, body, {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(code, 200, answer)

    def make_job(self, name, replicas=1, run_seconds=None, **spec):
        template = {"metadata": {"annotations": {"strata.sh/run-seconds": run_seconds} if run_seconds else {}},
                    "spec": {"restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}
        return self.make(JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": {
            "minAvailable": 1, "schedulerName": "volcano", "queue": "default",
            "tasks": [{"name": "worker", "replicas": replicas, "template": template}], **spec}})

    def make_pod(self, name, **spec):
        return self.make(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "schedulerName": "volcano", "containers": [{"name": "main", "image": "busybox"}], **spec}})

    def job_phase(self, name):
        job = self.get(f"{JOBS}/{name}")
        return job and job.get("status", {}).get("state", {}).get("phase")

    def hypernodes_of_source(self):
        return {item["metadata"]["name"] for item in self.items(f"{HYPERNODES}?labelSelector=volcano.sh/network-topology-source%3Dlabel")}

    def configure(self, name, text):
        self.change(f"{SYSTEM}/configmaps/volcano-{name}-configmap", {"data": {f"volcano-{name}.conf": text}})

    def run_nodes(self):
        """Generated ones, one that says nothing of itself, and one with GPUs and HAMi's agent."""
        with self.no_other_node_controller():
            self.nodes = self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=2")
            self.make("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "plain", "labels": VIRTUAL}})
            resources = {"cpu": "8", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": "10"}
            self.make("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {
                "name": "hami", "labels": VIRTUAL, "annotations": {"hami.io/node-nvidia-register": json.dumps(GPUS)}},
                "status": {"capacity": resources, "allocatable": resources}})
            self.until(lambda: "ready" in self.nodes.said(), "nodes ready")
            self.until(lambda: not any(node["spec"].get("taints") for node in self.items("/api/v1/nodes")), "no node is tainted")

    @contextlib.contextmanager
    def no_other_node_controller(self):
        """Virtual nodes take the taint of a new node away where nobody else does; kube-controller-manager does it too, and who is first is luck."""
        if not IS_REAL:
            yield
            return
        other = self.server.plane.controllers.process
        other.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            other.send_signal(signal.SIGCONT)

    def run_jobs(self):
        """One with all plugins that grows and shrinks, one that finishes and goes, one whose names are taken, and Commands."""
        plugins = {"svc": [], "ssh": [], "env": []}
        volume = [{"mountPath": "/data", "volumeClaim": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]
        self.make_job("grows", plugins=plugins)
        self.until(lambda: self.job_phase("grows") == "Running", "grows runs")
        for replicas in (3, 1):
            self.resize("grows", replicas)
            self.until(lambda replicas=replicas: self.count("grows") == replicas, f"grows has {replicas} pods")
        self.make_job("goes", run_seconds="1", ttlSecondsAfterFinished=1)
        self.until(lambda: self.is_deleted(f"{JOBS}/goes"), "goes is deleted")
        self.make("/api/v1/namespaces/default/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "taken-ssh"}})
        self.make("/api/v1/namespaces/default/persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "kept"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        volume.append({"mountPath": "/kept", "volumeClaimName": "kept", "volumeClaim": volume[0]["volumeClaim"]})
        self.make_job("taken", plugins=plugins, volumes=volume)
        self.make_pod("crowded-worker-0", schedulerName="nobody")
        self.make_job("crowded")
        self.command("grows", "AbortJob")
        self.until(lambda: self.job_phase("grows") == "Aborted", "grows is aborted")

    def is_deleted(self, path):
        """Our own server collects no garbage: what waits for that is as good as gone."""
        found = self.get(path)
        return found is None or "deletionTimestamp" in found["metadata"]

    def resize(self, name, replicas):
        paths = ("/spec/minAvailable", "/spec/tasks/0/replicas", "/spec/tasks/0/minAvailable")
        self.kubectl("patch", "vcjob", name, "--type=json", "-p",
                     json.dumps([{"op": "add", "path": path, "value": replicas} for path in paths]))

    def count(self, name):
        return sum(pod["metadata"].get("labels", {}).get("volcano.sh/job-name") == name and "deletionTimestamp" not in pod["metadata"]
                   for pod in self.items(PODS))

    def command(self, job, action):
        uid = self.get(f"{JOBS}/{job}")["metadata"]["uid"]
        self.make("/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", {
            "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": f"{job}-{action.lower()}"}, "action": action,
            "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": job, "uid": uid, "controller": True}})

    def run_pods(self):
        """One alone, one that fits nowhere, one that cannot be bound, one whose PodGroup is there before the controllers."""
        self.make_pod("alone")
        self.until(lambda: self.phase("alone") == "Running", "alone runs")
        self.kubectl("delete", "pod", "alone", "--wait=false")
        with_gpu = [{"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
        self.make_pod("gpu", containers=with_gpu)
        self.until(lambda: self.phase("gpu") == "Running", "gpu runs")
        self.until(lambda: "hami.io/mutex.lock" not in self.get("/api/v1/nodes/hami")["metadata"]["annotations"], "the node is not locked")
        # From now on the node has an agent, which serves pods before they start.
        self.change("/api/v1/nodes/hami", {"metadata": {"annotations": {"strata.sh/agent": '{"identity":"pods"}'}}})
        self.kubectl("delete", "pod", "gpu", "--wait=false")
        self.make_pod("served", containers=with_gpu)
        self.until(lambda: self.phase("served") == "Running", "served runs")
        self.make_pod("large", containers=[{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1000"}}}])
        if IS_REAL:
            self.make(f"{POLICIES}/validatingadmissionpolicies", NO_BIND)
            self.make(f"{POLICIES}/validatingadmissionpolicybindings", NO_BIND_ANYWHERE)
            self.addCleanup(self.kubectl, "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", "no-bind")
            self.wait_for_policy()
        self.make_pod(REFUSED)
        self.controllers.stop()
        uid = self.make_pod("early")["metadata"]["uid"]
        self.make(GROUPS, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": f"podgroup-{uid}"},
                           "spec": {"minMember": 1, "queue": "default"}})
        self.start_controllers()

    def wait_for_policy(self):
        """A policy holds some time after it was made."""
        self.make_pod(REFUSED, schedulerName="nobody")
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": REFUSED}, "target": {"kind": "Node", "name": "node-0"}}
        self.until(lambda: self.server.json("POST", f"{PODS}/{REFUSED}/binding?dryRun=All", binding)[0] >= 400, "the policy holds")
        self.server.json("DELETE", f"{PODS}/{REFUSED}")
        self.until(lambda: self.pod(REFUSED) is None, "the pod is gone")

    def run_eviction(self):
        """A pod goes for another of higher priority, and so does one that a budget selects."""
        self.configure("scheduler", 'actions: "enqueue, allocate, gangpreempt"\n'
                       "tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]\n")
        self.make("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000})
        for node, has_budget in (("node-0", False), ("node-1", True)):
            spec = {"nodeSelector": {"kubernetes.io/hostname": node},
                    "containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "60"}}}]}
            self.make_pod(f"victim-{node}", **spec)
            self.until(lambda node=node: self.phase(f"victim-{node}") == "Running", "victim runs")
            aged = {"status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}
            code, answer = self.server.json("PATCH", f"{PODS}/victim-{node}/status", aged, {"Content-Type": "application/strategic-merge-patch+json"})
            self.assertEqual(code, 200, answer)
            if has_budget:
                self.make_budget(f"victim-{node}")
            self.make_pod(f"urgent-{node}", priorityClassName="urgent", **spec)
            self.until(lambda node=node: self.phase(f"urgent-{node}") == "Running", "urgent runs")
            self.assertIsNone(self.pod(f"victim-{node}"))

    def make_budget(self, pod):
        """One that allows the eviction. A controller of Kubernetes keeps its status; our own server has none here."""
        self.change(f"{PODS}/{pod}", {"metadata": {"labels": {"budget": "yes"}}})
        self.make(BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "budget"},
                            "spec": {"minAvailable": 0, "selector": {"matchLabels": {"budget": "yes"}}}})
        if not IS_REAL:
            self.change(f"{BUDGETS}/budget/status", {"status": {"expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 0, "disruptionsAllowed": 1}})
        self.until(lambda: self.get(f"{BUDGETS}/budget").get("status", {}).get("disruptionsAllowed") == 1, "the budget allows it")

    def run_queues(self):
        self.make(QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "team"},
                           "spec": {"weight": 1}})
        self.until(lambda: self.get(f"{QUEUES}/team").get("status", {}).get("state") == "Open", "team is open")
        self.until(lambda: self.get(f"{QUEUES}/spare"), "the scheduler's own default queue")

    def run_discovery(self):
        """HyperNodes that come, change, go, and are in the way."""
        for name, rack in (("node-0", "a"), ("node-1", "b")):
            self.change(f"/api/v1/nodes/{name}", {"metadata": {"labels": {"example.com/rack": rack}}})
        self.configure("controller", json.dumps(DISCOVERY))
        self.until(lambda: len(self.hypernodes_of_source()) >= 2, "discovered")
        before = self.hypernodes_of_source()
        self.change("/api/v1/nodes/plain", {"metadata": {"labels": {"example.com/rack": "a"}}})
        self.change("/api/v1/nodes/node-1", {"metadata": {"labels": {"example.com/rack": "a"}}})
        self.until(lambda: self.hypernodes_of_source() < before, "one less")
        gone = (before - self.hypernodes_of_source()).pop()
        self.make(HYPERNODES, {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": gone}, "spec": {
            "tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "node-1"}}}]}})
        self.change("/api/v1/nodes/node-1", {"metadata": {"labels": {"example.com/rack": "b"}}})
        self.until(lambda: f"create hypernodes {gone}" in self.controllers.said(), "the name is taken")

    def run_bad_configurations(self):
        """The same complaint twice is one Event, counted."""
        for name, good in (("scheduler", 'actions: "enqueue, allocate, backfill"\n'), ("controller", "networkTopologyDiscovery: []\n")):
            for text in ("[", good, "["):
                self.configure(name, text)
                bad = text == "["
                events = f"{SYSTEM}/events?fieldSelector=involvedObject.name%3Dvolcano-{name}-configmap"
                self.until(lambda events=events, bad=bad: not bad or self.items(events), "an event")
            self.until(lambda events=events: any(item.get("count", 1) > 1 for item in self.items(events)), "it is counted")

    def run_webhooks(self):
        """For a Service that nobody reaches, so this comes last: certificates that are made, registered, and put right by the next one."""
        self.server.plane.install_webhooks()
        for _ in range(2):
            part = self.part("webhooks", "--service=volcano-system/strata-admission-service", "--listen=127.0.0.1:0", "--shutdown-delay-duration=0s")
            self.until(lambda part=part: "ready" in part.said(), "webhooks ready")
            self.name_a_missing_queue(part)
            part.stop()
            for kind in ("mutating", "validating"):
                for item in self.items(f"{POLICIES}/{kind}webhookconfigurations"):
                    self.change_list(f"{POLICIES}/{kind}webhookconfigurations/{item['metadata']['name']}", "/webhooks/0/clientConfig/service/port", 444)
            self.change(f"{SYSTEM}/secrets/strata-admission-secret", {"data": {"tls.crt": "AAAA"}})
        for kind in ("mutating", "validating"):
            self.server.json("DELETE", f"{POLICIES}/{kind}webhookconfigurations")

    def name_a_missing_queue(self, part):
        """As the API server would, which does not reach it: before it says that there is no such queue, it asks."""
        port = int(re.search(r"ready https://\S+:(\d+)", part.said()).group(1))
        review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
            "uid": "u", "operation": "CREATE", "namespace": "default", "name": "j",
            "resource": {"group": "batch.volcano.sh", "version": "v1alpha1", "resource": "jobs"},
            "object": {"metadata": {"name": "j", "namespace": "default"}, "spec": {"queue": "missing", "tasks": [
                {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}}}}
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)) as connection:
            connection.request("POST", "/jobs/validate", json.dumps(review), {"Content-Type": "application/json"})
            self.assertIn("not found", connection.getresponse().read().decode())

    def change_list(self, path, where, value):
        code, answer = self.server.json("PATCH", path, [{"op": "replace", "path": where, "value": value}],
                                        {"Content-Type": "application/json-patch+json"})
        self.assertEqual(code, 200, answer)

    def start_controllers(self):
        self.controllers = self.part("controllers", *LEASE)

    def test_none_missing_none_left_over(self):
        if not IS_REAL:
            for name in ("scheduler", "controller"):
                self.make(f"{SYSTEM}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                    "name": f"volcano-{name}-configmap"}, "data": {f"volcano-{name}.conf": (CONF / f"volcano-{name}.conf").read_text()}})
        self.run_nodes()
        self.start_controllers()
        self.part("scheduler", *LEASE, "--schedule-period=200ms", "--default-queue=spare")
        self.run_queues()
        self.run_jobs()
        self.run_pods()
        self.run_eviction()
        self.run_discovery()
        self.run_bad_configurations()
        # The agent needs a kubelet and a driver, which are not here: tests/agent/rights_test.cc does the same with it. The page
        # needs users: page_test.py.
        grants = [grant for grant in grants_of(RBAC) if grant.who not in ("strata-agent", "strata-page")]
        if IS_REAL:
            self.run_webhooks()
        else:  # our own server has no webhook configurations; of NetworkPolicies it says with the first request that it has none
            grants = [grant for grant in grants if grant.who != "strata-webhooks"
                      and (grant.resource != "networkpolicies" or grant.verb == "create")]
        used = lambda: {grant for grant in grants for need in self.needs() if allows(grant, need)}  # pylint: disable=unnecessary-lambda-assignment
        try:
            self.until(lambda: used() == set(grants), "every right used", limit=60)
        except AssertionError:
            left = "\n".join(table(set(grants) - used()))
            self.fail(f"granted and never used:\n{left}\n{self.picture()}")
        missing = sorted(need for need in self.needs() if not any(allows(grant, need) for grant in grants))
        self.assertEqual(missing, [], "asked for and not granted")
        if IS_REAL:
            self.assertEqual([entry for entry in self.server.plane.audit()[self.known:] if entry["user"]["username"].startswith(ACCOUNT)
                              and entry["responseStatus"]["code"] == 403], [], "refused")
        print("\n".join(table(grants)))


if __name__ == "__main__":
    unittest.main()
