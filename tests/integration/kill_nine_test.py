#!/usr/bin/env python3
"""kill -9 in the middle of writes: nothing that was acknowledged is lost, versions never go back.

STRATA_KILLS says how often (50), STRATA_SEED with which numbers."""
import contextlib
import http.client
import json
import os
import pathlib
import random
import tempfile
import threading
import unittest

from api_server import ApiServer

KILLS = int(os.environ.get("STRATA_KILLS", "50"))
SEED = int(os.environ.get("STRATA_SEED", "1"))
WRITERS = 4
OBJECTS = 5  # of each writer
PATH = "/api/v1/namespaces/default/configmaps"
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


class KillNine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.random = random.Random(SEED)
        self.known = [{} for _ in range(WRITERS)]
        self.highest = 0  # version that anybody was told

    def start(self):
        return ApiServer(self.folder.name, "--plain-http", "--data-dir", str(pathlib.Path(self.folder.name) / "data"))

    def write_until_killed(self, server, writes):
        """Writers at work; the server is killed when so many writes were acknowledged."""
        lock, enough, count = threading.Lock(), threading.Event(), 0

        def acknowledged(version):
            nonlocal count
            with lock:
                self.highest = max(self.highest, version)
                count += 1
                if count >= writes:
                    enough.set()

        writers = [Writer(i, self.known[i], self.random.getrandbits(32), acknowledged) for i in range(WRITERS)]
        for writer in writers:
            writer.port = int(server.url.rsplit(":", 1)[1])
            writer.start()
        self.assertTrue(enough.wait(60), "the server does not answer")
        server.kill()
        for writer in writers:
            writer.join()
            self.assertEqual(writer.refused, [])
        return writers

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

    def test_nothing_acknowledged_is_lost(self):
        server = self.start()
        for _ in range(KILLS):
            writers = self.write_until_killed(server, self.random.randrange(1, 40))
            server = self.start()
            self.check(server, writers)
        server.stop()


if __name__ == "__main__":
    unittest.main()
