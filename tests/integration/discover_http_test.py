#!/usr/bin/env python3
"""strata discover against servers that answer well, badly, slowly or not at all."""
import base64
import concurrent.futures
import http.server
import json
import os
import pathlib
import resource
import select
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import unittest

from strata_run import FIXTURES, PODS, Run, assert_golden

USER, PASSWORD, TOKEN = "admin", "hush-password", "hush-token"
PORTS = (FIXTURES / "ufm-ports.json").read_bytes()
LLDP = json.dumps({path.stem: json.loads(path.read_text()) for path in sorted((FIXTURES / "lldp").glob("*.json0"))})


class Server(http.server.BaseHTTPRequestHandler):
    """The first part of the path says how to behave; the rest is UFM's."""
    protocol_version = "HTTP/1.1"
    polls = 0
    recorded = ""

    def log_message(self, *arguments):
        pass

    def answer(self, body, status=200, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def authorized(self):
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        given = self.headers.get("Authorization", "")
        if self.path.split("?")[0].endswith("/ufmRestV3/resources/ports"):
            return given == "Basic " + TOKEN
        if "/ufmRest/" in self.path:
            return given == basic
        return given == "Bearer " + TOKEN

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"request-17\n", 202)

    def do_GET(self):
        behave = getattr(self, "do_" + self.path.split("/")[1].split("?")[0], None)
        try:
            behave() if behave else self.answer(b"no", 404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_good(self):
        if not self.authorized():
            return self.answer(b"who is " + self.headers.get("Authorization", "").encode(), 401)
        return self.answer(PORTS)

    def do_lldp(self):
        return self.answer(LLDP.encode()) if self.authorized() else self.answer(b"", 403)

    def do_topograph(self):
        if "uid=request-17" not in self.path:
            return self.answer(b"", 404)
        Server.polls += 1
        if Server.polls == 1:
            return self.answer(b"", 202)
        return self.answer((FIXTURES / "topograph-graph.json").read_bytes())

    def do_paged(self):
        ports = json.loads(PORTS)
        size = 20
        page = int(self.path.split("page_number=")[1].split("&")[0]) if "page_number" in self.path else 1
        part = ports[(page - 1) * size:page * size]
        self.answer(json.dumps({"filtered_resources": len(ports), "num_of_pages": 3, "data": part}).encode())

    def do_twodown(self):
        self.answer((FIXTURES / "ufm-ports-two-down.json").read_bytes())

    def do_onepage(self):
        self.answer((FIXTURES / "ufm-ports-paged.json").read_bytes())

    def do_error(self):
        self.answer(b"password=" + PASSWORD.encode(), 500)

    def do_empty(self):
        self.answer(b"[]")

    def do_null(self):
        self.answer(b"null")

    def do_html(self):
        self.answer(b"<html>log in</html>")

    def do_broken(self):
        self.answer(PORTS[:1000])

    def do_truncated(self):
        self.answer(PORTS[:1000], length=len(PORTS))
        self.close_connection = True

    def do_reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def do_elsewhere(self):
        self.send_response(302)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/record")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_record(self):
        Server.recorded = self.headers.get("Authorization", "nothing")
        self.answer(PORTS)

    def do_slow(self):
        self.connection.recv(1)  # never answers; ends when the client hangs up

    def do_endless(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[")
        while not select.select([self.connection], [], [], 0.2)[0]:  # until the client hangs up
            self.wfile.write(b" ")

    def do_headers(self):
        self.send_response(200)
        self.flush_headers()
        while True:
            self.wfile.write(b"X-More: " + b"y" * 900 + b"\r\n")

    def do_file(self):
        self.send_response(302)
        self.send_header("Location", "file:///etc/passwd")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_loop(self):
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_huge(self):
        self.send_response(200)
        self.send_header("Content-Length", str(200_000_000))
        self.end_headers()
        for _ in range(200):
            self.wfile.write(b" " * 1_000_000)


def serve(context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    server.handle_error = lambda *arguments: None  # a client that gives up is the point
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def secret(**data):
    return json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ns"},
                       "stringData": data})


class DiscoverHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = cls.folder = pathlib.Path(cls.scratch.name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem",
                        "-out", folder / "cert.pem"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        cls.plain = f"http://localhost:{serve()}"
        cls.tls = f"https://localhost:{serve(context)}"
        nodes = (FIXTURES / "k8s-nodes-labels.json").read_text()
        for name, data in {"basic": {"username": USER, "password": PASSWORD}, "token": {"token": TOKEN},
                           "wrong": {"username": USER, "password": "hush-wrong"}}.items():
            (folder / f"{name}.json").write_text(secret(**data) + "\n" + nodes)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def ufm(self, endpoint, nodes="basic", timeout="30s", **config):
        entry = {"source": "ufm", "enabled": True, "timeout": timeout, "config": {"endpoint": endpoint, **config},
                 "credentials": {"secretRef": {"name": "s", "namespace": "ns"}}}
        return self.run_entry(entry, nodes)

    def run_entry(self, entry, nodes="basic"):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run = Run(folder, [entry], ["--nodes", str(self.folder / f"{nodes}.json"), "-o", "json"])
        self.assertNotIn("hush", run.out + run.err, "a secret was printed")
        return run

    def assert_pods(self, run):
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(run.tiers()[1], PODS)

    def assert_fails(self, run, *words):
        self.assertEqual(run.code, 1)
        self.assertEqual(run.err.count("\n"), 1, run.err)
        for word in words:
            self.assertIn(word, run.err)

    def test_every_saved_answer_of_ufm_is_the_same_tree(self):
        # The whole list, one page of it, and two ports down: redundancy covers those.
        for what in ("good", "onepage", "twodown"):
            with self.subTest(what):
                run = self.ufm(f"{self.plain}/{what}")
                self.assert_pods(run)
                assert_golden(self, "ufm.json", run.out)

    def test_basic_and_token_both_open_the_door(self):
        self.assert_pods(self.ufm(self.plain + "/good"))
        self.assert_pods(self.ufm(self.plain + "/good", "token"))

    def test_pages_are_read_whole(self):
        self.assert_pods(self.ufm(self.plain + "/paged"))

    def test_lldp_by_http(self):
        entry = {"source": "roce", "enabled": True, "config": {"endpoint": self.plain + "/lldp"},
                 "credentials": {"secretRef": {"name": "s", "namespace": "ns"}}}
        self.assert_pods(self.run_entry(entry, "token"))
        entry = {"source": "roce", "enabled": True, "config": {"endpoint": self.plain + "/lldp", "token": TOKEN}}
        self.assert_pods(self.run_entry(entry))
        del entry["config"]["token"]
        self.assert_fails(self.run_entry(entry), "HTTP status 403", "credentials were rejected")

    def test_topograph_is_asked_until_it_is_done(self):
        entry = {"source": "topograph", "enabled": True, "config": {"endpoint": self.plain + "/topograph"}}
        self.assert_pods(self.run_entry(entry))
        self.assertGreater(Server.polls, 1)

    def test_certificates_are_verified_unless_told_otherwise(self):
        self.assert_fails(self.ufm(self.tls + "/good"), "certificate is not trusted", "caFile")
        self.assert_pods(self.ufm(self.tls + "/good", caFile=str(self.folder / "cert.pem")))
        self.assert_pods(self.ufm(self.tls + "/good", insecureSkipVerify=True))
        by_address = self.tls.replace("localhost", "127.0.0.1")
        self.assert_fails(self.ufm(by_address + "/good", caFile=str(self.folder / "cert.pem")), "not trusted")
        self.assert_fails(self.ufm(self.tls + "/good", caFile="/nonexistent.pem"), "invalid caFile")

    def test_plain_text_where_tls_is_spoken_is_an_error(self):
        self.assert_fails(self.ufm(self.plain.replace("http", "https") + "/good"), "ufm: https://localhost:",
                          "TLS handshake failed", "does endpoint speak TLS 1.2")

    def test_refusals_are_named(self):
        self.assert_fails(self.ufm(self.plain + "/good", "wrong"), "HTTP status 401", "credentials were rejected")
        self.assert_fails(self.ufm(self.plain + "/nothing"), "HTTP status 404", "check endpoint")
        self.assert_fails(self.ufm(self.plain + "/error"), "HTTP status 500", "try again later")
        self.assert_fails(self.ufm("http://localhost:1"), "ufm: http://localhost:1/ufmRest/resources/ports: ")
        self.assert_fails(self.ufm(self.plain + "/reset"), "ufm: http://")

    def test_credentials_do_not_follow_to_another_host(self):
        for nodes in ("basic", "token"):
            Server.recorded = ""
            self.assert_pods(self.ufm(self.plain + "/elsewhere", nodes))
            self.assertEqual(Server.recorded, "nothing")

    def test_answers_that_are_none_are_named(self):
        self.assert_fails(self.ufm(self.plain + "/empty"), "has no node of the cluster")
        self.assert_fails(self.ufm(self.plain + "/null"), "found null, want a list")
        self.assert_fails(self.ufm(self.plain + "/html"), "line 1, column 1")
        self.assert_fails(self.ufm(self.plain + "/broken"), "line ")
        self.assert_fails(self.ufm(self.plain + "/truncated"), "incomplete")

    def test_no_redirect_leads_astray(self):
        self.assert_fails(self.ufm(self.plain + "/file"), "file")
        self.assert_fails(self.ufm(self.plain + "/loop"), "redirects")

    def test_an_answer_without_end_takes_bounded_time_and_memory(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = {what: pool.submit(self.ufm, f"{self.plain}/{what}", timeout=timeout)
                    for what, timeout in (("slow", "1500ms"), ("endless", "1500ms"), ("huge", "30s"))}
        for what in ("slow", "endless"):
            run = runs[what].result()
            self.assert_fails(run, "no complete answer within 1.5 s")
            self.assertLess(run.seconds, 20)
        self.assert_fails(self.ufm(self.plain + "/headers"), "ufm: http://localhost:")
        self.assert_fails(runs["huge"].result(), "more than 100 MiB, given up")
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kib, 400 * 1024)


if __name__ == "__main__":
    os.environ.pop("http_proxy", None)
    unittest.main()
