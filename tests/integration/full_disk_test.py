#!/usr/bin/env python3
"""`strata apiserver` whose disk is full: creates and updates are refused, deletions make room, writing goes on."""
import errno
import pathlib
import subprocess
import tempfile
import threading
import unittest

from api_server import ApiServer
from strata_run import wait_until

MAPS = "/api/v1/namespaces/default/configmaps"
MEGABYTES = 26
BODY = "x" * 100_000


def config_map(name, text=BODY):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}}


class SmallDisk:
    """A file system of 26 MB in memory, which only the processes started with `prefix` see; `folder` is it from here."""

    def __init__(self, path):
        self.path = path
        self.holder = subprocess.Popen(
            ["unshare", "--map-root-user", "--mount", "sh", "-c",
             f'mount -t tmpfs -o size={MEGABYTES}m,mode=0700 strata-test "$0" && echo mounted && exec cat', path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "mounted\n":
            raise unittest.SkipTest(f"no file system of its own: {self.holder.communicate()[1]}")
        self.prefix = ("nsenter", "--user", "--mount", "--preserve-credentials", "--target", str(self.holder.pid))
        self.folder = pathlib.Path(f"/proc/{self.holder.pid}/root{path}")

    def take_the_rest(self):
        """Another program writes until there is no space."""
        with open(self.folder / "other", "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def end(self):
        self.holder.communicate()


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        mounted = self.folder / "disk"
        mounted.mkdir()
        self.disk = SmallDisk(str(mounted))
        self.addCleanup(self.disk.end)
        self.server = self.start()

    def start(self):
        server = ApiServer(self.folder, "--data-dir", f"{self.disk.path}/data", prefix=self.disk.prefix)
        self.addCleanup(server.end)
        return server

    def fill(self, path=MAPS):
        """Creates ConfigMaps until one is refused: their names, and the answer."""
        names = []
        while True:
            name = f"m{len(names)}"
            code, answer = self.server.json("POST", path, config_map(name))
            if code != 201:
                return names, code, answer
            names.append(name)

    def delete(self, name):
        code, answer = self.server.json("DELETE", f"{MAPS}/{name}")
        self.assertEqual(code, 200, answer)

    def check_refusal(self, code, answer):
        self.assertEqual((code, answer["kind"], answer["status"], answer["code"]), (500, "Status", "Failure", 500))
        self.assertIn("strata.db: no space left on device; delete objects to make room", answer["message"])

    def test_creates_and_updates_are_refused_and_deletions_make_room(self):
        names, code, answer = self.fill()
        self.check_refusal(code, answer)
        self.assertGreater(len(names), 10)
        self.disk.take_the_rest()
        self.check_refusal(*self.server.json("PUT", f"{MAPS}/{names[0]}", config_map(names[0], 8 * BODY)))
        self.assertEqual(self.server.json("GET", f"{MAPS}/{names[0]}")[1]["data"]["text"], BODY)
        for name in names:
            self.delete(name)
        (self.disk.folder / "other").unlink()
        again, code, answer = self.fill()
        self.check_refusal(code, answer)
        self.assertGreater(len(again), len(names) * 0.9)

    def test_deletions_get_through_while_others_create(self):
        names, _, _ = self.fill()
        self.disk.take_the_rest()
        done = threading.Event()

        def create(writer):
            number = 0
            while not done.is_set():
                number += 1
                self.server.json("POST", MAPS, config_map(f"w{writer}-{number}", 10 * BODY))

        writers = [threading.Thread(target=create, args=(i,)) for i in range(4)]
        for writer in writers:
            writer.start()
        try:
            for name in names:
                self.delete(name)
        finally:
            done.set()
            for writer in writers:
                writer.join()

    def test_a_namespace_is_emptied(self):
        self.assertEqual(self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": "big"}})[0], 201)
        self.fill("/api/v1/namespaces/big/configmaps")
        self.disk.take_the_rest()
        code, answer = self.server.json("DELETE", "/api/v1/namespaces/big")
        self.assertEqual(code, 200, answer)
        wait_until(lambda: self.server.json("GET", "/api/v1/namespaces/big")[0] == 404, 60, "the end of the namespace")

    def test_a_server_starts_on_a_full_disk(self):
        names, _, _ = self.fill()
        self.disk.take_the_rest()
        self.server.stop()
        self.server = self.start()
        for name in names:
            self.delete(name)


if __name__ == "__main__":
    unittest.main()
