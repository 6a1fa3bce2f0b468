#!/usr/bin/env python3
"""The recorded requests of kubectl 1.20 and 1.36 (tests/fixtures/kubectl), sent again one by one, watches included.

Their server was a small one that knew no admission and ran deployments; what a request must be answered here is in ANSWERS. Only those parts of a request
names a state of that server is put right: uids, resourceVersions, and a body that was recorded cut short.
"""
import collections
import contextlib
import json
import re
import tempfile
import unittest

from api_server import ApiServer, traces

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
NODE = ("/api/v1/nodes", {"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "1"}}})
LEASE = ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {"metadata": {"name": "n1"}})
QUEUE = ("/apis/scheduling.volcano.sh/v1beta1/queues",
         {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q7"}})
POD = (PODS, {"metadata": {"name": "p1", "labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}})
JOB = (JOBS, {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j1"},
              "spec": {"minAvailable": 3, "queue": "default", "schedulerName": "volcano", "tasks": [
                  {"name": "w", "replicas": 3, "template": {"spec": {"containers": [{"name": "c", "image": "busybox"}]}}}]}})

TEXT = "text/plain;charset=utf-8"
OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
POD_COLUMNS = ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]

# What a request is answered with; of several that match, the first. `command` and `target` are regular expressions; `kind` is the content type of what is
# no JSON; `names` are those of the items, rows, resources or groups, or the one name; `holds` is text of the body.
Answer = collections.namedtuple("Answer", "command method target status kind names holds", defaults=(None, None))
NOT_YET = Answer("apply -f", "GET", f"^{JOBS}/j1$", 404, "Status")
ANSWERS = [
    # Deployments are not served, and this server keeps no logs of pods.
    Answer("", "GET", "^/apis/apps/v1(/namespaces/default/deployments/d1|[?].*)$", 404, TEXT, None, "404 page not found"),
    Answer("", "PATCH", "^/apis/apps/v1/namespaces/default/deployments/d1/scale$", 404, TEXT, None, "404 page not found"),
    Answer("", "GET", f"^{PODS}/p1/log([?]container=c)?$", 200, TEXT, None, ""),
    # Before anything is made, and after all is deleted.
    Answer("get pods$", "GET", f"^{PODS}[?]limit=500$", 200, "Table", []),
    Answer("create -f", "POST", f"^{PODS}[?]", 201, "Pod", "p1", '"resources":{"requests":{"cpu":"100m"}}'),
    Answer("create ns", "POST", "^/api/v1/namespaces[?]", 201, "Namespace", "foo", '"phase":"Active"'),
    Answer("delete pod", "DELETE", f"^{PODS}/p1$", 200, "Pod", "p1"),
    Answer("delete pod", "GET", f"^{PODS}/p1$", 404, "Status"),
    Answer("delete pod", "GET", f"^{PODS}[?]fieldSelector", 200, "PodList", []),
    Answer("delete vcjob", "DELETE", f"^{JOBS}/j1$", 200, "Status"),
    Answer("delete vcjob", "GET", f"^{JOBS}/j1$", 404, "Status"),
    # A job without tasks is refused; the test goes on with one that has some, in a queue that stays.
    Answer("apply -f", "POST", f"^{JOBS}[?]", 422, "Status", None, "spec.tasks: Invalid value: null: No task specified in job spec"),
    Answer("replace", "PUT", f"^{JOBS}/j1[?]", 422, "Status", None, "spec.tasks: Invalid value: null: No task specified in job spec"),
    Answer("apply -f", "PATCH", f"^{JOBS}/j1[?]", 422, "Status", None, "Forbidden: job updates may not change fields other than"),
    Answer("--server-side", "PATCH", f"^{JOBS}/j1[?]fieldManager=kubectl&force=false", 409, "Status", None, "Apply failed with 1 conflict"),
    Answer("--dry-run", "PATCH", f"^{JOBS}/j1[?]dryRun=All", 200, "Job", "j1", "last-applied-configuration"),
    Answer("--server-side", "PATCH", f"^{JOBS}/j1[?]", 200, "Job", "j1", '"operation":"Apply"'),
    # What is there.
    Answer("", "GET", f"^{PODS}/p1$", 200, "Pod", "p1"),
    Answer("", "GET", f"^{PODS}[?]limit=500$", 200, "Table", ["p1"]),
    Answer("", "GET", f"^{PODS}[?]fieldSelector=metadata.name%3Dp1$", 200, "PodList", ["p1"]),
    Answer("", "GET", "^/api/v1/pods[?]fieldSelector=spec.nodeName", 200, "PodList", []),
    Answer("", "GET", "^/api/v1/nodes/n1$", 200, "Node", "n1"),
    Answer("", "GET", "^/apis/coordination.k8s.io/.*/leases/n1$", 200, "Lease", "n1"),
    Answer("", "GET", f"^{JOBS}/j1$", 200, "Job", "j1"),
    Answer("", "GET", f"^{JOBS}$", 200, "JobList", ["j1"]),
    Answer("describe (pod|vcjob|node)", "GET", "/events[?]", 200, "EventList", ["described"]),
    Answer("events", "GET", "/events[?]limit=500", 200, "EventList", ["described", "described"]),
    Answer("label", "PATCH", f"^{PODS}/p1[?]", 200, "Pod", "p1", '"labels":{"a":"b","x":"y"}'),
    Answer("edit", "PATCH", f"^{PODS}/p1[?]", 200, "Pod", "p1", '"image":"alpine"'),
    Answer("taint", "PATCH", "^/api/v1/nodes/n1[?]", 200, "Node", "n1", '"taints":[{"effect":"NoSchedule","key":"a","value":"b"}]'),
    Answer("cordon", "PATCH", "^/api/v1/nodes/n1$", 200, "Node", "n1", '"unschedulable":true'),
    # Discovery.
    Answer("api-resources", "GET", "^/apis?[?]", 200, "APIGroupDiscoveryList"),
    Answer("", "GET", "^/api[?]", 200, "APIVersions"),
    Answer("", "GET", "^/apis[?]", 200, "APIGroupList"),
    Answer("", "GET", "^/(api/v1|apis/[a-z.]+/v1[a-z0-9]+)[?]", 200, "APIResourceList"),
    Answer("", "GET", "^/openapi/v3[?]", 200, TEXT, None, '"apis/batch.volcano.sh/v1alpha1":{"serverRelativeURL":"'),
    Answer("", "GET", "^/openapi/v2[?]", 200, OPENAPI_V2),
]
# Some kinds that discovery must list.
LISTED = {"/api/v1": {"pods", "pods/binding", "nodes/status", "events"}, "/apis/batch.volcano.sh/v1alpha1": {"jobs", "jobs/status"},
          "/apis/scheduling.volcano.sh/v1beta1": {"podgroups", "queues", "queues/status"},
          "/apis": {"batch.volcano.sh", "scheduling.volcano.sh", "topology.volcano.sh", "coordination.k8s.io"}, "/api": {"v1"}}


def names_in(body):
    """The names of what an answer holds, in its order; of a single object its own."""
    kind = body["kind"]
    if kind == "Table":
        return [row["object"]["metadata"]["name"] for row in body["rows"]]
    if kind == "APIResourceList":
        return [resource["name"] for resource in body["resources"]]
    if kind == "APIGroupList":
        return [group["name"] for group in body["groups"]]
    if kind == "APIVersions":
        return body["versions"]
    if kind == "APIGroupDiscoveryList":
        return [group["metadata"].get("name", "v1") for group in body["items"]]
    if "items" in body:
        return [item["metadata"]["name"].split(".")[0] for item in body["items"]]
    return body["metadata"].get("name")


class Replay(unittest.TestCase):
    def replay(self, name, before):
        self.answers = [*(() if JOB in before else (NOT_YET,)), *ANSWERS]
        with tempfile.TemporaryDirectory() as folder:
            server = ApiServer(folder)
            self.addCleanup(server.kill)
            for path, body in before:
                self.assertEqual(server.json("POST", path, body)[0], 201, path)
            watches = 0
            for command, requests in traces(name):
                if command.startswith("kubectl describe"):
                    self.tell(server, command.split()[2:])
                listed = None  # what a watch of this command goes on from
                for method, target, headers, body in requests:
                    with self.subTest(command=command, request=f"{method} {target}"):
                        if "watch=true" in target:
                            self.watch(server, re.sub("resourceVersion=[0-9]+", f"resourceVersion={listed}", target), headers["Accept"])
                            watches += 1
                        else:
                            listed = self.send(server, command, (method, target, headers, "\n".join(body)))
            server.stop()
        return watches

    def tell(self, server, named):
        """Writes an event about what is described."""
        kind, path = {"pod": ("Pod", PODS), "vcjob": ("Job", JOBS), "node": ("Node", "/api/v1/nodes")}[named[0]]
        about = server.json("GET", f"{path}/{named[1]}")[1]
        # kubectl asks for the events of a node by its name in place of its uid, and in no namespace.
        uid = named[1] if kind == "Node" else about["metadata"]["uid"]
        involved = {"kind": kind, "name": named[1], "uid": uid, **({} if kind == "Node" else {"namespace": "default"})}
        body = {"metadata": {"name": f"described.{kind.lower()}"}, "involvedObject": involved, "reason": "Described", "message": "x", "type": "Normal"}
        status, answer = server.json("POST", "/api/v1/namespaces/default/events", body)
        self.assertEqual(status, 201, answer)

    def put_right(self, server, target, text):
        """(target, body) with this server's uids and versions."""
        def uid_of(match):
            path = JOBS + "/j1" if "involvedObject.kind%3DJob" in target else PODS + "/p1"
            return "involvedObject.uid%3D" + server.json("GET", path)[1]["metadata"]["uid"] + match[1]
        target = re.sub("involvedObject.uid%3D[0-9a-f-]{36}(.*)", uid_of, target)
        if '"resourceVersion":' in text:
            version = server.json("GET", target.partition("?")[0])[1]["metadata"]["resourceVersion"]
            text = re.sub('"resourceVersion":"[0-9]+"', f'"resourceVersion":"{version}"', text)
        try:
            json.loads(text or "{}")
        except ValueError:  # what is applied is whole in its annotation
            annotation = re.search(r'"kubectl.kubernetes.io/last-applied-configuration":("(?:[^"\\]|\\.)*")', text)[1]
            whole = json.loads(json.loads(annotation))
            whole["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.loads(annotation)}
            text = json.dumps(whole, separators=(",", ":"))
        return target, text

    def send(self, server, command, request):
        """Sends one request and looks at its answer. The resourceVersion of what came back."""
        method, target, headers, text = request
        answer = next(a for a in self.answers if a.method == method and re.search(a.command, command) and re.search(a.target, target))
        if answer is NOT_YET:
            self.answers.remove(answer)
        target, text = self.put_right(server, target, text)
        sent_type = None if headers.get("Content-Type") in (None, "None") else headers["Content-Type"]
        status, got, body = server.request(method, target, text or None, {"Accept": headers["Accept"], "Content-Type": sent_type})
        self.assertEqual(status, answer.status, body[:500])
        if answer.status == 422 and method == "POST":  # the refused job is made as it should have been
            self.assertEqual(server.json("POST", *JOB)[0], 201)
        self.assertIn(answer.holds or "", body)
        content = got["Content-Type"].replace(" ", "")
        if "/" in answer.kind:
            self.assertEqual(content, answer.kind)
            return None
        self.assertEqual(content, AGGREGATED if answer.kind == "APIGroupDiscoveryList" else "application/json")
        body = json.loads(body)
        self.assertEqual(body["kind"], answer.kind)
        self.check_names(target.partition("?")[0], body, answer)
        return body.get("metadata", {}).get("resourceVersion")

    def check_names(self, path, body, answer):
        if answer.kind == "Status":
            self.assertEqual(body.get("code", 200), answer.status)
        elif path in LISTED:
            self.assertLessEqual(LISTED[path], set(names_in(body)) | ({"v1"} if path == "/api" else set()))
        elif answer.names is not None:
            self.assertEqual(names_in(body), answer.names)
        if answer.kind == "Table":
            self.assertEqual([column["name"] for column in body["columnDefinitions"]], POD_COLUMNS)

    def watch(self, server, target, accept):
        """Opens a watch of pods, reads what it has to say, and closes it in the middle."""
        with contextlib.closing(server.connect()) as connection:
            connection.request("GET", target, headers={"Accept": accept, **server.credentials()})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
            if "sendInitialEvents=true" in target:
                first, end = (json.loads(answer.readline()) for _ in range(2))
                self.assertEqual((first["type"], first["object"]["kind"], names_in(first["object"])), ("ADDED", "Pod", "p1"))
                self.assertEqual((end["type"], end["object"]["kind"]), ("BOOKMARK", "Pod"))
                self.assertEqual(end["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})
            for turn in ("once", "twice"):
                patch = {"metadata": {"annotations": {"turn": turn + target}}}
                self.assertEqual(server.json("PATCH", PODS + "/p1", patch, {"Content-Type": "application/merge-patch+json"})[0], 200)
                event = json.loads(answer.readline())
                self.assertEqual(event["type"], "MODIFIED")
                if "as=Table" in accept:
                    self.assertEqual((event["object"]["kind"], names_in(event["object"])), ("Table", ["p1"]))
                    columns = [column["name"] for column in event["object"].get("columnDefinitions") or []]
                    self.assertEqual(columns, POD_COLUMNS if turn == "once" else [])
                else:
                    self.assertEqual((event["object"]["kind"], names_in(event["object"])), ("Pod", "p1"))
                    self.assertEqual(event["object"]["metadata"]["annotations"]["turn"], turn + target)

    def test_kubectl_1_20(self):
        self.assertEqual(self.replay("kubectl-1.20-trace.txt", [NODE, LEASE, QUEUE]), 2)

    def test_kubectl_1_36(self):
        self.assertEqual(self.replay("kubectl-1.36-trace.txt", [NODE, LEASE, QUEUE, POD, JOB]), 3)


if __name__ == "__main__":
    unittest.main()
