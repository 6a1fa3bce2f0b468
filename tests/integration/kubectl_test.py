#!/usr/bin/env python3
"""What people type: real kubectls, the one on PATH and 1.20, against `strata apiserver`."""
import json
import pathlib
import tempfile
import unittest

from api_server import ApiServer, Kubectl, new_kubectl, old_kubectl, read_until

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: web}}
spec:
  containers:
  - {name: main, image: busybox, resources: {requests: {cpu: 100m}}}
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}
"""

JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 2
  schedulerName: volcano
  queue: default
  networkTopology: {mode: hard, highestTierAllowed: 1}
  tasks:
  - name: worker
    replicas: %d
    minAvailable: 2
    maxRetry: 3
    template:
      spec:
        containers: [{name: main, image: "pytorch:2"}]
"""
HYPERNODE = """
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: %s}
spec:
  tier: 1
  members:
  - {type: Node, selector: {exactMatch: {name: n1}}}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s}
status: {capacity: {cpu: "8", memory: 16Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: racks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: racks, singular: rack, kind: Rack, shortNames: [rk]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Height, type: integer, jsonPath: .spec.height}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {height: {type: integer, minimum: 1, default: 42, description: Units of the rack.}}
"""


class KubectlCase:
    """Every command, once per kubectl; each test has a namespace of its own."""
    program = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = ApiServer(cls.folder.name)
        cls.everywhere = Kubectl(cls.program(), cls.server.kubeconfig, cls.folder.name)
        cls.count = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        type(self).count += 1
        self.namespace = f"test-{self.count}"
        self.everywhere("create", "namespace", self.namespace)

    def kubectl(self, *arguments, **options):
        return self.everywhere("-n", self.namespace, *arguments, **options)

    def get(self, *arguments):
        return self.everywhere.json("-n", self.namespace, "get", *arguments)

    def manifest(self, text):
        path = pathlib.Path(self.folder.name) / "manifest.yaml"
        path.write_text(text)
        return str(path)

    def node(self):
        name = f"node-{self.count}"
        self.kubectl("create", "-f", "-", stdin=NODE % name)
        return name

    def bound_pod(self, name, node):
        self.kubectl("create", "-f", "-", stdin=POD % name)
        status, answer = self.server.json(
            "POST", f"/api/v1/namespaces/{self.namespace}/pods/{name}/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": node}})
        self.assertEqual(status, 201, answer)

    def test_apply_says_created_configured_unchanged(self):
        one, two = JOB % 2, JOB % 3
        self.assertIn("job.batch.volcano.sh/train created", self.kubectl("apply", "-f", self.manifest(one)))
        self.assertIn("job.batch.volcano.sh/train unchanged", self.kubectl("apply", "-f", self.manifest(one)))
        self.assertIn("job.batch.volcano.sh/train configured", self.kubectl("apply", "-f", self.manifest(two)))
        self.assertEqual(self.get("vcjob", "train")["spec"]["tasks"][0]["replicas"], 3)
        self.assertIn("pod/a created", self.kubectl("apply", "-f", self.manifest(POD % "a")))
        self.assertIn("pod/a unchanged", self.kubectl("apply", "-f", self.manifest(POD % "a")))
        changed = (POD % "a").replace("image: busybox", "image: alpine")
        self.assertIn("pod/a configured", self.kubectl("apply", "-f", self.manifest(changed)))
        self.assertEqual(self.get("pod", "a")["spec"]["containers"][0]["image"], "alpine")

    def test_create_f_and_again(self):
        self.assertIn("pod/a created", self.kubectl("create", "-f", "-", stdin=POD % "a"))
        again = self.kubectl("create", "-f", "-", stdin=POD % "a", code=1)
        self.assertIn('pods "a" already exists', again)

    def test_replace_takes_the_manifest_that_made_a_pod(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.assertIn("pod/a replaced", self.kubectl("replace", "-f", "-", stdin=POD % "a"))
        self.assertIn("pod/a replaced", self.kubectl("replace", "--force", "-f", "-", stdin=POD % "a"))

    def test_typed_creates(self):
        self.assertIn("secret/s created", self.kubectl(
            "create", "secret", "generic", "s", "--from-literal=user=admin", "--from-literal=password=hush"))
        self.assertEqual(self.get("secret", "s")["data"], {"user": "YWRtaW4=", "password": "aHVzaA=="})
        self.assertEqual(self.get("secret", "s")["type"], "Opaque")
        self.assertIn("configmap/c created", self.kubectl("create", "configmap", "c", "--from-literal=a=b"))
        self.assertEqual(self.get("configmap", "c")["data"], {"a": "b"})
        self.assertIn("serviceaccount/robot created", self.kubectl("create", "serviceaccount", "robot"))
        self.assertIn("quota", self.kubectl("create", "quota", "q", "--hard=cpu=1,pods=2"))
        self.assertEqual(self.get("resourcequota", "q")["spec"]["hard"], {"cpu": "1", "pods": "2"})
        name = f"other-{self.namespace}"
        self.assertIn(f"namespace/{name} created", self.kubectl("create", "namespace", name))
        self.assertEqual(self.get("namespace", name)["status"]["phase"], "Active")

    def test_get_in_every_form(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.kubectl("create", "-f", "-", stdin=(POD % "b").replace("app: web", "app: db"))
        table = self.kubectl("get", "pods").splitlines()
        self.assertEqual(table[0].split(), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        self.assertEqual([line.split()[:4] for line in table[1:]],
                         [["a", "0/1", "Pending", "0"], ["b", "0/1", "Pending", "0"]])
        self.assertIn("NOMINATED NODE", self.kubectl("get", "pods", "-o", "wide"))
        self.assertEqual(self.kubectl("get", "pods", "-l", "app in (db)", "-o", "name").split(), ["pod/b"])
        self.assertEqual(self.kubectl("get", "pods", "-l", "app!=db", "-o", "name").split(), ["pod/a"])
        self.assertEqual(self.kubectl("get", "pods", "--field-selector", "metadata.name=b", "-o", "name").split(), ["pod/b"])
        yaml = self.kubectl("get", "pod", "a", "-o", "yaml")
        self.assertIn("kind: Pod", yaml)
        self.assertIn("cpu: 100m", yaml)
        self.assertIn("schedulerName: default-scheduler", yaml)
        self.assertIn('pods "nope" not found', self.kubectl("get", "pod", "nope", code=1))
        self.assertIn("No resources found", self.kubectl("get", "configmaps"))
        self.assertIn(self.namespace, self.kubectl("get", "pods", "-A"))
        self.assertIn("the server doesn't have a resource type", self.kubectl("get", "gizmos", code=1))

    def test_get_w_shows_what_happens(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        watcher = self.everywhere.start("-n", self.namespace, "get", "pods", "-w")
        try:
            read_until(watcher, "Pending")
            self.kubectl("create", "-f", "-", stdin=POD % "b")
            read_until(watcher, "b ")
        finally:
            watcher.kill()
            watcher.communicate()

    def test_describe(self):
        node = self.node()
        self.bound_pod("a", node)
        pod = self.get("pod", "a")
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a.1"}, "reason": "FailedScheduling", "type": "Warning",
            "message": "no rack holds the gang", "source": {"component": "volcano"}, "count": 1,
            "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:05Z",
            "involvedObject": {"kind": "Pod", "namespace": self.namespace, "name": "a", "uid": pod["metadata"]["uid"]}}))
        text = self.kubectl("describe", "pod", "a")
        self.assertIn("no rack holds the gang", text)
        self.assertIn(f"Node:         {node}", text.replace("Node:             ", "Node:         "))
        self.kubectl("apply", "-f", self.manifest(JOB % 2))
        self.assertIn("Min Available", self.kubectl("describe", "vcjob", "train"))
        described = self.kubectl("describe", "node", node)
        self.assertIn("Non-terminated Pods:", described)
        self.assertIn(self.namespace, described)

    def test_label_and_annotate(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.assertIn("pod/a labeled", self.kubectl("label", "pod", "a", "x=y"))
        self.assertIn("already has a value", self.kubectl("label", "pod", "a", "x=z", code=1))
        self.kubectl("label", "pod", "a", "x=z", "app-", "--overwrite")
        self.assertEqual(self.get("pod", "a")["metadata"]["labels"], {"x": "z"})
        self.assertIn("pod/a annotated", self.kubectl("annotate", "pod", "a", "note=hello world"))
        self.assertEqual(self.get("pod", "a")["metadata"]["annotations"]["note"], "hello world")

    def test_patch_of_every_type(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        strategic = '{"spec":{"containers":[{"name":"main","image":"alpine"}]}}'
        self.assertIn("pod/a patched", self.kubectl("patch", "pod", "a", "-p", strategic))
        pod = self.get("pod", "a")
        self.assertEqual(pod["spec"]["containers"][0]["image"], "alpine")
        self.assertEqual(pod["spec"]["containers"][0]["resources"]["requests"], {"cpu": "100m"})
        self.kubectl("patch", "pod", "a", "--type=merge", "-p", '{"metadata":{"labels":{"m":"1"}}}')
        self.kubectl("patch", "pod", "a", "--type=json", "-p", '[{"op":"add","path":"/metadata/labels/j","value":"2"}]')
        self.assertEqual(self.get("pod", "a")["metadata"]["labels"], {"app": "web", "m": "1", "j": "2"})
        self.kubectl("apply", "-f", self.manifest(JOB % 2))
        refused = self.kubectl("patch", "vcjob", "train", "-p", '{"spec":{"minAvailable":1}}', code=1)
        # 1.20 shows what the server said.
        self.assertRegex(refused, "strategic-merge-patch.json is not supported|UnsupportedMediaType")
        self.kubectl("patch", "vcjob", "train", "--type=merge", "-p", '{"spec":{"minAvailable":1}}')
        self.assertEqual(self.get("vcjob", "train")["spec"]["minAvailable"], 1)
        failed = self.kubectl("patch", "pod", "a", "--type=json", "-p", '[{"op":"test","path":"/metadata/name","value":"b"}]', code=1)
        self.assertRegex(failed, "the server rejected our request due to an error in our request|The request is invalid")

    def test_edit(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.assertIn("pod/a edited", self.kubectl("edit", "pod", "a", KUBE_EDITOR="sed -i s/busybox/alpine/"))
        self.assertEqual(self.get("pod", "a")["spec"]["containers"][0]["image"], "alpine")
        self.kubectl("apply", "-f", self.manifest(JOB % 2))
        self.kubectl("edit", "vcjob", "train", KUBE_EDITOR="sed -i s/minAvailable:.2/minAvailable:\\ 1/")
        self.assertEqual(self.get("vcjob", "train")["spec"]["minAvailable"], 1)

    def test_delete_and_wait(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.assertIn('pod "a" deleted', self.kubectl("delete", "pod", "a"))
        self.assertIn("not found", self.kubectl("get", "pod", "a", code=1))
        self.kubectl("apply", "-f", self.manifest(JOB % 2))
        self.assertIn('"train" deleted', self.kubectl("delete", "vcjob", "--all"))
        self.assertIn("No resources found", self.kubectl("get", "vcjob"))
        self.kubectl("create", "configmap", "c")
        self.assertIn("deleted", self.kubectl("delete", "namespace", self.namespace))
        self.assertIn("not found", self.everywhere("get", "namespace", self.namespace, code=1))

    def test_wait_for_a_condition(self):
        self.kubectl("create", "-f", "-", stdin=POD % "a")
        self.assertIn("timed out", self.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=1s", code=1))
        waiter = self.everywhere.start("-n", self.namespace, "wait", "--for=condition=Ready", "pod/a", "--timeout=30s", "-v=6")
        read_until(waiter, "watch=true")  # it says so when the watch is open: what follows, it can only see there
        status, answer = self.server.json(
            "PATCH", f"/api/v1/namespaces/{self.namespace}/pods/a/status",
            {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
            {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(status, 200, answer)
        said = waiter.communicate(timeout=30)[0]
        self.assertIn("pod/a condition met", said)
        self.assertNotIn("GET", said)  # no second look

    def test_cordon_taint_drain(self):
        node = self.node()
        self.bound_pod("a", node)
        self.assertIn("cordoned", self.kubectl("cordon", node))
        self.assertIn("SchedulingDisabled", self.kubectl("get", "node", node))
        self.assertIn("uncordoned", self.kubectl("uncordon", node))
        self.assertIn("tainted", self.kubectl("taint", "node", node, "gpu=broken:NoSchedule"))
        self.assertIn({"key": "gpu", "value": "broken", "effect": "NoSchedule"}, self.get("node", node)["spec"]["taints"])
        self.assertIn("untainted", self.kubectl("taint", "node", node, "gpu-"))
        drained = self.kubectl("drain", node, "--force", "--grace-period=0", "--timeout=30s")
        self.assertIn(f"node/{node} drained", drained.replace("evicted", "drained"))
        self.assertIn("not found", self.kubectl("get", "pod", "a", code=1))

    def test_a_budget_holds_a_drain(self):
        node = self.node()
        self.bound_pod("a", node)
        path = f"/api/v1/namespaces/{self.namespace}/pods/a/status"
        merge = {"Content-Type": "application/merge-patch+json"}
        running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        self.assertEqual(self.server.json("PATCH", path, running, merge)[0], 200)
        self.kubectl("apply", "-f", self.manifest(BUDGET))  # `create pdb` of 1.20 wants policy/v1beta1
        refused = self.kubectl("drain", node, "--force", "--grace-period=0", "--timeout=2s", code=1)
        self.assertIn("disruption budget", refused)
        self.assertEqual(self.get("pod", "a")["metadata"]["name"], "a")

    def test_api_resources(self):
        text = self.kubectl("api-resources")
        for name in ("pods", "nodes", "podgroups", "queues", "hypernodes", "numatopologies", "commands", "leases",
                     "priorityclasses", "poddisruptionbudgets", "customresourcedefinitions", "storageclasses", "csinodes"):
            self.assertRegex(text, rf"(?m)^{name} ")
        self.assertRegex(text, r"(?m)^jobs +vcjob,vj +(batch.volcano.sh/v1alpha1|batch.volcano.sh) +true +Job")
        self.assertIn("batch.volcano.sh/v1alpha1", self.kubectl("api-versions"))

    def test_diff(self):
        self.kubectl("apply", "-f", self.manifest(JOB % 2))
        self.assertEqual(self.kubectl("diff", "-f", self.manifest(JOB % 2)), "")
        changed = self.kubectl("diff", "-f", self.manifest(JOB % 3), code=1)
        self.assertIn("+    replicas: 3", changed)
        self.assertEqual(self.get("vcjob", "train")["spec"]["tasks"][0]["replicas"], 2)

    def test_apply_server_side(self):
        self.assertIn("serverside-applied", self.kubectl("apply", "--server-side", "-f", self.manifest(JOB % 2)))
        self.assertIn("serverside-applied", self.kubectl("apply", "--server-side", "-f", self.manifest(JOB % 3)))
        self.assertEqual(self.get("vcjob", "train")["spec"]["tasks"][0]["replicas"], 3)
        conflict = self.kubectl("apply", "--server-side", "--field-manager=other", "-f", self.manifest(JOB % 4), code=1)
        self.assertIn('conflict with "kubectl"', conflict)
        self.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", self.manifest(JOB % 4))
        self.assertEqual(self.get("vcjob", "train")["spec"]["tasks"][0]["replicas"], 4)

    def test_server_side_dry_run_changes_nothing(self):
        self.assertIn("created (server dry run)", self.kubectl("apply", "--dry-run=server", "-f", self.manifest(POD % "a")))
        self.assertIn("not found", self.kubectl("get", "pod", "a", code=1))

    def test_auth_can_i(self):
        self.assertIn("yes", self.kubectl("auth", "can-i", "create", "pods"))

    def test_explain(self):
        self.assertIn("minAvailable", self.kubectl("explain", "vcjob.spec"))
        self.assertIn("image", self.kubectl("explain", "pod.spec.containers"))
        self.assertIn("tier", self.kubectl("explain", "hypernode.spec"))

    def test_a_wrong_field_is_named(self):
        text = self.kubectl("apply", "-f", self.manifest((JOB % 2).replace("minAvailable", "minAvailible")), code=1)
        self.assertIn("minAvailible", text)
        text = self.kubectl("apply", "-f", self.manifest((JOB % 2).replace("mode: hard", "mode: medium")), code=1)
        self.assertIn("medium", text)

    def test_a_definition_is_served_at_once(self):
        self.kubectl("apply", "-f", self.manifest(DEFINITION))
        self.kubectl("wait", "--for=condition=Established", "crd/racks.example.com", "--timeout=10s")
        self.kubectl("apply", "-f", self.manifest(
            "apiVersion: example.com/v1\nkind: Rack\nmetadata: {name: r}\nspec: {}\n"))
        self.assertEqual(self.get("rk", "r")["spec"], {"height": 42})
        self.assertRegex(self.kubectl("get", "racks"), r"(?s)NAME +HEIGHT.*r +42")
        bad = "apiVersion: example.com/v1\nkind: Rack\nmetadata: {name: s}\nspec: {height: 0}\n"
        self.assertIn("should be greater than or equal to 1", self.kubectl("apply", "-f", self.manifest(bad), code=1))
        self.kubectl("delete", "crd", "racks.example.com")
        self.assertIn("the server doesn't have a resource type", self.kubectl("get", "racks.example.com", code=1))

    def test_hypernodes_and_queues_look_as_users_know_them(self):
        name = f"s{self.count}"
        self.kubectl("apply", "-f", self.manifest(HYPERNODE % name))
        self.assertRegex(self.kubectl("get", "hypernode", name), r"(?s)NAME +TIER .*" + name + " +1")
        self.assertIn("default", self.kubectl("get", "queue"))
        self.assertEqual(self.get("queue", "default")["status"]["state"], "Open")


class TodaysKubectl(KubectlCase, unittest.TestCase):
    program = staticmethod(new_kubectl)


class OldKubectl(KubectlCase, unittest.TestCase):
    program = staticmethod(old_kubectl)


if __name__ == "__main__":
    unittest.main()
