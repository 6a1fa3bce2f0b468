#!/usr/bin/env python3
"""More of what a real API server answers: the rules of writes, and what is easily got wrong."""
import gzip
import json
import time
import unittest

from api_facts_test import APPLY, CORE, HYPERNODES, JSON_PATCH, MERGE, STRATEGIC, TABLE, Case, WatchCase, configmap, hypernode, pod

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
PODGROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


class Requests(Case):
    def test_an_unknown_subresource_of_a_built_in_kind(self):
        answer = self.refused(404, "GET", CORE + "/pods/x/nope")
        self.assertEqual((answer["message"], answer["details"]), ("the server could not find the requested resource", {}))

    def test_methods_that_are_not_allowed(self):
        status, _, _ = self.server.request("HEAD", CORE + "/configmaps")
        self.assertEqual(status, 405)
        self.assertEqual(self.refused(400, "PUT", HYPERNODES, hypernode("a"))["message"], "name must be provided")

    def test_a_patch_of_no_type(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        answer = self.refused(415, "PATCH", f"{CORE}/configmaps/{name}", {"data": {}}, {"Content-Type": "application/json"})
        self.assertEqual((answer["message"], answer["details"]), ("415: Unsupported Media Type", {}))

    def test_force_is_for_apply_alone(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        for headers, body in ((MERGE, {"data": {"a": "b"}}), (STRATEGIC, {"data": {"a": "b"}}), (JSON_PATCH, [])):
            answer = self.refused(422, "PATCH", f"{CORE}/configmaps/{name}?force=true", body, headers)
            self.assertIn('PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch', answer["message"])
        self.assertEqual(self.ok("GET", f"{CORE}/configmaps/{name}")["data"], {})

    def test_kinds_that_do_not_match(self):
        answer = self.refused(422, "POST", HYPERNODES, {**hypernode("a"), "kind": "Queue"})
        self.assertIn('kind: Invalid value: "Queue": must be HyperNode', answer["message"])
        self.refused(400, "POST", CORE + "/configmaps", {**configmap("a"), "kind": "Secret"})
        answer = self.refused(400, "POST", CORE + "/configmaps", {**configmap("a"), "apiVersion": "v2"})
        self.assertIn("does not match the expected API version (v1)", answer["message"])
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        self.refused(400, "PUT", f"{CORE}/configmaps/{name}", {**configmap(name), "kind": "Secret"})
        self.refused(400, "PUT", f"{CORE}/configmaps/{name}", configmap("other"))

    def test_a_review_asks_one_thing(self):
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        for spec in ({}, {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}}):
            answer = self.refused(422, "POST", path, {"spec": spec})
            self.assertIn("exactly one of nonResourceAttributes or resourceAttributes must be specified", answer["message"])

    def test_options_of_a_deletion_are_typed(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        answer = self.refused(400, "DELETE", f"{CORE}/configmaps/{name}", {"gracePeriodSeconds": "soon"})
        self.assertEqual(answer["message"], "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64")
        self.ok("GET", f"{CORE}/configmaps/{name}")

    def test_pretty_is_asked_for(self):
        path = "/api/v1/namespaces/default"
        self.assertIn('\n  "kind"', self.server.request("GET", path + "?pretty=true")[2])
        curl = {"User-Agent": "curl/7.88"}
        self.assertNotIn("\n ", self.server.request("GET", path + "?pretty=false", headers=curl)[2])
        self.assertEqual(json.loads(self.server.request("GET", path + "?pretty=true")[2]), json.loads(self.server.request("GET", path)[2]))

    def test_long_answers_are_gzipped_for_who_takes_it(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name, text="y" * 300_000))
        connection = self.server.connect()
        connection.request("GET", f"{CORE}/configmaps/{name}", headers={**self.server.credentials(), "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(len(json.loads(gzip.decompress(answer.read()))["data"]["text"]), 300_000)
        connection.close()

    def test_a_wrong_type_hides_what_was_not_checked(self):
        causes = self.refused(422, "POST", HYPERNODES, hypernode("a", tier="one"))["details"]["causes"]
        self.assertEqual(causes[0]["reason"], "FieldValueTypeInvalid")
        self.assertIn("some validation rules were not checked because the object was invalid", causes[1]["message"])


class Writes(Case):
    def test_a_version_of_an_object_to_be_created(self):
        body = configmap(self.name())
        body["metadata"]["resourceVersion"] = "5"
        code, answer = self.server.json("POST", CORE + "/configmaps", body)
        self.assertIn(code, (400, 422, 500))  # the real one says 500 and means 4xx
        self.assertIn("resourceVersion should not be set on objects to be created", answer["message"])
        self.refused(404, "GET", f"{CORE}/configmaps/{body['metadata']['name']}")

    def test_a_foreign_uid(self):
        name = self.name()
        made = self.ok("POST", CORE + "/configmaps", configmap(name))
        body = configmap(name, a="b")
        body["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555"
        path = f"{CORE}/configmaps/{name}"
        answer = self.refused(409, "PUT", path, body)
        self.assertIn("Precondition failed: UID in precondition: 11111111-2222-3333-4444-555555555555, "
                      f"UID in object meta: {made['metadata']['uid']}", answer["message"])
        answer = self.refused(422, "PATCH", path, {"metadata": {"uid": "x"}}, MERGE)
        self.assertIn("metadata.uid: Invalid value: \"x\": field is immutable", answer["message"])
        body["metadata"]["uid"] = made["metadata"]["uid"]
        self.assertEqual(self.ok("PUT", path, body)["data"], {"a": "b"})

    def test_a_death_is_not_written(self):
        name = self.name()
        body = self.ok("POST", CORE + "/configmaps", configmap(name))
        body["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        self.assertIn("field is immutable", self.refused(422, "PUT", f"{CORE}/configmaps/{name}", body)["message"])

    def test_put_of_what_is_missing(self):
        name = self.name()
        self.refused(404, "PUT", f"{CORE}/configmaps/{name}", configmap(name))
        lease = {"metadata": {"name": name}, "spec": {"holderIdentity": "a"}}
        self.ok("PUT", f"{LEASES}/{name}", lease, status=201)
        answer = self.refused(422, "PUT", f"{LEASES}/{name}", lease)
        self.assertIn(f'leases.coordination.k8s.io "{name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
                      answer["message"])
        event = {"metadata": {"name": name}, "involvedObject": {"namespace": "default"}, "reason": "r", "type": "Normal"}
        self.ok("PUT", f"{CORE}/events/{name}", event, status=201)

    def test_an_apply_that_changes_nothing_keeps_the_version(self):
        path = f"{CORE}/configmaps/{self.name()}"
        body = configmap(path.rpartition("/")[2], a="b")
        first = self.ok("PATCH", path + "?fieldManager=m", body, APPLY, status=201)
        again = self.ok("PATCH", path + "?fieldManager=m", body, APPLY)
        self.assertEqual(again["metadata"], first["metadata"])

    def test_strict_patches(self):
        name = self.name()
        self.ok("POST", CORE + "/configmaps", configmap(name))
        for headers, patch in ((MERGE, {"gizmo": 1}), (STRATEGIC, {"gizmo": 1}), (JSON_PATCH, [{"op": "add", "path": "/gizmo", "value": 1}])):
            answer = self.refused(422, "PATCH", f"{CORE}/configmaps/{name}?fieldValidation=Strict", patch, headers)
            self.assertIn('strict decoding error: unknown field "gizmo"', answer["message"])
        self.assertNotIn("gizmo", self.ok("GET", f"{CORE}/configmaps/{name}"))

    def test_status_takes_what_belongs_to_it(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        change = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}
        got = self.ok("PATCH", f"{CORE}/pods/{name}/status", change, MERGE)
        self.assertEqual((got["metadata"]["labels"], got["metadata"]["annotations"], got["status"]["phase"]), ({"a": "b"}, {"c": "d"}, "Failed"))
        self.assertNotIn("nodeName", got["spec"])
        self.ok("POST", HYPERNODES, hypernode(name))
        got = self.ok("PATCH", f"{HYPERNODES}/{name}/status", {"metadata": {"labels": {"a": "b"}}, "status": {"nodeCount": 2}}, MERGE)
        self.assertEqual((got["metadata"].get("labels"), got["status"]["nodeCount"]), (None, 2))

    def test_a_status_belongs_to_who_writes_it(self):
        name = self.name()
        made = self.ok("POST", CORE + "/pods", pod(name))
        self.assertEqual(made["status"]["phase"], "Pending")
        self.assertNotIn("f:status", made["metadata"]["managedFields"][0]["fieldsV1"])
        status = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "status": {"phase": "Running"}}
        got = self.ok("PATCH", f"{CORE}/pods/{name}/status?fieldManager=kubelet", status, APPLY)
        self.assertEqual(got["status"]["phase"], "Running")
        status["status"]["phase"] = "Failed"
        answer = self.refused(409, "PATCH", f"{CORE}/pods/{name}/status?fieldManager=other", status, APPLY)
        self.assertIn('conflict with "kubelet" with subresource "status": .status.phase', answer["message"])

    def test_generations_of_custom_kinds(self):
        name = self.name()
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "finalizers": ["example.com/hold"]},
                 "spec": {"minMember": 1}}
        self.ok("POST", PODGROUPS, group)
        path = f"{PODGROUPS}/{name}"
        self.assertEqual(self.ok("PATCH", path, {"status": {"phase": "Running"}}, MERGE)["metadata"]["generation"], 2)
        self.assertEqual(self.ok("DELETE", path)["metadata"]["generation"], 3)
        self.ok("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)

    def test_nulls_get_defaults(self):
        body = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": self.name()}, "spec": {"weight": None}}
        self.assertEqual(self.ok("POST", QUEUES, body)["spec"]["weight"], 1)

    def test_taints_and_priorities(self):
        node = {"metadata": {"name": self.name()}, "spec": {"taints": [{"key": "a", "effect": "Sometimes"}]}}
        self.assertIn("metadata.taints[0].effect", self.refused(422, "POST", "/api/v1/nodes", node)["message"])
        self.refused(403, "POST", CORE + "/pods", pod(self.name(), priority=5))

    def test_long_bases_of_names_are_cut(self):
        made = self.ok("POST", CORE + "/configmaps", {"metadata": {"generateName": "n" * 70}})
        self.assertRegex(made["metadata"]["name"], "^n{58}[bcdfghjklmnpqrstvwxz2456789]{5}$")

    def test_quantities_of_built_in_and_custom_kinds(self):
        sent = {"requests.cpu": "0.5", "a.io/a": "2000", "a.io/b": "1.5Gi", "requests.memory": 1000, "a.io/d": "129e6", "limits.cpu": "0.0001"}
        made = self.ok("POST", CORE + "/resourcequotas", {"metadata": {"name": self.name()}, "spec": {"hard": sent}})
        self.assertEqual(made["spec"]["hard"], {"requests.cpu": "500m", "a.io/a": "2k", "a.io/b": "1536Mi", "requests.memory": "1k",
                                                "a.io/d": "129e6", "limits.cpu": "1m"})
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": self.name()},
                 "spec": {"capability": {"cpu": "1000m", "memory": 1024}}}
        self.assertEqual(self.ok("POST", QUEUES, queue)["spec"]["capability"], {"cpu": "1000m", "memory": 1024})

    def test_extended_resources_are_whole_and_equal(self):
        for requests, limits in (({"nvidia.com/gpu": "500m"}, {"nvidia.com/gpu": "500m"}), ({"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 2})):
            body = pod(self.name())
            body["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": limits}
            self.refused(422, "POST", CORE + "/pods", body)


class Pods(Case):
    def bind(self, name, target, **metadata):
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata}, "target": target}
        return self.server.json("POST", f"{CORE}/pods/{name}/binding", body)

    def test_bindings_that_are_wrong(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        code, answer = self.bind(name, {"kind": "Node"})
        self.assertIn(code, (400, 422, 500))
        self.assertIn("target.name: Required value", answer["message"])
        code, answer = self.bind(name, {"kind": "Pod", "name": "n1"})
        self.assertIn(code, (400, 422, 500))
        self.assertIn('target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"', answer["message"])
        self.assertEqual(self.bind(name, {"name": "n1"}, uid="11111111-2222-3333-4444-555555555555")[0], 409)
        self.assertEqual(self.bind("nobody", {"name": "n1"})[0], 404)
        self.assertNotIn("nodeName", self.ok("GET", f"{CORE}/pods/{name}")["spec"])
        self.assertEqual(self.bind(name, {"name": "n1"}, labels={"a": "b"})[1]["code"], 201)
        self.assertEqual(self.ok("GET", f"{CORE}/pods/{name}")["metadata"]["labels"], {"a": "b"})

    def test_a_dying_pod_is_not_bound(self):
        name = self.name()
        body = pod(name)
        body["metadata"]["finalizers"] = ["example.com/hold"]
        self.ok("POST", CORE + "/pods", body)
        self.ok("DELETE", f"{CORE}/pods/{name}")
        self.assertEqual(self.bind(name, {"name": "n1"})[0], 409)
        self.ok("PATCH", f"{CORE}/pods/{name}", {"metadata": {"finalizers": None}}, MERGE)

    def test_a_negative_grace_is_one_second(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        self.bind(name, {"name": "n1"})
        self.assertEqual(self.ok("DELETE", f"{CORE}/pods/{name}?gracePeriodSeconds=-1")["metadata"]["deletionGracePeriodSeconds"], 1)

    def test_a_budget_holds_running_pods_only(self):
        name = self.name()
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                  "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}}
        self.ok("POST", BUDGETS, budget)
        body = pod(name)
        body["metadata"]["labels"] = {"app": name}
        self.ok("POST", CORE + "/pods", body)
        self.bind(name, {"name": "n1"})
        ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        self.ok("PATCH", f"{CORE}/pods/{name}/status", ready, STRATEGIC)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        answer = self.refused(429, "POST", f"{CORE}/pods/{name}/eviction", eviction)
        self.assertEqual((answer["reason"], answer["message"]),
                         ("TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget."))
        self.assertEqual(answer["details"]["causes"][0]["reason"], "DisruptionBudget")


class Events(WatchCase):
    def test_every_deletion_of_a_pod_is_two_writes(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        with self.watch(f"{CORE}/pods?watch=true&resourceVersion={self.version()}") as event:
            self.ok("DELETE", f"{CORE}/pods/{name}")
            dying, gone = event(), event()
        self.assertEqual((dying["type"], gone["type"]), ("MODIFIED", "DELETED"))
        self.assertEqual((dying["object"]["metadata"]["deletionGracePeriodSeconds"], dying["object"]["metadata"]["generation"]), (0, 2))
        self.assertGreater(*(int(e["object"]["metadata"]["resourceVersion"]) for e in (gone, dying)))

    def test_a_bind_is_one_event_and_an_eviction_says_why(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        with self.watch(f"{CORE}/pods?watch=true&resourceVersion={self.version()}") as event:
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "n1"}}
            self.ok("POST", f"{CORE}/pods/{name}/binding", binding)
            self.ok("POST", f"{CORE}/pods/{name}/eviction", {"metadata": {"name": name}, "deleteOptions": {"gracePeriodSeconds": 30}})
            bound, warned, dying = event(), event(), event()
        self.assertEqual((bound["type"], bound["object"]["spec"]["nodeName"]), ("MODIFIED", "n1"))
        self.assertEqual([c["type"] for c in bound["object"]["status"]["conditions"]], ["PodScheduled"])
        told = next(c for c in warned["object"]["status"]["conditions"] if c["type"] == "DisruptionTarget")
        self.assertEqual((told["status"], told["reason"], told["message"]), ("True", "EvictionByEvictionAPI", "Eviction API: evicting"))
        self.assertEqual(dying["object"]["metadata"]["deletionGracePeriodSeconds"], 30)

    def test_versions_that_are_none_and_versions_to_come(self):
        status, answer = self.server.json("GET", f"{CORE}/configmaps?watch=true&resourceVersion=abc")
        self.assertIn(status, (400, 422, 500), answer)
        begin = time.monotonic()
        with self.watch(f"{CORE}/configmaps?watch=true&resourceVersion=99999999&timeoutSeconds=2") as event:
            self.assertIsNone(event())
        self.assertGreater(time.monotonic() - begin, 1.5)

    def test_a_bookmark_comes_before_the_end(self):
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds=4&resourceVersion={self.version()}"
        with self.watch(f"{CORE}/configmaps?{query}") as event:
            mark, end = event(), event()
        self.assertEqual((mark["type"], mark["object"]["kind"], mark["object"]["apiVersion"]), ("BOOKMARK", "ConfigMap", "v1"))
        self.assertNotIn("name", mark["object"]["metadata"])
        self.assertIsNone(end)

    def test_cells(self):
        name = self.name()
        self.ok("POST", CORE + "/pods", pod(name))
        table = self.ok("GET", CORE + "/pods", headers=TABLE)
        row = next(r for r in table["rows"] if r["object"]["metadata"]["name"] == name)
        cells = dict(zip((c["name"] for c in table["columnDefinitions"]), row["cells"]))
        self.assertEqual((cells["Restarts"], cells["Ready"], cells["Status"], cells["Node"]), ("0", "0/1", "Pending", "<none>"))
        self.assertEqual(row["object"]["kind"], "PartialObjectMetadata")



if __name__ == "__main__":
    unittest.main()
