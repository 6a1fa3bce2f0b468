"""A cluster in which jobs of low priority go for jobs of high priority: what the tests of eviction share. Every pod takes a whole node."""
import pathlib
import re
import urllib.request

from live import IS_REAL, ApiServer, LiveTest
from watch import Watch

JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
PODS = "/api/v1/namespaces/default/pods"
CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
  - name: pdb
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: network-topology-aware
"""
LONG_AGO = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}


def job(name, replicas, minimum, priority, queue="default", tier=None):
    """`tier`: all its pods in one HyperNode of that tier at most."""
    template = {"spec": {"priorityClassName": priority, "restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}]}}
    topology = {"networkTopology": {"mode": "hard", "highestTierAllowed": tier}} if tier else {}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "minAvailable": minimum, "schedulerName": "volcano", "queue": queue, "priorityClassName": priority, **topology,
        "tasks": [{"name": "w", "replicas": replicas, "template": template}]}}


def condition_of(item, kind):
    """The condition of this type; {} without one."""
    return next((one for one in item.get("status", {}).get("conditions", []) if one["type"] == kind), {})


def is_going(pod):
    return "deletionTimestamp" in pod["metadata"]


def name_of_job(pod):
    return pod["metadata"].get("labels", {}).get("volcano.sh/job-name")


def wrong_binds(happenings):
    """What must never happen: a node is given while another pod is still there, or a pod changes its node. Lines for people."""
    node_of, found = {}, []
    for happening in happenings:
        meta, node = happening.object["metadata"], happening.object["spec"].get("nodeName")
        before = node_of.pop(meta["uid"], None)
        if happening.type == "DELETED":
            continue
        if before not in (None, node):
            found.append(f"{meta['name']}: bound to {before}, then to {node}")
        if before is None and node in node_of.values():
            found.append(f"{meta['name']}: bound to {node}, where another one still runs")
        if node:
            node_of[meta["uid"]] = node
    return found


def evicted(happenings):
    """{uid: the pod as it was when it was told to go} of those that a scheduler evicted."""
    gone = {}
    for happening in happenings:
        pod = happening.object
        if is_going(pod) and condition_of(pod, "DisruptionTarget").get("status") == "True":
            gone.setdefault(pod["metadata"]["uid"], pod)
    return gone


class EvictionCluster(LiveTest):
    """The parts as processes: virtual nodes, controllers, and a scheduler with pages."""
    server_class = ApiServer
    nodes = "spines=1,racks=1,nodes=4,cpu=2"
    stop_seconds = 10 if IS_REAL else 2  # that a pod takes to stop
    configuration = CONF

    def setUp(self):
        super().setUp()
        conf = pathlib.Path(self.folder) / "scheduler.conf"
        conf.write_text(self.configuration)
        self.scheduler_flags = (f"--scheduler-conf={conf}", "--schedule-period=100ms", "--leader-elect=false", "--enable-healthz=false",
                                "--enable-metrics=true", "--listen-address=127.0.0.1:0")
        nodes = self.part("virtual-nodes", "--generate", self.nodes)
        self.until(lambda: "ready" in nodes.said(), "the nodes take pods")
        self.let_pods_stop_in(self.stop_seconds)
        self.part("controllers", "--leader-elect=false", *self.server.controller_flags)
        self.start_scheduler()
        for name, value in (("low", 1), ("high", 100)):
            self.make("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        self.watch = Watch(self.server, PODS)
        self.addCleanup(self.watch.close)

    def let_pods_stop_in(self, seconds):
        self.kubectl("annotate", "nodes", "--all", "--overwrite", f"strata.sh/stop-seconds={seconds}")

    def start_scheduler(self):
        self.scheduler = self.part("scheduler", *self.scheduler_flags)

    def in_vain(self):
        """strata_eviction_in_vain_total of the scheduler that runs; None before it serves its pages."""
        port = re.search(r'"serving pages" port="(\d+)"', self.scheduler.said())
        if port is None:
            return None
        with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/metrics", timeout=10) as page:
            return int(re.search(r"(?m)^strata_eviction_in_vain_total (\d+)", page.read().decode())[1])

    def make(self, path, body):
        code, answer = self.server.json("POST", path, body)
        self.assertEqual(code, 201, answer)

    def make_job(self, *arguments, **keywords):
        self.make(JOBS, job(*arguments, **keywords))

    def remove_job(self, name):
        code, answer = self.server.json("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
        self.assertIn(code, (200, 202), answer)

    def pods_of(self, name):
        return [pod for pod in self.items(PODS) if name_of_job(pod) == name]

    def running(self, name):
        return [pod for pod in self.pods_of(name) if pod["status"].get("phase") == "Running" and not is_going(pod)]

    def going(self, name):
        return [pod for pod in self.pods_of(name) if is_going(pod)]

    def group_of(self, name):
        return next((group for group in self.items(GROUPS) if group["metadata"]["ownerReferences"][0]["name"] == name), {})

    def job_phase(self, name):
        return self.get(f"{JOBS}/{name}")["status"]["state"]["phase"]

    def run_for_long(self, name, pods):
        """Waits until the job runs, and lets its pods be as old as they must be to be evicted."""
        self.until(lambda: len(self.running(name)) == pods, f"{name} runs")
        for pod in self.running(name):
            code, answer = self.server.json("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": {"conditions": [LONG_AGO]}},
                                            {"Content-Type": "application/strategic-merge-patch+json"})
            self.assertEqual(code, 200, answer)

    def messages(self, reason):
        return [event["message"] for event in self.items("/api/v1/namespaces/default/events") if event["reason"] == reason]
