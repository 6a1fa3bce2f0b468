#!/usr/bin/env python3
"""The steps of docs/operations.md, as they are written there."""
import json
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from api_server import ApiServer
from strata_run import STRATA

MAPS = "/api/v1/namespaces/default/configmaps"


class Operations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"

    def start(self, *arguments):
        server = ApiServer(self.folder, "--data-dir", str(self.data), *arguments)
        self.addCleanup(server.end)
        return server

    def make(self, server, name):
        code, made = server.json("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"secret": "swordfish"}})
        self.assertEqual(code, 201, made)
        return int(made["metadata"]["resourceVersion"])

    def names(self, server):
        return {item["metadata"]["name"] for item in server.json("GET", MAPS)[1]["items"]}

    def test_a_backup_is_a_copy_of_the_folder_and_restored_by_copying_it_back(self):
        server = self.start()
        self.make(server, "kept")
        server.stop()
        subprocess.run(["cp", "-a", self.data, self.folder / "backup"], check=True)
        server = self.start()
        latest = self.make(server, "later")
        server.json("DELETE", f"{MAPS}/kept")
        server.stop()
        shutil.rmtree(self.data)
        subprocess.run(["cp", "-a", self.folder / "backup", self.data], check=True)
        server = self.start()
        self.assertEqual(self.names(server) & {"kept", "later"}, {"kept"})
        self.assertGreater(self.make(server, "new"), latest, "no version is given out twice")
        server.stop()

    def test_new_credentials_replace_the_old_ones_and_keep_objects(self):
        server = self.start()
        self.make(server, "kept")
        old = server.credentials()
        old_kubeconfig = pathlib.Path(server.kubeconfig).read_text()
        server.stop()
        server = self.start("--new-credentials")
        self.assertNotEqual(pathlib.Path(server.kubeconfig).read_text(), old_kubeconfig)
        self.assertIn("kept", self.names(server))
        self.assertEqual(server.request("GET", MAPS, headers=old)[0], 401)
        stale = self.folder / "stale"
        stale.write_text(old_kubeconfig)
        told = subprocess.run(["kubectl", "--kubeconfig", stale, "--server", server.url, "get", "configmaps"], capture_output=True, text=True, check=False)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("certificate", told.stderr)
        new = server.credentials()
        server.stop()
        self.assertEqual(self.start().credentials(), new, "from then on they stay")

    def test_the_audit_log_says_who_changed_what(self):
        log = self.folder / "audit.log"
        server = self.start("--audit-log", str(log))
        self.make(server, "a")
        server.json("GET", f"{MAPS}/a")
        server.json("PATCH", f"{MAPS}/a?fieldManager=me", {"data": {"x": "y"}}, {"Content-Type": "application/merge-patch+json", "User-Agent": "tool/1"})
        log.rename(self.folder / "audit.log.1")
        server.json("DELETE", f"{MAPS}/missing")
        server.stop()
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)
        first = [json.loads(line) for line in (self.folder / "audit.log.1").read_text().splitlines()]
        changes = [(event["verb"], event["objectRef"].get("name"), event["responseStatus"]["code"]) for event in first
                   if event["objectRef"]["resource"] == "configmaps" and event["objectRef"].get("namespace") == "default"]
        self.assertEqual(changes, [("create", "a", 201), ("patch", "a", 200)])
        self.assertEqual((first[-1]["userAgent"], first[-1]["user"]["username"]), ("tool/1", "admin"))
        self.assertIn("fieldManager=me", first[-1]["requestURI"])
        self.assertNotIn("swordfish", (self.folder / "audit.log.1").read_text())
        after = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([(event["verb"], event["responseStatus"]["code"]) for event in after], [("delete", 404)])

    def test_an_audit_log_that_cannot_be_written_is_said_at_the_start(self):
        path = self.folder / "missing" / "audit.log"
        done = subprocess.run([STRATA, "apiserver", "--kubeconfig", self.folder / "kubeconfig", "--audit-log", path], capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, f"{path}: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
