#!/usr/bin/env python3
"""Advice that can be followed: the command that `strata explain` prints for a change, run as printed, lets the job start."""
import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest

from live import EXAMPLES, LIMIT, STRATA, LiveTest
from strata_run import wait_until

# Two racks of two nodes with 4 CPUs each.
MACHINES = ("--generate", "spines=1,racks=2,nodes=2,cpu=4")

WITH_QUOTAS = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}, {name: network-topology-aware}, {name: resourcequota}]
"""


def container(cpu):
    return f"containers: [{{name: main, image: busybox, resources: {{requests: {{cpu: {cpu}}}, limits: {{cpu: {cpu}}}}}}}]"


def job(name="train", pods=1, cpu=3, spec="", task="", pod=""):
    """A Job of one task; the rest is put into its spec, its task and its pods."""
    return f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}}}
spec:
  minAvailable: {pods}
  {spec}
  tasks:
  - name: worker
    replicas: {pods}
    {task}
    template: {{spec: {{restartPolicy: Never, {pod} {container(cpu)}}}}}
---
"""


def pod_of(group, name, cpu=3, spec=""):
    annotations = f", annotations: {{scheduling.k8s.io/group-name: {group}}}" if group else ""
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}{annotations}}}
spec: {{schedulerName: volcano, {spec} {container(cpu)}}}
---
"""


def pod_group(name, members, spec=""):
    return f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: {name}}}
spec: {{minMember: {members}, {spec}}}
---
"""


def queue(name, capability):
    return f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{capability: {{cpu: {capability}}}}}
---
"""


def priority(name, value):
    return f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n---\n"


class Advice(LiveTest):
    arguments = MACHINES

    def explain(self, name, *arguments):
        done = subprocess.run([STRATA, "explain", name, "--kubeconfig", self.server.kubeconfig, *arguments],
                              capture_output=True, text=True, check=False, timeout=60)
        return done.stdout if done.returncode == 0 else ""

    def advised(self, name, kind):
        """The first change of that kind that is advised, None while there is none."""
        story = self.explain(name, "-o", "json")
        changes = json.loads(story)["relaxations"] if story else []
        return next((change for change in changes if change["kind"] == kind), None)

    def obstacle(self, name, reason):
        """What keeps the job back whatever room there is; None while nothing does."""
        story = self.explain(name, "-o", "json")
        found = json.loads(story).get("obstacles", []) if story else []
        return next((one for one in found if one["reason"] == reason), None)

    def mend(self, name, reason):
        """Runs the command that mends it, as it is printed."""
        self.until(lambda: self.obstacle(name, reason), f"{reason} of {name}")
        line = self.obstacle(name, reason)["command"]
        self.assertIn(f"\n    {line}\n", self.explain(name))
        self.run_line(line)

    def follow(self, name, kind):
        """Runs the command as it is printed, and returns the change."""
        self.until(lambda: self.advised(name, kind), f"a change of kind {kind} for {name}")
        change = self.advised(name, kind)
        line = change["command"]
        note = " (restarts the job)" if change["restarts"] else ""
        self.assertRegex(self.explain(name), r"\s+".join(map(re.escape, f"{change['text']}{note}".split())) + "\n      "
                         + re.escape(line) + "\n", "the text has the command on a line of its own")
        self.run_line(line)
        return change

    def run_line(self, line):
        environment = {"PATH": f"{pathlib.Path(STRATA).parent}:{os.environ['PATH']}", "HOME": self.folder,
                       "KUBECONFIG": self.server.kubeconfig}
        done = subprocess.run(["sh", "-c", line], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")

    def pods_named(self, prefix):
        return [pod for pod in self.items("/api/v1/namespaces/default/pods")
                if pod["metadata"]["name"].startswith(prefix)]

    def waits(self, prefix, count):
        """The pods are there and have no node."""
        self.until(lambda: len(self.pods_named(prefix)) == count, f"{count} pods {prefix}*")
        self.assertEqual([pod for pod in self.pods_named(prefix) if pod["spec"].get("nodeName")], [])

    def until_running(self, prefix, count):
        def running():
            return [pod["metadata"]["name"] for pod in self.pods_named(prefix)
                    if pod["status"].get("phase") == "Running"]
        self.until(lambda: len(running()) == count, f"{count} pods {prefix}* run")

    def uid_of(self, what):
        return self.kubectl("get", *what.split(), "-o", "jsonpath={.metadata.uid}")


class OfObstacles(Advice):
    def test_a_missing_priority_class_is_created(self):
        self.apply(job(spec="priorityClassName: nope"))
        self.mend("default/train", "PriorityClassNotFound")
        self.until_running("train-", 1)

    def test_a_misspelt_scheduler_is_put_right_by_replacing_the_job(self):
        self.apply(job(spec="schedulerName: volcanoo"))
        self.mend("default/train", "SchedulerNotFound")
        self.until_running("train-", 1)


class OfJobs(Advice):
    def test_a_higher_tier_is_allowed_by_replacing_the_job(self):
        self.apply(job(pods=3, spec="networkTopology: {mode: hard, highestTierAllowed: 1}"))
        self.until(lambda: self.advised("default/train", "higherTier"), "advice")
        before = self.uid_of("vcjob train")
        change = self.follow("default/train", "higherTier")
        self.until_running("train-", 3)
        self.assertTrue(change["restarts"])
        self.assertNotEqual(self.uid_of("vcjob train"), before, "it is another Job")

    def test_a_job_starts_with_fewer_pods(self):
        self.apply(job(pods=5))
        self.until(lambda: self.advised("default/train", "fewerPods"), "advice")
        before = self.uid_of("vcjob train")
        self.assertFalse(self.follow("default/train", "fewerPods")["restarts"])
        self.until_running("train-", 4)
        self.assertEqual(self.uid_of("vcjob train"), before, "it is the same Job")

    def test_a_job_starts_with_fewer_partitions(self):
        self.apply(job(pods=6, task="partitionPolicy: {totalPartitions: 3, partitionSize: 2, minPartitions: 3, "
                                    "networkTopology: {mode: hard, highestTierAllowed: 1}}\n    minAvailable: 6"))
        self.follow("default/train", "fewerPods")
        self.until_running("train-", 4)

    def test_a_partition_may_span_a_higher_tier(self):
        self.apply(job(pods=3, task="partitionPolicy: {totalPartitions: 1, partitionSize: 3, "
                                    "networkTopology: {mode: hard, highestTierAllowed: 1}}"))
        self.follow("default/train", "higherTier")
        self.until_running("train-", 3)

    def test_a_taint_is_tolerated(self):
        self.kubectl("taint", "nodes", "--all", "team=red:NoSchedule")
        self.apply(job(pods=2))
        self.follow("default/train", "tolerate")
        self.until_running("train-", 2)

    def test_a_node_selector_is_dropped(self):
        self.apply(job(pods=2, pod="nodeSelector: {example.com/zone: none},"))
        self.follow("default/train", "dropTerm")
        self.until_running("train-", 2)

    def test_an_affinity_term_is_dropped(self):
        self.apply(job(pods=2, pod="affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {"
                                   "nodeSelectorTerms: [{matchExpressions: ["
                                   "{key: kubernetes.io/hostname, operator: Exists}, "
                                   "{key: disk, operator: In, values: [\"it's\"]}]}]}}},"))
        self.kubectl("label", "nodes", "--all", "kubernetes.io/hostname=x", "--overwrite")
        self.follow("default/train", "dropTerm")
        self.until_running("train-", 2)

    def test_scheduling_gates_are_removed(self):
        self.apply(job(pods=2, pod="schedulingGates: [{name: example.com/wait}],"))
        self.waits("train-", 2)
        self.follow("default/train", "removeGates")
        self.until_running("train-", 2)

    def test_another_job_is_suspended(self):
        self.apply(job("first", pods=4))
        self.until_running("first-", 4)
        self.apply(job(pods=2))
        self.follow("default/train", "jobGone")
        self.until_running("train-", 2)
        self.until(lambda: not self.pods_named("first-"), "the pods of the other are gone")
        self.assertIn("Abort", self.kubectl("get", "vcjob", "first", "-o", "jsonpath={.status.state.phase}"))

    def test_an_action_that_evicts_is_added(self):
        self.apply(priority("low", 1) + priority("high", 100))
        self.apply(job("first", pods=4, spec="priorityClassName: low"))
        self.until_running("first-", 4)
        self.apply(job(pods=4, spec="priorityClassName: high"))
        self.follow("default/train", "evict")
        self.until_running("train-", 4)


class OfQueuesAndNodes(Advice):
    def test_nodes_are_uncordoned(self):
        self.kubectl("cordon", "node-0", "node-1", "node-2", "node-3")
        self.apply(job(pods=2))
        self.follow("default/train", "uncordon")
        self.until_running("train-", 2)

    def test_a_limit_of_a_queue_is_raised(self):
        self.apply(queue("small", 2))
        self.apply(job(pods=2, spec="queue: small"))
        self.follow("default/train", "queueLimit")
        self.until_running("train-", 2)

    def test_a_queue_is_opened(self):
        self.apply(queue("shut", 2))
        self.apply(job(pods=2, spec="queue: shut"))
        self.until(lambda: self.advised("default/train", "queueLimit"), "it is too large for its queue")
        subprocess.run([STRATA, "queue", "close", "shut", "--kubeconfig", self.server.kubeconfig], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        self.until(lambda: "Clos" in self.kubectl("get", "queue", "shut", "-o", "jsonpath={.status.state}"), "closed")
        self.kubectl("patch", "queue", "shut", "--type=merge", "-p", '{"spec":{"capability":{"cpu":"8"}}}')
        self.follow("default/train", "openQueue")
        self.until_running("train-", 2)

    def test_a_quota_is_raised(self):
        configuration = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"volcano-scheduler.conf": WITH_QUOTAS},
                         "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"}}
        self.apply(json.dumps(configuration))
        self.until(lambda: self.server.logs("scheduler").count('"configuration read"') >= 2, "it is read again")
        self.apply("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: cores}\n"
                   "spec: {hard: {requests.cpu: 3}}\nstatus: {hard: {requests.cpu: 3}}\n")
        self.apply(job(pods=2))
        self.follow("default/train", "quotaLimit")
        self.until_running("train-", 2)

    def test_a_node_that_is_not_ready_has_no_command(self):
        for i in range(4):
            self.kubectl("patch", "node", f"node-{i}", "--subresource=status", "--type=merge", "-p",
                         '{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Test"}]}}')
        self.apply(job(pods=1))
        self.until(lambda: self.advised("default/train", "nodeReady"), "advice")
        self.assertEqual(self.advised("default/train", "nodeReady")["command"], "")


class EmptyUp(unittest.TestCase):
    """What an empty `up` prints on a terminal, typed as it stands, ends with a job that runs."""

    def test_what_it_says_next_can_be_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            master, slave = pty.openpty()
            self.addCleanup(os.close, master)
            up = subprocess.Popen([STRATA, "up", "--listen", "127.0.0.1:0", "--kubeconfig", f"{folder}/kubeconfig"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
            self.addCleanup(up.communicate)
            self.addCleanup(up.kill)
            os.close(slave)
            said = ""
            while "strata up --generate" not in said:
                said += os.read(master, 4096).decode()
            lines = re.findall(r"(?m)^  (.*?)\r?$", said.split("Or press")[0])
            self.assertEqual([line.split()[0] for line in lines], ["export", "kubectl", "kubectl", "kubectl", "strata"])
            environment = {"PATH": f"{pathlib.Path(STRATA).parent}:{os.environ['PATH']}", "HOME": folder}

            def typed(script):
                return subprocess.run(["sh", "-ec", script], env=environment, cwd=EXAMPLES.parent, text=True, check=True,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=60).stdout
            typed("\n".join(lines[:2]))
            wait_until(lambda: "is Running in s" in typed("\n".join([lines[0], lines[-1]])), LIMIT, "the job runs")
            self.assertIn("node0", typed("\n".join(lines[:3])))


class OfPodGroups(Advice):
    """What somebody wrote without a Job is changed itself."""

    def test_a_pod_group_starts_with_fewer_pods(self):
        self.apply(pod_group("gang", 5, "minResources: {cpu: 15}") + "".join(pod_of("gang", f"p{i}") for i in range(5)))
        self.follow("default/gang", "fewerPods")
        self.until_running("p", 4)

    def test_a_pod_group_may_span_a_higher_tier(self):
        self.apply(pod_group("gang", 3, "networkTopology: {mode: hard, highestTierAllowed: 1}")
                   + "".join(pod_of("gang", f"p{i}") for i in range(3)))
        self.follow("default/gang", "higherTier")
        self.until_running("p", 3)

    def test_pods_tolerate_a_taint(self):
        self.kubectl("taint", "nodes", "--all", "team=red:NoSchedule")
        self.apply(pod_group("gang", 2) + pod_of("gang", "p0") + pod_of("gang", "p1"))
        self.waits("p", 2)
        before = self.uid_of("pod p0")
        self.follow("default/gang", "tolerate")
        self.until_running("p", 2)
        self.assertEqual(self.uid_of("pod p0"), before, "it is the same pod")

    def test_pods_without_their_selector_are_made_anew(self):
        selector = "nodeSelector: {zone: none},"
        self.apply(pod_group("gang", 2) + pod_of("gang", "p0", spec=selector) + pod_of("gang", "p1", spec=selector))
        self.waits("p", 2)
        self.follow("default/gang", "dropTerm")
        self.until_running("p", 2)

    def test_the_gates_of_pods_are_removed(self):
        self.apply(pod_of("", "alone", spec="schedulingGates: [{name: example.com/wait}],"))
        self.waits("alone", 1)
        self.follow("default/alone", "removeGates")
        self.until_running("alone", 1)

    def test_a_pod_that_nobody_controls_is_deleted(self):
        self.apply("".join(pod_of("", f"old{i}") for i in range(4)))
        self.until_running("old", 4)
        self.apply(pod_of("", "alone"))
        self.follow("default/alone", "jobGone")
        self.until_running("alone", 1)
        self.assertEqual(len(self.pods_named("old")), 3)


if __name__ == "__main__":
    unittest.main()
