#!/usr/bin/env python3
"""What a real API server answers, fact by fact, asked of `strata apiserver` over HTTP."""
import contextlib
import json
import pathlib
import tempfile
import unittest

from api_server import ApiServer

CORE = "/api/v1/namespaces/default"
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "busybox"}], **spec}}


def configmap(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def hypernode(name, **spec):
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name},
            "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n"}}}], **spec}}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = ApiServer(cls.folder.name)
        cls.names = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def name(self):
        type(self).names += 1
        return f"x{self.names}"

    def ok(self, method, path, body=None, headers=None, status=None):
        code, answer = self.server.json(method, path, body, headers)
        self.assertEqual(code, status or (201 if method == "POST" else 200), answer)
        return answer

    def refused(self, status, method, path, body=None, headers=None):
        code, answer = self.server.json(method, path, body, headers)
        self.assertEqual(code, status, answer)
        self.assertEqual((answer["kind"], answer["apiVersion"], answer["status"]), ("Status", "v1", "Failure"))
        self.assertEqual(answer["code"], status)
        return answer


class Errors(Case):
    def test_404_names_the_resource(self):
        answer = self.refused(404, "GET", CORE + "/configmaps/nope")
        self.assertEqual(answer["message"], 'configmaps "nope" not found')
        self.assertEqual(answer["reason"], "NotFound")
        self.assertEqual(answer["details"], {"name": "nope", "kind": "configmaps"})
        answer = self.refused(404, "GET", "/apis/scheduling.k8s.io/v1/priorityclasses/nope")
        self.assertEqual(answer["message"], 'priorityclasses.scheduling.k8s.io "nope" not found')
        self.assertEqual(answer["details"], {"name": "nope", "group": "scheduling.k8s.io", "kind": "priorityclasses"})

    def test_422_names_the_kind(self):
        answer = self.refused(422, "POST", CORE + "/configmaps", configmap("Bad_Name"))
        self.assertTrue(answer["message"].startswith('ConfigMap "Bad_Name" is invalid: metadata.name: '), answer)
        self.assertEqual(answer["details"]["kind"], "ConfigMap")
        answer = self.refused(422, "POST", HYPERNODES, hypernode("x", tier="high"))
        self.assertTrue(answer["message"].startswith('HyperNode.topology.volcano.sh "x" is invalid: '), answer)

    def test_the_404s_differ(self):
        answer = self.refused(404, "GET", "/api/v1/gizmos")
        self.assertEqual(answer["message"], "the server could not find the requested resource")
        self.assertEqual(answer["details"], {})
        for path in ("/apis/nope.io/v1", "/apis/nope.io/v1/things", "/nope", "/apis/topology.volcano.sh/v1alpha1/gizmos"):
            status, headers, text = self.server.request("GET", path)
            self.assertEqual((status, text.strip()), (404, "404 page not found"), path)
            self.assertTrue(headers["Content-Type"].startswith("text/plain"))

    def test_podgroups_have_no_status_subresource(self):
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": self.name()},
                 "spec": {"minMember": 1}, "status": {"phase": "Inqueue"}}
        path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
        made = self.ok("POST", path, group)
        self.assertEqual(made["status"]["phase"], "Inqueue")
        status, _, _ = self.server.request("GET", f"{path}/{group['metadata']['name']}/status")
        self.assertEqual(status, 404)

    def test_405(self):
        answer = self.refused(405, "PUT", CORE + "/configmaps", configmap("a"))
        self.assertEqual(answer["message"], "the server does not allow this method on the requested resource")
        self.assertEqual(answer["reason"], "MethodNotAllowed")

    def test_415_depends(self):
        answer = self.refused(415, "POST", CORE + "/configmaps", "x", {"Content-Type": "text/plain"})
        self.assertIn("the body of the request was in an unknown format - accepted media types include:", answer["message"])
        name = self.name()
        self.ok("POST", HYPERNODES, hypernode(name))
        answer = self.refused(415, "PATCH", f"{HYPERNODES}/{name}", {"spec": {}}, STRATEGIC)
        self.assertIn("application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", answer["message"])

    def test_a_body_that_is_too_large(self):
        answer = self.refused(413, "POST", CORE + "/configmaps", configmap("a", x="y" * 3200000))
        self.assertEqual(answer["reason"], "RequestEntityTooLarge")
        self.assertEqual(answer["message"], "Request entity too large: limit is 3145728")
        answer = self.refused(422, "POST", CORE + "/configmaps", configmap("a", x="y" * 1100000))
        self.assertIn("may not be more than 1048576 bytes", answer["message"])

    def test_a_version_of_the_future(self):
        answer = self.refused(504, "GET", CORE + "/configmaps?resourceVersion=99999999")
        self.assertTrue(answer["message"].startswith("Timeout: Too large resource version: 99999999, current: "), answer)
        self.assertEqual(answer["details"]["causes"][0]["reason"], "ResourceVersionTooLarge")

    def test_json_patches_that_fail(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        path = f"{CORE}/configmaps/{name}"
        answer = self.refused(422, "PATCH", path, [{"op": "test", "path": "/data/a", "value": "b"}], JSON_PATCH)
        self.assertEqual(answer["message"], "the server rejected our request due to an error in our request")
        answer = self.refused(400, "PATCH", path, {"op": "test"}, JSON_PATCH)
        self.assertIn("error decoding patch", answer["message"])

    def test_wrong_types(self):
        wrong = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": 1}}
        answer = self.refused(400, "POST", CORE + "/configmaps", wrong)
        self.assertIn("cannot unmarshal number into Go struct field ConfigMap.data of type string", answer["message"])
        answer = self.refused(422, "POST", HYPERNODES, hypernode("a", tier="one"))
        self.assertIn('spec.tier: Invalid value: "string": spec.tier in body must be of type integer: "string"', answer["message"])

    def test_bodies_that_are_no_object(self):
        self.assertIn("name", self.refused(422, "POST", CORE + "/configmaps", "null")["message"])
        for body in ("[]", "", "{", '{"a":', "\x00"):
            self.refused(400, "POST", CORE + "/configmaps", body)

    def test_kind_and_version_may_be_left_out_of_a_built_in_body_only(self):
        self.ok("POST", CORE + "/configmaps", {"metadata": {"name": self.name()}})
        self.assertIn("Object 'Kind' is missing in", self.refused(400, "POST", HYPERNODES, {"metadata": {"name": "a"}})["message"])
        wrong = {**hypernode("a"), "apiVersion": "topology.volcano.sh/v9"}
        self.assertIn("does not match the expected API version", self.refused(400, "POST", HYPERNODES, wrong)["message"])

    def test_forbidden(self):
        answer = self.refused(403, "POST", CORE + "/pods", pod("a", priorityClassName="zz"))
        self.assertIn("no PriorityClass with name zz was found", answer["message"])
        for name in ("default", "kube-system", "kube-public"):
            self.assertIn("this namespace may not be deleted", self.refused(403, "DELETE", f"/api/v1/namespaces/{name}")["message"])
        answer = self.refused(404, "POST", "/api/v1/namespaces/absent/configmaps", configmap("a"))
        self.assertEqual(answer["message"], 'namespaces "absent" not found')
        self.assertEqual(self.ok("GET", "/api/v1/namespaces/absent/configmaps")["items"], [])

    def test_tokens(self):
        answer = self.refused(401, "GET", CORE + "/pods", headers={"Authorization": "Bearer wrong"})
        self.assertEqual((answer["message"], answer["reason"]), ("Unauthorized", "Unauthorized"))
        answer = self.refused(403, "GET", "/api/v1/pods", headers={"Authorization": None})
        self.assertEqual(answer["message"], 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope')

    def test_options_are_validated(self):
        answer = self.refused(422, "POST", CORE + "/configmaps?dryRun=x", configmap("a"))
        self.assertIn('dryRun: Unsupported value: ["x"]: supported values: "All"', answer["message"])
        answer = self.refused(422, "PATCH", CORE + "/configmaps/a", configmap("a"), APPLY)
        self.assertIn("fieldManager: Required value: is required for apply patch", answer["message"])
        self.refused(400, "GET", CORE + "/configmaps?limit=abc")
        self.ok("GET", CORE + "/configmaps?limit=-1")
        self.refused(422, "GET", CORE + "/configmaps?resourceVersionMatch=Exact")
        self.refused(400, "GET", CORE + "/configmaps?labelSelector=a%20in%20")
        self.refused(400, "GET", CORE + "/configmaps?fieldSelector=spec.nope%3D1")
        self.refused(400, "GET", CORE + "/configmaps?resourceVersion=abc")

    def test_path_tricks(self):
        for path in ("/api/v1/namespaces/default/../kube-system/pods", "/api//v1/pods", "/api/v1/namespaces/%2e%2e/pods",
                     "/api/v1/namespaces/default/pods/%00", "/api/v1/pods/%", "/" + "a/" * 4000, "/api/v1/namespaces/default/pods/a%2Fb"):
            status, _, _ = self.server.request("GET", path)
            self.assertIn(status, (301, 400, 404, 414, 431), path[:60])

    def test_an_object_that_a_patch_made_deep_can_go(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        deep = {}
        for _ in range(150):
            deep = {"a": deep}
        path = f"{CORE}/configmaps/{name}"
        self.ok("PATCH", path, [{"op": "add", "path": "/x", "value": deep}], JSON_PATCH)
        self.ok("PATCH", path, [{"op": "add", "path": "/x" + "/a" * 150, "value": deep}], JSON_PATCH)
        self.assertEqual(self.ok("DELETE", path)["status"], "Success")
        self.refused(404, "GET", path)

    def test_many_wrong_owners_are_one_complaint(self):
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u", "controller": True}
        body = configmap("a")
        body["metadata"]["ownerReferences"] = [owner] * 2000
        self.assertEqual(len(self.refused(422, "POST", CORE + "/configmaps", body)["details"]["causes"]), 1)

    def test_deep_nesting_is_refused(self):
        deep = '{"metadata":{"name":"a"},"data":' + '{"a":' * 20000 + "1" + "}" * 20001
        self.refused(400, "POST", CORE + "/configmaps", deep)
        self.ok("GET", "/api/v1/namespaces/default")


class Objects(Case):
    def test_items_of_custom_kinds_have_their_kind(self):
        self.ok("POST", CORE + "/configmaps", configmap(self.name()))
        self.ok("POST", HYPERNODES, hypernode(self.name()))
        self.assertNotIn("kind", self.ok("GET", CORE + "/configmaps")["items"][0])
        self.assertEqual(self.ok("GET", HYPERNODES)["items"][0]["kind"], "HyperNode")
        self.assertEqual(self.ok("GET", CORE + "/secrets")["items"], [])
        self.assertEqual(self.ok("GET", CORE + "/secrets")["kind"], "SecretList")

    def test_a_write_that_changes_nothing_keeps_the_version(self):
        name = self.name()
        made = self.ok("POST", CORE + "/configmaps", configmap(name, a="b"))
        path = f"{CORE}/configmaps/{name}"
        self.assertEqual(self.ok("PUT", path, made)["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"])
        same = self.ok("PATCH", path, {"data": {"a": "b"}}, MERGE)
        self.assertEqual(same["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"])

    def test_optimistic_concurrency(self):
        name = self.name()
        made = self.ok("POST", CORE + "/configmaps", configmap(name))
        path = f"{CORE}/configmaps/{name}"
        self.ok("PUT", path, {**made, "data": {"a": "1"}})
        answer = self.refused(409, "PUT", path, {**made, "data": {"a": "2"}})
        self.assertEqual(answer["reason"], "Conflict")
        self.assertIn("the object has been modified; please apply your changes to the latest version and try again", answer["message"])
        self.ok("PUT", path, configmap(name, a="3"))

    def test_custom_kinds_want_a_version(self):
        name = self.name()
        self.ok("POST", HYPERNODES, hypernode(name))
        answer = self.refused(422, "PUT", f"{HYPERNODES}/{name}", hypernode(name, tier=2))
        self.assertIn("metadata.resourceVersion: Invalid value: 0: must be specified for an update", answer["message"])

    def test_generation(self):
        name = self.name()
        made = self.ok("POST", HYPERNODES, hypernode(name))
        self.assertEqual(made["metadata"]["generation"], 1)
        path = f"{HYPERNODES}/{name}"
        self.assertEqual(self.ok("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE)["metadata"]["generation"], 1)
        self.assertEqual(self.ok("PATCH", path, {"spec": {"tier": 3}}, MERGE)["metadata"]["generation"], 2)
        status = self.ok("PATCH", path + "/status", {"status": {"nodeCount": 4}, "spec": {"tier": 9}}, MERGE)
        self.assertEqual((status["metadata"]["generation"], status["spec"]["tier"], status["status"]["nodeCount"]), (2, 3, 4))
        self.assertNotIn("generation", self.ok("POST", CORE + "/configmaps", configmap(self.name()))["metadata"])

    def test_pods_at_birth(self):
        made = self.ok("POST", CORE + "/pods", {**pod(self.name()), "status": {"phase": "Running"}})
        self.assertEqual(made["status"]["phase"], "Pending")
        self.assertEqual(made["spec"]["priority"], 0)
        self.assertEqual(made["spec"]["preemptionPolicy"], "PreemptLowerPriority")
        self.assertEqual(made["spec"]["schedulerName"], "default-scheduler")
        self.assertEqual(made["spec"]["containers"][0]["resources"], {})
        self.assertEqual(made["spec"]["containers"][0]["imagePullPolicy"], "Always")
        self.assertEqual({t["key"] for t in made["spec"]["tolerations"]},
                         {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
        self.assertEqual(made["metadata"]["generation"], 1)
        self.assertEqual(made["status"]["qosClass"], "BestEffort")

    def test_nodes_at_birth(self):
        node = {"metadata": {"name": self.name()}, "status": {"capacity": {"cpu": "8"}}}
        made = self.ok("POST", "/api/v1/nodes", node)
        self.assertEqual(made["status"]["allocatable"], {"cpu": "8"})
        self.assertIn({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, made["spec"]["taints"])

    def test_generate_name(self):
        made = self.ok("POST", CORE + "/configmaps", {"metadata": {"generateName": "job-"}})
        self.assertRegex(made["metadata"]["name"], "^job-[bcdfghjklmnpqrstvwxz2456789]{5}$")
        self.assertEqual(made["metadata"]["generateName"], "job-")

    def test_defaults_inside_what_is_there(self):
        queues = "/apis/scheduling.volcano.sh/v1beta1/queues"
        kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
        self.assertNotIn("spec", self.ok("POST", queues, {**kind, "metadata": {"name": self.name()}}))
        made = self.ok("POST", queues, {**kind, "metadata": {"name": self.name()}, "spec": {}})
        self.assertEqual(made["spec"]["weight"], 1)
        self.refused(422, "POST", queues, {**kind, "metadata": {"name": self.name()}, "spec": {"weight": 0}})

    def test_unknown_fields(self):
        name = self.name()
        odd = pod(name, gizmo=1)
        odd["spec"]["containers"][0]["widget"] = {"a": [1, "b", None, 2.5]}
        answer = self.refused(400, "POST", CORE + "/pods?fieldValidation=Strict", odd)
        self.assertEqual(answer["message"], 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
                         'unknown field "spec.containers[0].widget", unknown field "spec.gizmo"')
        status, headers, text = self.server.request("POST", CORE + "/pods", odd)
        self.assertEqual(status, 201, text)
        self.assertIn('299 - "unknown field \\"spec.gizmo\\""', headers.get_all("Warning"))
        kept = self.ok("GET", f"{CORE}/pods/{name}")
        self.assertEqual(kept["spec"]["gizmo"], 1)
        self.assertEqual(kept["spec"]["containers"][0]["widget"], {"a": [1, "b", None, 2.5]})

    def test_unknown_fields_that_are_kept_do_not_stand_in_the_way_of_patches(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", {"metadata": {"name": name}, "extra": {"deep": [{"n": None}]}})
        path = f"{CORE}/configmaps/{name}?fieldValidation=Strict"
        merge = {"Content-Type": "application/merge-patch+json"}
        status, headers, text = self.server.request("PATCH", path, {"data": {"a": "1"}}, headers=merge)
        self.assertEqual((status, headers.get_all("Warning")), (200, None), text)
        self.assertEqual(json.loads(text)["extra"], {"deep": [{"n": None}]})
        status, _, text = self.server.request("PATCH", path, {"more": 1}, headers=merge)
        self.assertEqual(status, 422, text)
        self.assertIn('unknown field \\"more\\"', text)
        self.assertNotIn('unknown field \\"extra\\"', text)

    def test_duplicate_fields_are_named_when_strict(self):
        body = '{"metadata":{"name":"a"},"data":{"k":"1"},"data":{"k":"2"}}'
        answer = self.refused(400, "POST", CORE + "/configmaps?fieldValidation=Strict", body)
        self.assertIn('duplicate field "data"', answer["message"])

    def test_namespaces_in_the_body(self):
        other = configmap(self.name())
        other["metadata"]["namespace"] = "kube-system"
        self.refused(400, "POST", CORE + "/configmaps", other)
        cluster = hypernode(self.name())
        cluster["metadata"]["namespace"] = "default"
        self.assertNotIn("namespace", self.ok("POST", HYPERNODES, cluster)["metadata"])

    def test_quantities(self):
        sent = {"cpu": "1000m", "memory": "1024Mi", "example.com/a": 2000, "example.com/b": "1e3"}
        made = self.ok("POST", CORE + "/resourcequotas", {"metadata": {"name": self.name()}, "spec": {"hard": sent}})
        self.assertEqual(made["spec"]["hard"], {"cpu": "1", "memory": "1Gi", "example.com/a": "2k", "example.com/b": "1e3"})

    def test_times_of_leases_have_a_fraction(self):
        leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
        lease = {"metadata": {"name": self.name()}, "spec": {"renewTime": "2026-01-02T03:04:05Z"}}
        self.assertIn('cannot parse "Z" as ".000000"', self.refused(400, "POST", leases, lease)["message"])
        lease["spec"]["renewTime"] = "2026-01-02T03:04:05.000000Z"
        self.assertEqual(self.ok("POST", leases, lease)["spec"]["renewTime"], "2026-01-02T03:04:05.000000Z")

    def test_requests_default_to_limits(self):
        asks = pod(self.name())
        asks["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 2, "cpu": "0.5"}, "requests": {"cpu": "0.25"}}
        made = self.ok("POST", CORE + "/pods", asks)
        self.assertEqual(made["spec"]["containers"][0]["resources"]["requests"], {"nvidia.com/gpu": "2", "cpu": "250m"})
        asks["metadata"]["name"] = self.name()
        asks["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": 2}}
        self.assertIn("Limit must be set for non overcommitable resources",
                      self.refused(422, "POST", CORE + "/pods", asks)["message"])

    def test_pretty(self):
        self.assertIn('\n  "kind"', self.server.request("GET", "/api/v1/namespaces/default", headers={"User-Agent": "curl/7.88"})[2])
        self.assertNotIn("\n ", self.server.request("GET", "/api/v1/namespaces/default")[2])

    def test_yaml_bodies(self):
        name = self.name()
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: 'yes'\n"
        self.assertEqual(self.ok("POST", CORE + "/configmaps", text, {"Content-Type": "application/yaml"})["data"], {"a": "yes"})


class Deleting(Case):
    def test_answers(self):
        name = self.name()
        made = self.ok("POST", CORE + "/configmaps", configmap(name))
        answer = self.ok("DELETE", f"{CORE}/configmaps/{name}")
        self.assertEqual((answer["kind"], answer["status"]), ("Status", "Success"))
        self.assertEqual(answer["details"], {"name": name, "kind": "configmaps", "uid": made["metadata"]["uid"]})
        self.ok("POST", CORE + "/pods", pod(name))
        self.assertEqual(self.ok("DELETE", f"{CORE}/pods/{name}")["kind"], "Pod")
        self.refused(404, "GET", f"{CORE}/pods/{name}")

    def test_finalizers_hold(self):
        name = self.name()
        held = configmap(name)
        held["metadata"]["finalizers"] = ["example.com/hold"]
        self.ok("POST", CORE + "/configmaps", held)
        path = f"{CORE}/configmaps/{name}"
        dying = self.ok("DELETE", path)
        self.assertIn("deletionTimestamp", dying["metadata"])
        answer = self.refused(409, "POST", CORE + "/configmaps", configmap(name))
        self.assertEqual(answer["message"], f'object is being deleted: configmaps "{name}" already exists')
        freed = self.ok("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
        self.assertEqual(freed["metadata"]["resourceVersion"], dying["metadata"]["resourceVersion"])
        self.refused(404, "GET", path)

    def test_preconditions(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        answer = self.refused(409, "DELETE", f"{CORE}/configmaps/{name}", {"preconditions": {"uid": "other"}})
        self.assertIn("the UID in the precondition (other) does not match the UID in record", answer["message"])

    def test_grace_is_for_bound_pods(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        self.bind(name)
        path = f"{CORE}/pods/{name}"
        dying = self.ok("DELETE", path, {"gracePeriodSeconds": 30})
        self.assertEqual(dying["metadata"]["deletionGracePeriodSeconds"], 30)
        self.assertEqual(dying["metadata"]["generation"], 2)
        self.assertEqual(self.ok("DELETE", path, {"gracePeriodSeconds": 60})["metadata"]["deletionGracePeriodSeconds"], 30)
        self.ok("DELETE", path + "?gracePeriodSeconds=0")
        self.refused(404, "GET", path)

    def bind(self, name, node="n1", status=201):
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "annotations": {"volcano.sh/x": "y"}},
                   "target": {"kind": "Node", "name": node}}
        return self.ok("POST", f"{CORE}/pods/{name}/binding", binding, status=status)

    def test_binding(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        self.assertEqual(self.bind(name)["status"], "Success")
        bound = self.ok("GET", f"{CORE}/pods/{name}")
        self.assertEqual(bound["spec"]["nodeName"], "n1")
        self.assertEqual(bound["metadata"]["annotations"], {"volcano.sh/x": "y"})
        self.assertIn({"type": "PodScheduled", "status": "True"},
                      [{key: c[key] for key in ("type", "status")} for c in bound["status"]["conditions"]])
        answer = self.bind(name, status=409)
        self.assertEqual(answer["message"], f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is already assigned to node "n1"')
        self.assertEqual(answer["details"]["kind"], "pods/binding")

    def test_a_gated_pod_is_not_bound(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name, schedulingGates=[{"name": "example.com/wait"}]))
        self.bind(name, status=409)

    def test_eviction(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        self.assertEqual(self.ok("POST", f"{CORE}/pods/{name}/eviction", eviction)["status"], "Success")
        self.refused(404, "GET", f"{CORE}/pods/{name}")

    def test_a_collection(self):
        for _ in range(3):
            self.ok("POST", CORE + "/secrets", {"metadata": {"name": self.name(), "labels": {"kind": "gone"}}})
        self.ok("POST", CORE + "/secrets", {"metadata": {"name": self.name()}})
        self.assertEqual(len(self.ok("DELETE", CORE + "/secrets?labelSelector=kind%3Dgone")["items"]), 3)
        self.assertEqual(len(self.ok("GET", CORE + "/secrets")["items"]), 1)

    def test_a_namespace_takes_everything_with_it(self):
        self.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "doomed"}})
        self.ok("POST", "/api/v1/namespaces/doomed/configmaps", configmap("a"))
        self.ok("POST", "/api/v1/namespaces/doomed/pods", pod("a"))
        self.assertEqual(self.ok("DELETE", "/api/v1/namespaces/doomed")["kind"], "Namespace")
        self.refused(404, "GET", "/api/v1/namespaces/doomed")
        self.refused(404, "GET", "/api/v1/namespaces/doomed/configmaps/a")


class WatchCase(Case):
    @contextlib.contextmanager
    def watch(self, path, headers=None):
        """Yields a function that gives the next event, None at the end of the stream."""
        connection = self.server.connect()
        connection.request("GET", path, headers={**self.server.credentials(), **(headers or {})})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)

        def event():
            line = answer.readline()
            return json.loads(line) if line.strip() else None
        try:
            yield event
        finally:
            connection.close()

    def version(self):
        return self.ok("GET", CORE + "/configmaps")["metadata"]["resourceVersion"]


class Watching(WatchCase):
    def test_changes_in_order(self):
        name = self.name()
        with self.watch(f"{CORE}/configmaps?watch=true&resourceVersion={self.version()}") as event:
            self.ok("POST", CORE + "/configmaps", configmap(name))
            self.ok("PATCH", f"{CORE}/configmaps/{name}", {"data": {"a": "b"}}, MERGE)
            self.ok("DELETE", f"{CORE}/configmaps/{name}")
            events = [event() for _ in range(3)]
        self.assertEqual([e["type"] for e in events], ["ADDED", "MODIFIED", "DELETED"])
        self.assertEqual([(e["object"]["kind"], e["object"]["apiVersion"]) for e in events], [("ConfigMap", "v1")] * 3)
        versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
        self.assertEqual(sorted(set(versions)), versions)

    def test_entering_and_leaving_a_selector(self):
        name = self.name()
        with self.watch(f"{CORE}/configmaps?watch=true&labelSelector=in%3Dyes&resourceVersion={self.version()}") as event:
            self.ok("POST", CORE + "/configmaps", configmap(name))
            self.ok("PATCH", f"{CORE}/configmaps/{name}", {"metadata": {"labels": {"in": "yes"}}}, MERGE)
            left = self.ok("PATCH", f"{CORE}/configmaps/{name}", {"metadata": {"labels": {"in": "no"}}}, MERGE)
            entered, gone = event(), event()
        self.assertEqual((entered["type"], gone["type"]), ("ADDED", "DELETED"))
        self.assertEqual(gone["object"]["metadata"]["labels"], {"in": "yes"})
        self.assertEqual(gone["object"]["metadata"]["resourceVersion"], left["metadata"]["resourceVersion"])

    def test_initial_events(self):
        name = self.name()
        self.ok("POST", CORE + "/secrets", {"metadata": {"name": name}})
        query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        with self.watch(f"{CORE}/secrets?{query}") as event:
            added, mark = event(), event()
        self.assertEqual((added["type"], added["object"]["metadata"]["name"]), ("ADDED", name))
        self.assertEqual(mark["type"], "BOOKMARK")
        self.assertEqual(mark["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})
        self.assertEqual(mark["object"]["kind"], "Secret")
        self.refused(422, "GET", f"{CORE}/secrets?watch=true&sendInitialEvents=true")

    def test_too_old(self):
        with self.watch(f"{CORE}/configmaps?watch=true&resourceVersion=0&timeoutSeconds=1"):
            pass
        folder = tempfile.TemporaryDirectory()
        data = pathlib.Path(folder.name) / "data"
        server = ApiServer(folder.name, "--data-dir", str(data))
        for i in range(3):
            server.json("POST", CORE + "/configmaps", configmap(f"c{i}"))
        server.stop()
        type(self).kept, kept = self.server, self.server
        try:
            type(self).server = ApiServer(folder.name, "--data-dir", str(data))
            with self.watch(f"{CORE}/configmaps?watch=true&resourceVersion=1") as event:
                error, end = event(), event()
            self.assertEqual((error["type"], error["object"]["code"], error["object"]["reason"]), ("ERROR", 410, "Expired"))
            self.assertIsNone(end)
            self.server.stop()
        finally:
            type(self).server = kept
            folder.cleanup()

    def test_timeout_ends_it_with_a_bookmark_at_most(self):
        with self.watch(f"{CORE}/pods?watch=true&resourceVersion={self.version()}&timeoutSeconds=1") as event:
            self.assertIsNone(event())

    def test_tables(self):
        name = self.name()
        with self.watch(f"{CORE}/configmaps?watch=true&resourceVersion={self.version()}", TABLE) as event:
            self.ok("POST", CORE + "/configmaps", configmap(name, a="b"))
            self.ok("DELETE", f"{CORE}/configmaps/{name}")
            first, second = event(), event()
        self.assertEqual(first["object"]["kind"], "Table")
        self.assertEqual([c["name"] for c in first["object"]["columnDefinitions"]], ["Name", "Data", "Age"])
        self.assertEqual(first["object"]["rows"][0]["cells"][0], name)
        self.assertNotIn("columnDefinitions", {k: v for k, v in second["object"].items() if v})

    def test_pages_are_one_snapshot(self):
        path = "/api/v1/namespaces/kube-public/configmaps"
        for i in range(5):
            self.ok("POST", path, configmap(f"p{i}"))
        first = self.ok("GET", path + "?limit=2")
        self.assertEqual(first["metadata"]["remainingItemCount"], 3)
        self.ok("DELETE", path + "/p3")
        self.ok("POST", path, configmap("p2a"))
        second = self.ok("GET", f"{path}?limit=10&continue={first['metadata']['continue']}")
        self.assertEqual([item["metadata"]["name"] for item in second["items"]], ["p2", "p3", "p4"])
        self.assertEqual(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"])
        self.assertNotIn("continue", second["metadata"])
        self.assertNotIn("remainingItemCount", self.ok("GET", path + "?limit=2&labelSelector=a!%3Db")["metadata"])
        self.refused(400, "GET", path + "?limit=2&continue=garbage")


class Shapes(Case):
    def test_discovery(self):
        accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}
        status, headers, text = self.server.request("GET", "/apis", headers=accept)
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"))
        self.assertIn("batch.volcano.sh", [item["metadata"]["name"] for item in json.loads(text)["items"]])
        core = self.ok("GET", "/api/v1")
        eviction = next(r for r in core["resources"] if r["name"] == "pods/eviction")
        self.assertEqual((eviction["group"], eviction["version"], eviction["kind"]), ("policy", "v1", "Eviction"))
        self.assertEqual(self.ok("GET", "/api")["versions"], ["v1"])
        self.assertEqual(self.ok("GET", "/apis")["kind"], "APIGroupList")

    def test_partial_metadata(self):
        accept = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
        answer = self.ok("GET", "/api/v1/namespaces/default", headers=accept)
        self.assertEqual((answer["kind"], sorted(answer)), ("PartialObjectMetadata", ["apiVersion", "kind", "metadata"]))

    def test_managed_fields_and_conflicts(self):
        name = self.name()
        path = f"{CORE}/configmaps/{name}"
        apply = lambda manager, data, force="": self.server.json(
            "PATCH", f"{path}?fieldManager={manager}{force}", configmap(name, **data), APPLY)
        self.assertEqual(apply("one", {"a": "1"})[0], 201)
        self.assertEqual(apply("two", {"b": "2"})[0], 200)
        status, answer = apply("two", {"a": "3", "b": "2"})
        self.assertEqual((status, answer["reason"]), (409, "Conflict"))
        self.assertEqual(answer["message"], 'Apply failed with 1 conflict: conflict with "one": .data.a')
        self.assertEqual(answer["details"]["causes"][0]["reason"], "FieldManagerConflict")
        self.assertEqual(apply("two", {"a": "3", "b": "2"}, "&force=true")[1]["data"], {"a": "3", "b": "2"})
        self.assertEqual(apply("one", {})[1]["data"], {"a": "3", "b": "2"})
        self.assertEqual(apply("two", {"a": "3"})[1]["data"], {"a": "3"})

    def test_an_applied_status_is_nobodys(self):
        name = self.name()
        path = f"{HYPERNODES}/{name}"
        applied = {**hypernode(name), "status": {"nodeCount": 1}}
        self.ok("PATCH", path + "?fieldManager=one", applied, APPLY, status=201)
        self.ok("PATCH", path + "/status?fieldManager=controller", {"status": {"nodeCount": 4}}, MERGE)
        again = self.ok("PATCH", path + "?fieldManager=one", applied, APPLY)
        self.assertEqual(again["status"]["nodeCount"], 4)
        owners = {entry["manager"]: entry["fieldsV1"] for entry in again["metadata"]["managedFields"]}
        self.assertNotIn("f:status", owners["one"])

    def test_health_is_open(self):
        for path in ("/healthz", "/livez", "/readyz"):
            self.assertEqual(self.server.request("GET", path, headers={"Authorization": None})[::2], (200, "ok"))
        self.assertIn("gitVersion", self.ok("GET", "/version"))

    def test_a_review_of_access(self):
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                  "spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}
        self.assertTrue(self.ok("POST", path, review)["status"]["allowed"])


if __name__ == "__main__":
    unittest.main()
