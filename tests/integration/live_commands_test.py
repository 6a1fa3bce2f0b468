#!/usr/bin/env python3
"""Commands for people against a running API server: snapshot, topology, queue list, explain, job, top; completion, manual, plugin."""
import fcntl
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import termios
import threading
import unittest

from api_server import ApiServer, Kubectl, new_kubectl
from strata_run import HERE, STRATA

EXAMPLES = HERE.parent.parent / "examples" / "training"
JOB = "pytorch-distributed-training"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
PODS = "/api/v1/namespaces/default/pods"


def run(*arguments, stdin=None, code=0, **environment):
    """(stdout, stderr) of strata."""
    done = subprocess.run([STRATA, *arguments], env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment},
                          input=stdin or "", capture_output=True, timeout=60, check=False, text=True)
    if done.returncode != code:
        raise AssertionError(f"strata {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


class LiveCommands(unittest.TestCase):
    """One server with the cluster of examples/training, its training job half placed: two pods run on s0, two wait."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.server = ApiServer(cls.folder.name)
        cls.addClassCleanup(cls.server.kill)
        kubectl = Kubectl(new_kubectl(), cls.server.kubeconfig, cls.folder.name)
        kubectl("apply", "-f", str(EXAMPLES))
        # The server taints a new node until a kubelet says that it is ready.
        kubectl("taint", "nodes", "--all", "node.kubernetes.io/not-ready-")
        cls.place()

    @classmethod
    def place(cls):
        """What controllers and scheduler would have done so far."""
        _, job = cls.server.json("GET", f"{JOBS}/{JOB}")
        task = job["spec"]["tasks"][0]
        cls.group = f"{JOB}-{job['metadata']['uid']}"
        owner = {"apiVersion": job["apiVersion"], "kind": "Job", "name": JOB, "uid": job["metadata"]["uid"], "controller": True}
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                 "metadata": {"name": cls.group, "ownerReferences": [owner]},
                 "spec": {"minMember": job["spec"]["minAvailable"], "queue": "default",
                          "networkTopology": job["spec"]["networkTopology"]}}
        status, made = cls.server.json("POST", GROUPS, group)
        assert status == 201, made
        made["status"] = {"phase": "Inqueue", "conditions": [
            {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": "2/4 tasks wait"}]}
        status, answer = cls.server.json("PUT", f"{GROUPS}/{cls.group}", made)
        assert status == 200, answer
        for index in range(task["replicas"]):
            cls.make_pod(task, index, owner)

    @classmethod
    def make_pod(cls, task, index, owner):
        keys = {"volcano.sh/job-name": JOB, "volcano.sh/task-spec": task["name"], "volcano.sh/task-index": str(index)}
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": f"{JOB}-{task['name']}-{index}", "labels": keys, "ownerReferences": [owner],
                            "annotations": {**keys, "scheduling.k8s.io/group-name": cls.group}},
               "spec": {**task["template"]["spec"], "schedulerName": "volcano"}}
        if index < 2:
            pod["spec"]["nodeName"] = f"node{index}"
        status, made = cls.server.json("POST", PODS, pod)
        assert status == 201, made
        if index < 2:
            made["status"]["phase"] = "Running"
            status, answer = cls.server.json("PUT", f"{PODS}/{made['metadata']['name']}/status", made)
            assert status == 200, answer

    def strata(self, *arguments, **options):
        return run(*arguments, KUBECONFIG=self.server.kubeconfig, **options)

    def test_a_snapshot_is_the_cluster_and_always_the_same(self):
        text, errors = self.strata("snapshot")
        self.assertEqual(errors, "")
        items = json.loads(text)["items"]
        kinds = {item["kind"] for item in items}
        self.assertLessEqual({"Node", "HyperNode", "Job", "PodGroup", "Pod", "Namespace", "Queue"}, kinds)
        self.assertNotIn("Secret", kinds)
        self.assertNotIn("managedFields", text)
        pod = next(item for item in items if item["kind"] == "Pod")
        _, same = self.server.json("GET", f"{PODS}/{pod['metadata']['name']}")
        del same["metadata"]["managedFields"]
        self.assertEqual(pod, same)
        self.assertEqual(self.strata("snapshot")[0], text)

    def test_simulate_takes_the_configuration_of_the_snapshot(self):
        snapshot = json.loads(self.strata("snapshot")[0])
        conf = 'actions: "enqueue, allocate"\ntiers: [{plugins: [{name: gang}, {name: nosuch}]}]'
        snapshot["items"] = [item for item in snapshot["items"] if item["kind"] != "ConfigMap"]
        snapshot["items"].append({"apiVersion": "v1", "kind": "ConfigMap", "data": {"volcano-scheduler.conf": conf},
                                  "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"}})
        _, errors = run("simulate", "-f", "-", stdin=json.dumps(snapshot), code=1)
        self.assertIn('unknown plugin "nosuch"', errors)
        self.assertIn("volcano-scheduler-configmap", errors)

    def test_simulate_sees_what_runs_and_makes_nothing_twice(self):
        result = json.loads(run("simulate", "-f", "-", "-o", "json", stdin=self.strata("snapshot")[0])[0])
        self.assertEqual(list(result["jobs"]), [f"default/{self.group}"])
        self.assertEqual(sorted(result["binds"]), [f"default/{JOB}-{name}" for name in self.waiting()])
        self.assertEqual(result["jobs"][f"default/{self.group}"]["allocatedHyperNode"], "s4")

    def waiting(self):
        _, pods = self.server.json("GET", PODS)
        return sorted(pod["metadata"]["name"].removeprefix(JOB + "-") for pod in pods["items"] if "nodeName" not in pod["spec"])

    def test_topology_shows_what_is(self):
        report = json.loads(self.strata("topology", "-o", "json")[0])
        given = json.loads(run("topology", "-f", "-", "--as-given", "-o", "json", stdin=self.strata("snapshot")[0])[0])
        self.assertEqual(report, given)
        self.assertIn("s0", self.strata("topology")[0])

    def test_queue_list_and_explain_take_the_running_cluster(self):
        queues, _ = self.strata("queue", "list")
        self.assertIn("default  Open", queues)
        by_job, _ = self.strata("explain", f"default/{JOB}")
        self.assertEqual(self.strata("explain", f"default/{self.group}")[0], by_job)
        self.assertEqual(self.strata("explain", JOB)[0], by_job)
        self.assertEqual(self.strata("explain", JOB, "-n", "default")[0], by_job)
        self.assertNotIn(self.group, by_job)
        pod = f"default/{JOB}-{self.waiting()[0]}"
        by_pod = f"Pod {pod} belongs to default/{JOB} and has no node.\n" + by_job
        self.assertEqual(self.strata("explain", pod)[0].split(), by_pod.split())
        _, errors = self.strata("explain", f"default/{JOB}", "-n", "kube-system", code=1)
        self.assertIn("-n names another namespace, kube-system", errors)

    def test_explain_tells_what_is_apart_from_what_would_be(self):
        sentence = self.strata("explain", JOB)[0].split("\n  ")[0].replace("\n", " ")
        self.assertEqual(sentence, f"default/{JOB} is Inqueue: 2 of its 4 pods have no node yet; the scheduler would place "
                                   "them in s4 (tier 2).")
        told = json.loads(self.strata("explain", JOB, "-o", "json")[0])
        self.assertEqual((told["phase"], told["allocatedHyperNode"], told["forecast"]["allocatedHyperNode"]), ("Inqueue", "", "s4"))
        self.assertEqual(told["existing"], {"wantedPods": 4, "pods": 4, "podsWithNode": 2})

    def make_other(self, name, ns, **spec):
        """A Job like the training job, in a namespace of its own."""
        _, job = self.server.json("GET", f"{JOBS}/{JOB}")
        other = {"apiVersion": job["apiVersion"], "kind": "Job", "metadata": {"name": name}, "spec": {**job["spec"], **spec}}
        self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
        status, made = self.server.json("POST", JOBS.replace("default", ns), other)
        self.assertEqual(status, 201, made)
        self.addCleanup(self.server.json, "DELETE", JOBS.replace("default", ns) + "/" + name)
        return made

    def test_explain_invents_no_pods(self):
        made = self.make_other("b1", "classless", priorityClassName="nope")
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                 "metadata": {"name": f"b1-{made['metadata']['uid']}"}, "spec": {"minMember": 4, "queue": "default"}}
        status, answer = self.server.json("POST", GROUPS.replace("default", "classless"), group)
        self.assertEqual(status, 201, answer)
        answer["status"] = {"phase": "Inqueue"}
        path = f"{GROUPS.replace('default', 'classless')}/{group['metadata']['name']}"
        self.addCleanup(self.server.json, "DELETE", path)
        self.assertEqual(self.server.json("PUT", path, answer)[0], 200)
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "b1.1", "namespace": "classless"},
                 "involvedObject": {"kind": "Job", "namespace": "classless", "name": "b1"}, "type": "Warning",
                 "reason": "FailedCreate", "message": "forbidden", "lastTimestamp": "2026-01-01T00:00:00Z"}
        self.assertEqual(self.server.json("POST", "/api/v1/namespaces/classless/events", event)[0], 201)
        text, _ = self.strata("explain", "b1", "-n", "classless")
        self.assertEqual(text.replace("\n", " ").split("  warning")[0].strip(),
                         'classless/b1 waits (PriorityClassNotFound): PriorityClass "nope" does not exist, so its 4 pods cannot '
                         "be created")
        self.assertIn("\n    kubectl create priorityclass nope --value=0\n", text)
        self.assertIn("FailedCreate: forbidden", text)
        row = self.strata("job", "list", "-n", "classless")[0].splitlines()[1]
        self.assertEqual(row.split()[-1], "PriorityClassNotFound")
        self.assertNotIn("Running", text)

    def test_explain_tells_of_a_finished_job(self):
        made = self.make_other("old", "past")
        made["status"] = {"state": {"phase": "Completed", "lastTransitionTime": "2026-01-01T12:00:00Z"},
                          "conditions": [{"status": "Running", "lastTransitionTime": "2026-01-01T10:00:00Z"}]}
        self.assertEqual(self.server.json("PUT", JOBS.replace("default", "past") + "/old/status", made)[0], 200)
        text, _ = self.strata("explain", "past/old", "--now", "2026-01-01T12:05:00Z")
        self.assertEqual(text, "past/old completed 5m ago; it ran for 120m.\n")

    def test_the_configuration_of_the_cluster_counts(self):
        self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": "volcano-system"}})
        maps = "/api/v1/namespaces/volcano-system/configmaps"
        conf = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: nonesuch\n"
        status, _ = self.server.json("POST", maps, {"metadata": {"name": "volcano-scheduler-configmap"},
                                                    "data": {"volcano-scheduler.conf": conf}})
        self.assertEqual(status, 201)
        try:
            _, errors = self.strata("topology", code=1)
            self.assertIn("volcano-scheduler-configmap", errors)
            self.assertIn("nonesuch", errors)
            self.assertIn("--scheduler-conf names another", errors)
            self.assertEqual(errors.count("\n"), 1)
        finally:
            self.server.json("DELETE", maps + "/volcano-scheduler-configmap")

    def test_job_list_says_where_and_why(self):
        text, _ = self.strata("job", "list")
        head, row = text.splitlines()
        self.assertEqual(head.split(), ["JOB", "QUEUE", "PODS", "GPUS", "PHASE", "TIME", "DOMAIN", "REASON"])
        self.assertEqual(row.split()[:3] + row.split()[4:5], [JOB, "default", "2/4", "Pending"])
        self.assertEqual(row.split()[-2:], ["s0", "NotEnoughResources"])
        self.assertTrue(self.strata("job", "list", "-o", "wide")[0].endswith("2/4 tasks wait\n"))
        self.assertIn("default", self.strata("job", "list", "-A")[0].splitlines()[1])
        self.assertEqual(self.strata("job", "list", "-n", "kube-system")[0], "No jobs.\n")
        job = json.loads(self.strata("job", "list", "-o", "json")[0])["jobs"][0]
        self.assertEqual((job["ready"], job["total"], job["hyperNode"], job["podGroup"]), (2, 4, "s0", self.group))
        self.assertEqual(self.strata("job", "list", "-o", "name")[0], f"job.batch.volcano.sh/{JOB}\n")

    def test_job_list_chooses_and_sorts(self):
        _, errors = self.strata("job", "list", "--state", "busy", code=2)
        self.assertIn('unknown state "busy" (want waiting, running, finished, suspended', errors)
        for flags, found in ((["--state", "waiting"], True), (["--state", "running,Failed"], False), (["--queue", "root"], False),
                             (["-l", "!team"], True), (["-l", "team=vision"], False), (["--sort-by", "time"], True)):
            self.assertEqual(self.strata("job", "list", *flags, "-o", "name")[0] != "", found, flags)

    def test_job_list_says_what_does_not_exist(self):
        self.assertEqual(self.strata("job", "list", "--queue", "defalt", code=1)[1],
                         'queue "defalt" does not exist; nearest is default\n')
        self.assertEqual(self.strata("job", "list", "-n", "kube-sistem", code=1)[1],
                         'namespace "kube-sistem" does not exist; nearest is kube-system\n')

    def test_names_take_a_kind_and_a_misspelt_one_names_the_nearest(self):
        pod = f"{JOB}-{self.waiting()[0]}"
        for name in (f"VCJob/{JOB}", f"default/job/{JOB}", f"podgroup/{self.group}", f"Pod/{pod}"):
            self.assertIn(JOB, self.strata("explain", name)[0], name)
            self.assertIn("LEAF", self.strata("job", "describe", name)[0], name)
        for command in (["job", "describe"], ["job", "suspend"], ["job", "cancel", "--yes"]):
            _, errors = self.strata(*command, JOB[:-2], code=1)
            self.assertRegex(errors, f'jobs.batch.volcano.sh "{JOB[:-2]}" not found; nearest (is|are) {JOB}')
        _, errors = self.strata("job", "suspend", f"pod/{pod}", code=1)
        self.assertEqual(errors, f"pod/{pod}: this is for Jobs, not for a Pod\n")
        _, errors = self.strata("job", "suspend", code=2)
        self.assertIn("want the name of a Job, [NS/]JOB", errors)

    def test_job_list_has_groups_of_other_controllers(self):
        ns = "ray"
        self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
        owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "r", "uid": "u-1", "controller": True}
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "spec": {"minMember": 2, "queue": "default"},
                 "metadata": {"name": "ray-r-pg", "ownerReferences": [owner]}}
        path = GROUPS.replace("default", ns)
        self.assertEqual(self.server.json("POST", path, group)[0], 201)
        self.addCleanup(self.server.json, "DELETE", path + "/ray-r-pg")
        job, = json.loads(self.strata("job", "list", "-n", ns, "-o", "json")[0])["jobs"]
        self.assertEqual((job["kind"], job["owner"], job["total"], job["state"]), ("PodGroup", "RayCluster/r", 2, "waiting"))
        self.assertIn("ray-r-pg", self.strata("job", "describe", f"{ns}/ray-r-pg")[0])

    def test_job_list_watches(self):
        process = subprocess.Popen([STRATA, "job", "list", "--watch"], stdout=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "KUBECONFIG": self.server.kubeconfig})
        limit = threading.Timer(60, process.kill)
        limit.start()
        try:
            self.assertTrue(process.stdout.readline().startswith("JOB "))
            self.assertTrue(process.stdout.readline().startswith(JOB))
            self.assertEqual(process.stdout.readline(), "\n")
        finally:
            limit.cancel()
            process.kill()
            process.communicate()

    def test_a_list_fits_a_terminal_of_80_columns(self):
        self.make_other("a-job-with-a-name-that-is-rather-long-for-one-line", "computer-vision-research")
        piped, _ = self.strata("job", "list", "-A")
        self.assertIn("a-job-with-a-name-that-is-rather-long-for-one-line", piped)
        self.assertTrue(any(len(line) > 80 for line in piped.splitlines()))
        self.assertTrue(all(len(line) <= 80 for line in self.on_terminal(80, "job", "list", "-A")))
        wide = "\n".join(self.on_terminal(200, "job", "list", "-A"))
        self.assertIn("a-job-with-a-name-that-is-rather-long-for-one-line", wide)
        self.assertNotIn("…", wide)

    def test_every_view_fits_a_terminal_of_80_columns(self):
        self.make_other("a-job-with-a-name-that-is-rather-long-for-one-line", "computer-vision-research")
        for view in ("top", "topology", "queue list", "queue describe default", "job list", f"simulate -f {EXAMPLES}"):
            wide = [line for line in self.on_terminal(80, *view.split()) if len(line) > 80]
            self.assertEqual(wide, [], view)

    def on_terminal(self, columns, *arguments):
        """Lines of a command on a terminal so wide."""
        terminal, end = os.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {"PATH": os.environ["PATH"], "KUBECONFIG": self.server.kubeconfig, "NO_COLOR": "1"}
        process = subprocess.Popen([STRATA, *arguments], stdout=end, stderr=subprocess.PIPE, env=environment)
        os.close(end)
        text = b""
        try:
            while True:
                text += os.read(terminal, 65536)
        except OSError:  # the program has ended
            pass
        os.close(terminal)
        self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", 0))
        return text.decode().replace("\r\n", "\n").splitlines()

    def test_job_describe_groups_pods_by_leaf(self):
        job = json.loads(self.strata("job", "describe", JOB, "-o", "json")[0])
        self.assertEqual([pod["leaf"] for pod in job["pods"]], ["", "", "s0", "s0"])
        self.assertEqual(job["conditions"][0]["reason"], "NotEnoughResources")
        self.assertEqual(job["tasks"][0]["pods"], {"Pending": 2, "Running": 2})
        self.assertIn("LEAF", self.strata("job", "describe", JOB)[0])
        self.assertIn("LEAF", self.strata("job", "describe", f"default/{JOB}", "-n", "default")[0])
        _, errors = self.strata("job", "describe", f"default/{JOB}", "-n", "other", code=1)
        self.assertEqual(errors, f"default/{JOB}: -n names another namespace, other\n")
        _, errors = self.strata("job", "describe", "nothing", code=1)
        self.assertEqual(errors, 'jobs.batch.volcano.sh "nothing" not found\n')

    def test_evictions_are_read_from_events(self):
        self.assertTrue(self.strata("evictions", "-n", "kube-system")[0].startswith("No evictions among the events"))
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "wide.1", "namespace": "default"},
                 "involvedObject": {"kind": "PodGroup", "namespace": "default", "name": "wide"},
                 "reason": "Evict", "type": "Normal", "count": 1, "lastTimestamp": "2026-01-01T00:00:00Z",
                 "message": "gangpreempt: 3 of 3 pods, for default/train in HyperNode s0 (tier 1)"}
        status, made = self.server.json("POST", "/api/v1/namespaces/default/events", event)
        self.assertEqual(status, 201, made)
        head, row = self.strata("evictions", "-A")[0].splitlines()
        self.assertEqual(head.split(), ["AGE", "ACTION", "EVICTED", "PODS", "FOR", "IN"])
        self.assertEqual(row.split()[1:], "gangpreempt default/wide 3 of 3 default/train HyperNode s0 (tier 1)".split())
        self.assertEqual(json.loads(self.strata("evictions", "-o", "json")[0])["evictions"][0]["for"], "default/train")

    def test_suspend_and_resume_are_commands_to_the_controller(self):
        _, job = self.server.json("GET", f"{JOBS}/{JOB}")
        for word, action in (("suspend", "AbortJob"), ("resume", "ResumeJob")):
            self.strata("job", word, JOB)
            _, commands = self.server.json("GET", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands")
            made = [item for item in commands["items"] if item["action"] == action]
            self.assertEqual(len(made), 1)
            self.assertTrue(made[0]["metadata"]["name"].startswith(f"{JOB}-{action.lower()}-"))
            self.assertEqual(made[0]["target"]["uid"], job["metadata"]["uid"])
            self.assertEqual(made[0]["metadata"]["ownerReferences"][0]["kind"], "Job")
            self.assertIn(f"{word} was requested before", self.strata("job", word, JOB)[0])
        self.strata("job", "suspend", "nothing", code=1)

    def test_cancel_asks_or_is_told(self):
        _, job = self.server.json("GET", f"{JOBS}/{JOB}")
        other = {"apiVersion": job["apiVersion"], "kind": "Job", "metadata": {"name": "other"}, "spec": job["spec"]}
        self.assertEqual(self.server.json("POST", JOBS.replace("default", "kube-public"), other)[0], 201)
        _, errors = self.strata("job", "cancel", "other", "-n", "kube-public", code=1)
        self.assertIn("use --yes", errors)
        self.assertEqual(self.strata("job", "cancel", "other", "-n", "kube-public", "--yes")[0],
                         "job kube-public/other deleted\n")
        _, errors = self.strata("job", "cancel", "other", "-n", "kube-public", "--yes", code=1)
        self.assertEqual(errors, 'jobs.batch.volcano.sh "other" not found\n')

    def test_queues_are_created_described_and_deleted(self):
        text, _ = self.strata("queue", "create", "ml.dev", "-w", "3", "--capability", "cpu=8,nvidia.com/gpu=4")
        self.assertEqual(text, "queue ml.dev created\n")
        _, made = self.server.json("GET", "/apis/scheduling.volcano.sh/v1beta1/queues/ml.dev")
        self.assertEqual((made["spec"]["weight"], made["spec"]["capability"]), (3, {"cpu": "8", "nvidia.com/gpu": "4"}))
        queue = json.loads(self.strata("queue", "describe", "ml.dev", "-o", "json")[0])
        self.assertEqual((queue["name"], queue["weight"], queue["left"]["nvidia.com/gpu"]), ("ml.dev", 3, 4))
        self.assertIn("Weight:    3", self.strata("queue", "get", "-n", "ml.dev")[0])
        listed = json.loads(self.strata("queues", "-o", "json")[0])["queues"]["ml.dev"]
        self.assertEqual({**listed, "name": "ml.dev"}, queue)
        _, errors = self.strata("queue", "describe", "ml.dve", code=1)
        self.assertTrue(errors.startswith('queue "ml.dve" not found; similar names: ml.dev, '), errors)
        _, errors = self.strata("queue", "delete", "ml.dev", code=1)
        self.assertIn("use --yes", errors)
        self.assertEqual(self.strata("delete", "queue", "ml.dev", "--yes")[0], "queue ml.dev deleted\n")
        _, errors = self.strata("queue", "delete", "ml.dev", "--yes", code=1)
        self.assertEqual(errors, 'queues.scheduling.volcano.sh "ml.dev" not found\n')
        _, errors = self.strata("queue", "delete", "default", "--yes", code=1)
        self.assertIn("can not be deleted", errors)

    def test_job_run_creates_what_its_flags_say(self):
        text, _ = self.strata("job", "run", "quick", "-n", "kube-public", "-r", "4", "-m", "2", "-R", "cpu=2", "--tier", "1",
                              "-q", "default", "--", "sleep", "60")
        self.assertEqual(text, "job kube-public/quick created\n")
        path = JOBS.replace("default", "kube-public") + "/quick"
        self.addCleanup(self.server.json, "DELETE", path)
        spec = self.server.json("GET", path)[1]["spec"]
        self.assertEqual((spec["minAvailable"], spec["networkTopology"]["highestTierAllowed"]), (2, 1))
        container = spec["tasks"][0]["template"]["spec"]["containers"][0]
        self.assertEqual((container["command"], container["resources"]["limits"]), (["sleep", "60"], {"cpu": "2"}))
        _, errors = self.strata("job", "run", "quick", "-n", "kube-public", code=1)
        self.assertIn("already exists", errors)
        _, errors = self.strata("job", "logs", "quick", "-n", "kube-public", code=1)
        self.assertIn("so there are no logs; strata explain kube-public/quick", errors)

    def test_job_run_takes_a_file(self):
        manifest, _ = run("job", "run", "-N", "filed", "--dry-run", "-n", "kube-public")
        self.assertIn("kind: Job", manifest)
        self.assertEqual(self.strata("job", "run", "-f", "-", stdin=manifest)[0], "job kube-public/filed created\n")
        self.server.json("DELETE", JOBS.replace("default", "kube-public") + "/filed")
        _, errors = self.strata("job", "run", "-f", "-", stdin="kind: Pod\napiVersion: v1\n", code=1)
        self.assertIn("want one Job of batch.volcano.sh/v1alpha1", errors)
        _, errors = self.strata("job", "run", code=2)
        self.assertIn("want a name, or a file with -f", errors)

    def test_names_are_completed_from_the_cluster(self):
        def names(*words):
            return self.strata("__complete", *words)[0].split()
        self.assertEqual(names("jobs", "--", "job", "describe", ""), [JOB])
        self.assertEqual(names("jobs", "--", "explain", "default/py"), [f"default/{JOB}"])
        self.assertEqual(names("jobs", "--", "job", "logs", "-n", "kube-system", ""), [])
        self.assertIn("default", names("queues", "--", ""))
        self.assertLessEqual({"node0", "s0"}, set(names("nodes", "--", "")))
        self.assertNotIn("node0", names("hypernodes", "--", ""))
        self.assertEqual(run("__complete", "jobs", "--", ""), ("", ""))
        self.assertEqual(run("__complete", "jobs", "--", "--kubeconfig", "/nonexistent", ""), ("", ""))

    def test_what_if_shows_what_would_become_of_the_running_cluster(self):
        text, told = self.strata("topology", "--drain", "s0", "-o", "json")
        self.assertIn("what if: s0 (2 nodes) drained: 2 pods wait again\n", told)
        self.assertNotEqual(text, self.strata("topology", "-o", "json")[0])
        _, told = self.strata("top", "--without", JOB)
        self.assertIn(f"what if: default/{JOB} removed: 4 pods gone\n", told)
        self.assertIn("would be not there", told)
        _, told = self.strata("queue", "list", "--set", "default.weight=7")
        self.assertEqual(told, "what if: queue default.weight=7\nwhat if: no job is placed otherwise\n")
        _, errors = self.strata("explain", JOB, "--drain", "s00", code=1)
        self.assertTrue(errors.startswith("no node or HyperNode of the name s00; similar names: s0"), errors)
        self.assertEqual(len(self.waiting()), 2)  # nothing was written

    def test_top_counts_requests(self):
        report = json.loads(self.strata("top", "-o", "json")[0])
        self.assertEqual([node["name"] for node in report["nodes"]], [f"node{i}" for i in range(8)])
        self.assertNotEqual(report["nodes"][0]["used"]["cpu"], "0")
        self.assertEqual(report["nodes"][7]["used"]["cpu"], "0")
        self.assertIn("(cluster)", self.strata("top")[0])

    def test_watch_shows_each_change_as_a_block(self):
        process = subprocess.Popen([STRATA, "top", "--watch"], stdout=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "KUBECONFIG": self.server.kubeconfig})
        limit = threading.Timer(30, process.kill)
        limit.start()
        try:
            self.assertTrue(self.read_block(process).startswith("NAME"))
            node = {"metadata": {"name": "newcomer"}, "status": {"capacity": {"cpu": "1"}}}
            self.assertEqual(self.server.json("POST", "/api/v1/nodes", node)[0], 201)
            while "newcomer" not in self.read_block(process):
                pass
        finally:
            limit.cancel()
            process.kill()
            process.communicate()
            self.server.json("DELETE", "/api/v1/nodes/newcomer")

    def read_block(self, process):
        """Two tables with an empty line between them, and one after."""
        lines = []
        while sum(line == "\n" for line in lines) < 2:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", "ended: " + "".join(lines))
            lines.append(line)
        return "".join(lines)

    def test_errors_are_one_line_with_the_next_step(self):
        text = pathlib.Path(self.server.kubeconfig).read_text(encoding="utf-8")
        nobody = pathlib.Path(self.folder.name) / "nobody"
        nobody.write_text(text.replace(self.server.url, "https://127.0.0.1:1"), encoding="utf-8")
        stranger = pathlib.Path(self.folder.name) / "stranger"
        stranger.write_text(text.replace("token: ", "token: x"), encoding="utf-8")
        for kubeconfig, words in ((nobody, "is the cluster running?"), (stranger, "log in again"),
                                  ("/nonexistent", "--kubeconfig")):
            for command in (["snapshot"], ["topology"], ["topology", "--watch"], ["job", "list"]):
                out, errors = run(*command, KUBECONFIG=str(kubeconfig), code=1)
                self.assertEqual(out, "")
                self.assertIn(words, errors)
                self.assertEqual(errors.count("\n"), 1, errors)

    def test_kubectl_finds_the_plugin(self):
        path = f"{pathlib.Path(STRATA).parent}:{os.environ['PATH']}"
        done = subprocess.run([new_kubectl(), "strata", "topology"], capture_output=True, text=True, check=True, timeout=60,
                              env={"PATH": path, "HOME": self.folder.name, "KUBECONFIG": self.server.kubeconfig})
        self.assertEqual(done.stdout, self.strata("topology")[0])


class ShellHelp(unittest.TestCase):
    def complete(self, *words):
        """What bash offers after these words."""
        script = ('source <("$STRATA" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_strata 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", "strata", *words], capture_output=True, text=True, check=True,
                              timeout=30, env={"PATH": os.environ["PATH"], "STRATA": STRATA})
        return done.stdout.split()

    def test_bash_completes_commands_flags_and_words(self):
        self.assertEqual(self.complete("snap"), ["snapshot"])
        self.assertEqual(self.complete("job", ""), ["list", "describe", "run", "logs", "suspend", "resume", "cancel", "--help"])
        self.assertEqual(self.complete("job", "list", "--all"), ["--all-namespaces"])
        self.assertEqual(self.complete("simulate", "-o", ""), ["table", "json", "yaml"])
        self.assertEqual(self.complete("simulate", "--now", ""), [])

    def test_every_command_of_the_help_is_completed(self):
        text = run("--help")[0].split("Subcommands:\n")[1].split("\n\n")[0].split("\nExamples")[0]
        names = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and not line.startswith("   ")]
        self.assertIn("simulate", names)
        self.assertEqual([word for word in self.complete("") if not word.startswith("-")], names)

    def test_every_command_for_people_has_examples(self):
        for command in (["snapshot"], ["topology"], ["queue", "list"], ["queue", "create"], ["explain"], ["top"], ["job"],
                        ["job", "list"], ["job", "run"], ["job", "cancel"], ["generate"], ["compare"], ["completion"], ["man"]):
            self.assertIn("Examples:\n  ", run(*command, "--help")[0])

    def test_the_other_shells_take_their_scripts(self):
        for shell, check in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
            script = run("completion", shell)[0]
            self.assertIn("suspend", script)
            if shutil.which(shell):
                subprocess.run([shell, *check], input=script, text=True, check=True, timeout=30)

    def test_the_manual_is_sound_roff(self):
        page = run("man")[0]
        self.assertTrue(page.startswith(".TH STRATA 1"))
        self.assertIn(".SS strata job describe", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True,
                                  timeout=30)
            self.assertEqual(done.stderr, "")
            self.assertIn("describe", done.stdout)


if __name__ == "__main__":
    unittest.main()
