#!/usr/bin/env python3
"""Serves the built page with recorded answers, under the headers of `strata page`: for tests, and to try the page out.

Usage: tests/web/page_server.py [--site FOLDER] [--spines N] [--racks N] [--nodes N] [--gpus N] [--jobs N] [--waiting N]
"""
import argparse
import gzip
import http.server
import json
import os
import pathlib
import queue
import threading
import time
import urllib.parse

import recorded

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SITE = pathlib.Path(os.environ.get("STRATA_SITE", ROOT / "build/src/page_files/generated/site"))
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".txt": "text/plain; charset=utf-8"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                               "trusted-types 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, code, kind, body):
        packed = gzip.compress(body, 6, mtime=0)
        self.send_response(code)
        for name, value in (HEADERS | {"Content-Type": kind, "Content-Encoding": "gzip", "Content-Length": str(len(packed))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(packed)

    def json(self, value, code=200):
        self.answer(code, "application/json", json.dumps(value).encode())

    def refuse(self, code, message):
        self.json({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}, code)

    def parse_request(self):
        """Takes the prefix of a proxy off; what is not below it is nowhere."""
        done = super().parse_request()
        if done and self.server.prefix:
            self.path = self.path.removeprefix(self.server.prefix) if self.path.startswith(self.server.prefix + "/") else "/nowhere"
        return done

    def do_GET(self):
        place = urllib.parse.urlsplit(self.path)
        self.server.asked.append(self.path)
        if place.path.startswith("/page/v1/"):
            self.api(urllib.parse.unquote(place.path[len("/page/v1/"):]), place.query)
            return
        file = self.server.site / (place.path.lstrip("/") or "index.html")
        if file.parent == self.server.site and file.is_file():
            self.answer(200, TYPES[file.suffix], file.read_bytes())
        else:
            self.refuse(404, "not found")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(self.path)
        if self.headers["Content-Type"] != "application/json" or self.path.split("?")[0] != "/page/v1/what-if":
            self.refuse(404, "not found")
        else:
            self.json(self.server.cluster.what_if(body))

    def api(self, path, query=""):
        cluster, token = self.server.cluster, self.server.token
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            self.refuse(401, "Unauthorized")
            return
        plain = {"hello": cluster.hello, "cluster": cluster.cluster, "queues": cluster.queues, "fit": cluster.fit_answer}
        first, _, rest = path.partition("/")
        if path in plain:
            self.json(plain[path]())
        elif path == "events":
            self.events()
        elif path == "history":
            at = urllib.parse.parse_qs(query).get("at")
            self.json(cluster.moment(int(at[0])) if at else cluster.history(cluster.now or int(time.time() * 1000)))
        elif first == "jobs" and rest.endswith("/story"):
            self.json(cluster.story(rest.split("/")[-2]))
        elif first == "jobs":
            self.json(cluster.job(rest.split("/")[-1]))
        elif first == "nodes":
            self.json(cluster.node(rest))
        else:
            self.refuse(404, f"unknown path {path}")

    def events(self):
        self.send_response(200)
        for name, value in (HEADERS | {"Content-Type": "text/event-stream", "Connection": "close"}).items():
            self.send_header(name, value)
        self.end_headers()
        inbox = queue.Queue()
        self.server.streams.append(inbox)
        try:
            self.wfile.write(b": hello\n\n")
            while True:
                text = inbox.get()
                if text is None:
                    break
                self.wfile.write(text)
        except OSError:
            pass  # the browser went
        self.close_connection = True


class PageServer(http.server.ThreadingHTTPServer):
    """A server with the recorded answers of `cluster`; `token` is what requests must send, if any."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, cluster, token="", site=SITE, port=0, prefix=""):
        super().__init__(("127.0.0.1", port), Handler)
        self.cluster, self.token, self.site = cluster, token, pathlib.Path(site)
        self.streams, self.asked, self.prefix = [], [], prefix
        self.url = f"http://127.0.0.1:{self.server_address[1]}{prefix}/"

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def send(self, event, data, number=None):
        """One event to every viewer."""
        text = f"event: {event}\n" + (f"id: {number}\n" if number is not None else "") + f"data: {json.dumps(data)}\n\n"
        for inbox in self.streams:
            inbox.put(text.encode())

    def stop(self):
        for inbox in self.streams:
            inbox.put(None)
        self.shutdown()
        self.server_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", default=SITE)
    for name, value in (("spines", 2), ("racks", 4), ("nodes", 4), ("gpus", 8), ("jobs", 12), ("waiting", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    arguments = vars(parser.parse_args())
    server = PageServer(recorded.Cluster(**{name: value for name, value in arguments.items() if name != "site"}), site=arguments["site"])
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
