#!/usr/bin/env python3
"""The API client over HTTP/2 with a client's certificate, against a server that resets streams and goes away."""
import base64
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

from api_server import ApiServer
from http2_proxy import Http2Proxy
from strata_run import STRATA

NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 0, 2, 7, 8, 11


def openssl(*arguments, stdin=None):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, input=stdin, text=True)


def issue(folder, name, subject, authority, extension):
    """`name`.pem and `name`.key, signed by `authority`."""
    base = str(folder / name)
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", base + ".key", "-out", base + ".csr")
    (folder / "extension").write_text(extension, encoding="utf-8")
    openssl("x509", "-req", "-in", base + ".csr", "-CA", authority + ".pem", "-CAkey", authority + ".key", "-CAcreateserial", "-days", "2",
            "-extfile", str(folder / "extension"), "-out", base + ".pem")


class Http2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        authority = str(cls.folder / "ca")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout", authority + ".key",
                "-out", authority + ".pem")
        issue(cls.folder, "server", "/CN=server", authority, "subjectAltName=IP:127.0.0.1")
        issue(cls.folder, "client", "/O=system:masters/CN=jane", authority, "extendedKeyUsage=clientAuth")
        cls.server = ApiServer(cls.folder, "--plain-http")
        cls.addClassCleanup(cls.server.kill)

    def setUp(self):
        self.proxy = Http2Proxy(self.server.url, *(str(self.folder / name) for name in ("server.pem", "server.key", "ca.pem")))
        self.addCleanup(self.proxy.stop)
        self.nodes = 0

    def kubeconfig(self, user):
        """The file of a user with these files as credentials."""
        data = lambda name: base64.b64encode((self.folder / name).read_bytes()).decode()
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "c",
                  "clusters": [{"name": "k", "cluster": {"server": self.proxy.url, "certificate-authority-data": data("ca.pem")}}],
                  "users": [{"name": "u", "user": {key: data(value) if key.endswith("-data") else str(self.folder / value) for key, value in user.items()}}],
                  "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}
        path = self.folder / "config"
        path.write_text(json.dumps(config), encoding="utf-8")
        return str(path)

    def strata(self, *arguments, user, code=0):
        done = subprocess.run([STRATA, *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={"PATH": os.environ["PATH"], "KUBECONFIG": self.kubeconfig(user)})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def watch(self):
        """A `strata top --watch` with jane's certificate."""
        user = {"client-certificate-data": "client.pem", "client-key-data": "client.key"}
        process = subprocess.Popen([STRATA, "top", "--watch"], stdout=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "KUBECONFIG": self.kubeconfig(user)})
        limit = threading.Timer(90, process.kill)
        limit.start()
        self.addCleanup(lambda: (limit.cancel(), process.kill(), process.communicate()))
        return process

    def see_a_new_node(self, process):
        """Makes a node behind the proxy's back, and reads on until the watch has shown it."""
        self.nodes += 1
        name = f"{self.id().rpartition('.')[2].replace('_', '-')}-{self.nodes}"
        self.assertEqual(self.server.json("POST", "/api/v1/nodes", {"metadata": {"name": name}, "status": {"capacity": {"cpu": "1"}}})[0], 201)
        for line in process.stdout:
            if name in line:
                return
        self.fail(f"ended before {name} was seen")

    def watches_nodes(self):
        """The watches of nodes that are open: the connection's number and the stream's."""
        return [(i, stream) for i, front in enumerate(self.proxy.fronts) for stream, path in list(front.watches.items()) if path.startswith("/api/v1/nodes?")]

    def test_watches_share_a_connection_in_the_clients_name(self):
        self.see_a_new_node(self.watch())
        self.proxy.wait_until(lambda: max(len(front.watches) for front in self.proxy.fronts) > 3)
        for front in self.proxy.fronts:
            self.assertEqual(front.protocol, "h2")
            self.assertIn((("commonName", "jane"),), front.peer["subject"])

    def test_streams_that_are_reset_are_opened_again(self):
        process = self.watch()
        self.see_a_new_node(process)
        for code in (CANCEL, INTERNAL_ERROR, REFUSED_STREAM, NO_ERROR, ENHANCE_YOUR_CALM):
            self.proxy.each(lambda front, code=code: front.reset(code))
            self.see_a_new_node(process)

    def test_after_goaway_new_streams_are_on_a_new_connection(self):
        process = self.watch()
        self.see_a_new_node(process)
        for _ in range(3):
            self.proxy.wait_until(self.watches_nodes)  # what else the client watches may come later, on a connection of its own
            watching = self.watches_nodes()
            before = len(self.proxy.fronts)
            self.proxy.each(lambda front: front.go_away())
            self.see_a_new_node(process)
            self.assertEqual(self.watches_nodes(), watching, "the watch that was under way goes on")
            self.proxy.each(lambda front: (front.reset(NO_ERROR), front.transport.close()))
            self.see_a_new_node(process)
            self.assertGreater(len(self.proxy.fronts), before)
        self.assertEqual({front.protocol for front in self.proxy.fronts}, {"h2"})

    def test_a_connection_that_breaks_is_made_again(self):
        process = self.watch()
        self.see_a_new_node(process)
        self.proxy.each(lambda front: front.transport.abort())
        self.see_a_new_node(process)

    def test_long_lists_come_whole(self):
        for i in range(150):  # 3 MB, many times a window
            pod = {"metadata": {"name": f"p{i}", "annotations": {"fill": "x" * 20_000}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            self.assertEqual(self.server.json("POST", "/api/v1/namespaces/default/pods", pod)[0], 201)
        user = {"client-certificate": "client.pem", "client-key": "client.key"}
        over_http2 = self.strata("snapshot", user=user)
        plain = subprocess.run([STRATA, "snapshot", "--kubeconfig", self.server.kubeconfig], capture_output=True, text=True, timeout=60, check=True)
        self.assertGreater(len(over_http2), 2_000_000)
        self.assertEqual(over_http2, plain.stdout)

    def test_who_has_no_certificate_gets_nothing(self):
        error = self.strata("top", user={}, code=1)
        self.assertRegex(error, f"^{self.proxy.url}: .*\n$")
        self.assertEqual([front.watches for front in self.proxy.fronts if front.peer], [])


if __name__ == "__main__":
    unittest.main()
