#!/usr/bin/env python3
"""kill -9 in the middle of writes: nothing that was acknowledged is lost, versions never go back.

STRATA_KILLS says how often (50), STRATA_SEED with which numbers."""
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import random
import tempfile
import threading
import time
import unittest

from api_server import ApiServer

KILLS = int(os.environ.get("STRATA_KILLS", "50"))
SEED = int(os.environ.get("STRATA_SEED", "1"))
WRITERS = 32
OBJECTS = 5  # of each writer
PATH = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GONE = None


class Writer(threading.Thread):
    """Creates, changes and deletes objects of its own until the server is gone.

    `known` is what was acknowledged: {name: (version, value) or GONE}; `asked` what was asked last and not answered."""

    def __init__(self, number, known, seed, acknowledged):
        super().__init__()
        self.number, self.known, self.asked = number, known, None
        self.random = random.Random(seed)
        self.acknowledged = acknowledged
        self.refused = []
        self.port = None

    def run(self):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    self.write(connection)

    def write(self, connection):
        name = f"w{self.number}-{self.random.randrange(OBJECTS)}"
        value = str(self.random.getrandbits(64))
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}}
        if self.known.get(name) is GONE:
            method, path, wanted = "POST", PATH, value
        elif self.random.random() < 0.2:
            method, path, wanted = "DELETE", f"{PATH}/{name}", GONE
        else:
            method, path, wanted = "PUT", f"{PATH}/{name}", value
        self.asked = (name, wanted)
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            self.refused.append((method, answer.status, text))
            return
        version = int(json.loads(text)["metadata"].get("resourceVersion", 0))
        self.known[name] = GONE if wanted is GONE else (version, value)
        self.asked = None
        self.acknowledged(version)


class Remover(threading.Thread):
    """Makes namespaces and definitions with something in them and deletes them, until the server is gone.

    `gone` has the paths whose deletion was acknowledged."""

    def __init__(self, round_number, port, acknowledged):
        super().__init__()
        self.round, self.port, self.acknowledged = round_number, port, acknowledged
        self.gone, self.refused = [], []

    def run(self):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            with contextlib.suppress(OSError, http.client.HTTPException):
                for count in itertools.count():
                    name = f"r{self.round}-{count}"
                    self.remove_namespace(connection, name)
                    self.remove_definition(connection, name)

    def ask(self, connection, method, path, body=None):
        connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            self.refused.append((method, path, answer.status, text))
        self.acknowledged(int(json.loads(text).get("metadata", {}).get("resourceVersion", 0)))

    def remove_namespace(self, connection, name):
        self.ask(connection, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        for i in range(3):
            self.ask(connection, "POST", f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": f"c{i}"}})
        self.ask(connection, "DELETE", f"/api/v1/namespaces/{name}")
        self.gone.append(f"/api/v1/namespaces/{name}")

    def remove_definition(self, connection, name):
        plural = "k" + name
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        spec = {"group": "kill.nine", "scope": "Cluster", "names": {"plural": plural, "kind": "K" + name.replace("-", "")},
                "versions": [version]}
        self.ask(connection, "POST", DEFINITIONS, {"metadata": {"name": f"{plural}.kill.nine"}, "spec": spec})
        for i in range(3):
            self.ask(connection, "POST", f"/apis/kill.nine/v1/{plural}",
                     {"apiVersion": "kill.nine/v1", "kind": spec["names"]["kind"], "metadata": {"name": f"o{i}"}})
        self.ask(connection, "DELETE", f"{DEFINITIONS}/{plural}.kill.nine")
        self.gone.append(f"{DEFINITIONS}/{plural}.kill.nine")


class KillNine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.random = random.Random(SEED)
        self.known = [{} for _ in range(WRITERS)]
        self.highest = 0  # version that anybody was told

    def start(self):
        return ApiServer(self.folder.name, "--plain-http", "--data-dir", str(pathlib.Path(self.folder.name) / "data"))

    def write_until_killed(self, server, round_number):
        """Writers at work; the server is killed when some writes were acknowledged."""
        writes = self.random.randrange(1, 200)
        lock, enough, count = threading.Lock(), threading.Event(), 0

        def acknowledged(version):
            nonlocal count
            with lock:
                self.highest = max(self.highest, version)
                count += 1
                if count >= writes:
                    enough.set()

        writers = [Writer(i, self.known[i], self.random.getrandbits(32), acknowledged) for i in range(WRITERS)]
        port = int(server.url.rsplit(":", 1)[1])
        remover = Remover(round_number, port, acknowledged)
        remover.start()
        for writer in writers:
            writer.port = port
            writer.start()
        self.assertTrue(enough.wait(60), "the server does not answer")
        server.kill()
        for writer in writers:
            writer.join()
            self.assertEqual(writer.refused, [])
        remover.join()
        self.assertEqual(remover.refused, [])
        return writers, remover

    def check(self, server, writers):
        """What is there is what was acknowledged, or what was asked for when the server died."""
        _, found = server.json("GET", PATH)
        self.assertGreaterEqual(int(found["metadata"]["resourceVersion"]), self.highest)
        there = {item["metadata"]["name"]: item for item in found["items"]}
        for writer in writers:
            for i in range(OBJECTS):
                name = f"w{writer.number}-{i}"
                item = there.get(name)
                value = item["data"]["value"] if item else GONE
                version = int(item["metadata"]["resourceVersion"]) if item else 0
                if writer.asked and writer.asked == (name, value):
                    writer.known[name] = (version, value) if item else GONE
                    continue
                acknowledged = writer.known.get(name)
                self.assertEqual((version, value) if item else GONE, acknowledged, f"{name} after kill")

    def check_removals(self, server, remover):
        """What was being deleted goes on going; nothing stays half way."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            spaces = server.json("GET", "/api/v1/namespaces")[1]["items"]
            definitions = server.json("GET", DEFINITIONS)[1]["items"]
            dying = [item["metadata"]["name"] for item in spaces + definitions if "deletionTimestamp" in item["metadata"]]
            if not dying:
                break
        self.assertEqual(dying, [], "still there")
        for path in remover.gone:
            self.assertEqual(server.request("GET", path)[0], 404, path)

    def check_next_version(self, server):
        """The first write of a new process gets a version above all that anybody was told."""
        _, made = server.json("POST", PATH, {"metadata": {"generateName": "first-"}})
        self.assertGreater(int(made["metadata"]["resourceVersion"]), self.highest)
        server.json("DELETE", f"{PATH}/{made['metadata']['name']}")

    def test_nothing_acknowledged_is_lost(self):
        server = self.start()
        for round_number in range(KILLS):
            writers, remover = self.write_until_killed(server, round_number)
            server = self.start()
            self.check(server, writers)
            self.check_next_version(server)
            self.check_removals(server, remover)
        server.stop()


if __name__ == "__main__":
    unittest.main()
