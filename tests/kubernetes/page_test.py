#!/usr/bin/env python3
"""`strata page` for users of an API server: each sees what they may list, and no other name leaves the process. Our own server knows no users: a relay in
front of it answers the reviews."""
import contextlib
import http.client
import json
import pathlib
import re
import ssl
import unittest

from live import LIMIT, LiveTest
from recorder import Recorder
from rights import allows, grants_of, needs_of

RBAC = pathlib.Path(__file__).resolve().parents[2] / "deploy/chart/rbac"
SPACES = ("team-amber", "team-birch")
SECRET = ("team-birch", "hidden-gang", "hidden-waiter")  # what belongs to the second team
LISTS = {"nodes", "hypernodes", "podgroups", "pods", "queues"}
# By token: the user, what may be listed everywhere, and what in a namespace.
USERS = {"all": ("alice", LISTS, {}), "one": ("bob", {"nodes", "hypernodes", "queues"}, {"team-amber": {"podgroups", "pods"}}),
         "half": ("carol", {"nodes", "hypernodes"}, {"team-birch": {"podgroups"}}), "none": ("mallory", set(), {})}
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}, namespace: {space}}}
spec:
  schedulerName: volcano
  minAvailable: {pods}
  networkTopology: {{mode: hard, highestTierAllowed: 1}}
  tasks:
  - name: w
    replicas: {pods}
    template:
      spec:
        restartPolicy: Never
        containers:
        - {{name: c, image: busybox, resources: {{requests: {{cpu: "1", nvidia.com/gpu: 8}}, limits: {{nvidia.com/gpu: 8}}}}}}
"""


class Reviews(Recorder):
    """Answers TokenReview and SubjectAccessReview by USERS, as the API server of a cluster does; everything else goes on."""

    def _ask(self, client, server):
        try:
            while data := client.recv(1 << 20):
                found = re.match(rb"POST (\S*(?:tokenreviews|subjectaccessreviews)) HTTP/1\.1\r\n", data)
                if not found:
                    self.requests += [(method.decode(), target.decode())
                                      for method, target in re.findall(rb"(?:^|\r\n\r\n)(GET|POST) (/\S*) HTTP/1\.1\r\n", data)]
                    server.sendall(data)
                    continue
                self.requests.append(("POST", found[1].decode()))
                length = int(re.search(rb"(?i)content-length: (\d+)", data)[1])
                head, _, body = data.partition(b"\r\n\r\n")
                while len(body) < length:
                    body += client.recv(1 << 20)
                assert head
                answer = json.dumps(self.review(json.loads(body))).encode()
                client.sendall(b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: " + str(len(answer)).encode()
                               + b"\r\n\r\n" + answer)
        except OSError:
            pass
        finally:
            self._end(server)

    @staticmethod
    def review(asked):
        spec = asked["spec"]
        if asked["kind"] == "TokenReview":
            user = USERS.get(spec["token"])
            status = {"authenticated": True, "user": {"username": user[0], "groups": ["system:authenticated"]}} if user else {"authenticated": False}
            return asked | {"status": status}
        _, everywhere, inside = next(user for user in USERS.values() if user[0] == spec["user"])
        about = spec["resourceAttributes"]
        may = everywhere if "namespace" not in about else everywhere | inside.get(about["namespace"], set())
        return asked | {"status": {"allowed": about["verb"] == "list" and about["resource"] in may}}


class Scope(LiveTest):
    arguments = ("--generate", "spines=1,racks=2,nodes=2,gpus=8:hgxh100", "--plain-http", "--page", "off")

    def setUp(self):
        super().setUp()
        for space in SPACES:
            self.apply(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}}}\n")
        self.apply(JOB.format(name="seen-gang", space=SPACES[0], pods=1))
        self.apply(JOB.format(name="hidden-gang", space=SPACES[1], pods=2))
        self.relay = Reviews(int(self.server.url.rsplit(":", 1)[1]))
        self.addCleanup(self.relay.close)
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "r", "users": [{"name": "r", "user": {}}],
                  "clusters": [{"name": "r", "cluster": {"server": f"http://127.0.0.1:{self.relay.port}"}}],
                  "contexts": [{"name": "r", "context": {"cluster": "r", "user": "r"}}]}
        path = pathlib.Path(self.folder) / "relay.kubeconfig"
        path.write_text(json.dumps(config))
        self.until(lambda: self.placed() == 3, "three pods run")
        self.apply(JOB.format(name="seen-waiter", space=SPACES[0], pods=2))
        self.apply(JOB.format(name="hidden-waiter", space=SPACES[1], pods=2))
        self.page = self.part_with("page", "--kubeconfig", str(path), "--access", "kubernetes", "--listen", "127.0.0.1:0")
        ready = re.compile(r"^ready https://127.0.0.1:(\d+)/$", re.MULTILINE)
        self.until(lambda: ready.search(self.page.said()), "the page", LIMIT)
        self.port = int(ready.search(self.page.said())[1])

    def placed(self):
        return sum("nodeName" in pod["spec"] for pod in self.items("/api/v1/pods"))

    def ask(self, path, token="", method="GET", body=None, **headers):
        """(status, bytes) of an answer; of the stream its beginning."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=LIMIT)) as connection:
            given = ({"Authorization": f"Bearer {token}"} if token else {}) | {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, "/page/v1/" + path, json.dumps(body) if body is not None else None,
                               given | ({"Content-Type": "application/json"} if body is not None else {}))
            answer = connection.getresponse()
            return answer.status, answer.read1(1 << 16) if path.startswith("events") and answer.status == 200 else answer.read()

    def json(self, path, token, **keywords):
        status, body = self.ask(path, token, **keywords)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def all_answers(self, token, more=""):
        """The bytes of everything that the page answers."""
        cluster = self.json(f"cluster?{more}", token)
        paths = [f"hello?{more}", f"cluster?{more}", f"queues?{more}", f"fit?{more}", f"history?{more}", f"history?at=1&{more}",
                 f"events?after={cluster['revision']}&epoch={cluster['epoch']}&{more}"]
        paths += [f"nodes/node-{i}?{more}" for i in range(4)]
        paths += [f"jobs/{SPACES[0]}/{name}{end}?{more}" for name in ("seen-gang", "seen-waiter") for end in ("", "/story")]
        answers = [self.ask(path, token)[1] for path in paths]
        self.until(lambda: self.json(f"jobs/{SPACES[0]}/seen-waiter/story?{more}", token)["state"] == "done", "the story")
        answers.append(self.ask(f"jobs/{SPACES[0]}/seen-waiter/story?{more}", token)[1])
        body = {"pods": 3, "pod": "nvidia.com/gpu=8", "mode": "hard", "highestTierAllowed": 1, "namespace": SPACES[0]}
        answers.append(self.ask(f"what-if?{more}", token, "POST", body)[1])
        return cluster, answers

    def test_who_may_list_everything_sees_everything(self):
        cluster, answers = self.all_answers("all")
        self.assertEqual({name for name in cluster["jobs"]["name"] if name}, {"seen-gang", "seen-waiter", "hidden-gang", "hidden-waiter"})
        hello = self.json("hello", "all")
        self.assertEqual([hello["user"], hello["scope"]], ["alice", "cluster"])
        self.assertTrue(any(b"hidden-gang" in answer for answer in answers))

    def test_who_may_list_one_namespace_gets_no_name_of_another(self):
        cluster, answers = self.all_answers("one", f"namespaces={','.join(SPACES)}")
        self.assertEqual({name for name in cluster["jobs"]["name"] if name}, {"seen-gang", "seen-waiter"})
        self.assertEqual(self.json(f"hello?namespaces={','.join(SPACES)}", "one")["scope"], [SPACES[0]])
        self.assertEqual(cluster["gpus"]["state"].count("u"), 24, "the GPUs of the others count")
        self.assertIn(-2, cluster["gpus"]["holder"][::2])
        for answer in answers:
            for name in SECRET:
                self.assertNotIn(name.encode(), answer)

    def test_hidden_things_are_refused_whether_they_are_there_or_not(self):
        for path in ("hidden-gang", "no-such-job", "hidden-gang/story"):
            status, body = self.ask(f"jobs/{SPACES[1]}/{path}?namespaces={SPACES[0]}", "one")
            self.assertEqual((status, b"hidden-gang" in body), (403, False))
        body = {"pods": 1, "pod": "cpu=1", "namespace": SPACES[1]}
        self.assertEqual(self.ask(f"what-if?namespaces={SPACES[0]}", "one", "POST", body)[0], 403)
        self.assertEqual(self.ask("queues", "half")[0], 403)
        # PodGroups without pods are not enough: pods have names, too.
        self.assertEqual([name for name in self.json(f"cluster?namespaces={SPACES[1]}", "half")["jobs"]["name"] if name], [])

    def test_others_are_refused(self):
        for path in ("hello", "cluster", "queues", "history", "events?after=1&epoch=1", "jobs/a/b", "nodes/node-0"):
            self.assertEqual(self.ask(path)[0], 401, path)
            self.assertEqual(self.ask(path, "unknown")[0], 401, path)
            self.assertEqual(self.ask(path, "none")[0], 403, path)
        self.assertEqual(self.ask("hello", "all", Origin="https://evil.example.com")[0], 403)
        self.assertEqual(self.ask("hello", "all", Origin="https://page.example.com", Host="page.example.com")[0], 200)

    def test_a_token_is_in_no_log(self):
        self.json("hello", "all")
        for token in ("Bearer", "unknown-token-of-a-test"):
            self.ask("hello", "unknown-token-of-a-test")
            self.assertNotIn(token, self.page.said())

    def test_its_role_is_what_it_asks_for(self):
        self.all_answers("one", f"namespaces={SPACES[0]}")
        grants = [grant for grant in grants_of(RBAC) if grant.who == "strata-page"]
        needs = {need for method, target in self.relay.requests for need in needs_of("strata-page", method, target)}
        self.assertEqual([need for need in needs if not any(allows(grant, need) for grant in grants)], [])
        self.assertEqual([grant for grant in grants if not any(allows(grant, need) for need in needs)], [])


if __name__ == "__main__":
    unittest.main()
