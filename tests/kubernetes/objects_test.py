#!/usr/bin/env python3
"""Volcano's kinds as deploy/crds define them, on the API server: what is valid with Volcano is taken, what is not is refused, and it looks the same."""
import json
import unittest

from live import EXAMPLES, ApiServer, LiveTest

HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMES = {"exactMatch": {"name": "n"}}
PATTERN = {"regexMatch": {"pattern": "n-.*"}}
MANIFESTS = ("hypernodes.yaml", "job.yaml", "jobs.yaml", "podgroup.yaml")


def hypernode(*selectors, tier=1):
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": "h"},
            "spec": {"tier": tier, "members": [{"type": "Node", "selector": selector} for selector in selectors]}}


def group(**spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec}


def queue(**spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": spec}


def job(tasks=1, **spec):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
        "minAvailable": 1, "tasks": [{"name": f"t{i}", "replicas": 1, "template": template} for i in range(tasks)], **spec}}


class Objects(LiveTest):
    server_class = ApiServer

    def answer(self, path, body):
        return self.server.json("POST", f"{path}?dryRun=All&fieldValidation=Strict", body)

    def assert_taken(self, path, body):
        code, answer = self.answer(path, body)
        self.assertEqual(code, 201, answer)
        return answer

    def assert_refused(self, path, body, why):
        code, answer = self.answer(path, body)
        self.assertEqual(code, 422, answer)
        self.assertIn(why, answer["message"])

    def test_the_server_finds_no_fault_with_the_definitions(self):
        for item in self.items(DEFINITIONS):
            if not item["spec"]["group"].endswith("volcano.sh"):
                continue
            states = {condition["type"]: condition["status"] for condition in item["status"]["conditions"]}
            self.assertEqual((states.get("Established"), states.get("NamesAccepted"), states.get("NonStructuralSchema", "False")),
                             ("True", "True", "False"), item["metadata"]["name"])

    def test_every_example_is_valid(self):
        for path in sorted(path for name in MANIFESTS for path in EXAMPLES.glob(f"*/{name}")):
            with self.subTest(path.parent.name + "/" + path.name):
                self.kubectl("apply", "--dry-run=server", "-f", str(path))

    def test_one_selector_for_each_member(self):
        self.assert_taken(HYPERNODES, hypernode(NAMES, PATTERN))
        self.assert_refused(HYPERNODES, hypernode({**NAMES, **PATTERN}), "selector")
        self.assert_refused(HYPERNODES, hypernode({}), "Either ExactMatch or RegexMatch or LabelMatch must be specified")
        self.assert_refused(HYPERNODES, hypernode(NAMES, tier=-1), "tier")

    def test_one_limit_for_a_topology(self):
        self.assert_taken(GROUPS, group(minMember=1, networkTopology={"mode": "hard", "highestTierAllowed": 2}))
        self.assert_taken(JOBS, job(networkTopology={"mode": "soft", "highestTierName": "rack"}))
        both = {"mode": "hard", "highestTierAllowed": 2, "highestTierName": "rack"}
        self.assert_refused(GROUPS, group(minMember=1, networkTopology=both), "highestTierName")
        self.assert_refused(JOBS, job(networkTopology=both), "highestTierName")

    def test_fields_that_only_volcano_uses_are_taken(self):
        self.assert_taken(QUEUES, queue(
            weight=2, reclaimable=True, dequeueStrategy="fifo", type="t", priority=3, capability={"cpu": 4}, deserved={"cpu": "2"},
            guarantee={"resource": {"cpu": "1"}}, affinity={"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g"]}},
            extendClusters=[{"name": "c", "weight": 1, "capacity": {"cpu": "1"}}]))
        self.assert_taken(JOBS, job(runningEstimate="1h", minSuccess=1, maxRetry=5, ttlSecondsAfterFinished=10, plugins={"env": []},
                                    policies=[{"event": "PodEvicted", "action": "RestartJob"}]))

    def test_defaults(self):
        self.assertEqual(self.assert_taken(QUEUES, queue())["spec"]["weight"], 1)
        made = self.assert_taken(GROUPS, group(minMember=1, networkTopology={"highestTierAllowed": 1}))["spec"]
        self.assertEqual((made["queue"], made["networkTopology"]["mode"]), ("default", "hard"))

    def test_what_is_wrong_is_refused(self):
        self.assert_refused(JOBS, job(tasks=0), "tasks")
        self.assert_refused(QUEUES, queue(weight=0), "weight")
        self.assert_refused(QUEUES, queue(capability={"cpu": "much"}), "capability")

    def test_the_status_is_a_subresource_but_of_a_podgroup(self):
        for path, body in ((QUEUES, queue()), (HYPERNODES, hypernode(NAMES)), (JOBS, job()), (GROUPS, group(minMember=1))):
            self.assertEqual(self.server.json("POST", path, body)[0], 201)
            code, _ = self.server.json("PATCH", f"{path}/{body['metadata']['name']}/status", {"status": {}},
                                       {"Content-Type": "application/merge-patch+json"})
            self.assertEqual(code, 404 if path == GROUPS else 200, path)

    def test_tables_have_volcanos_columns(self):
        for path, body in ((QUEUES, queue()), (HYPERNODES, hypernode(NAMES)), (JOBS, job()), (GROUPS, group(minMember=1))):
            self.assertEqual(self.server.json("POST", path, body)[0], 201)
        for what, columns in {"vcjob": "NAME STATUS MINAVAILABLE RUNNINGS AGE QUEUE", "pg": "NAME STATUS MINMEMBER RUNNINGS AGE QUEUE",
                              "q": "NAME PARENT", "hn": "NAME TIER TIERNAME NODECOUNT AGE"}.items():
            self.assertEqual(self.kubectl("get", what, "-o", "wide").splitlines()[0].split(), columns.split(), what)
        self.assertIn('"tier":1', json.dumps(self.get(f"{HYPERNODES}/h")["spec"], separators=(",", ":")))


if __name__ == "__main__":
    unittest.main()
