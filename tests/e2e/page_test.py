#!/usr/bin/env python3
"""`strata page`: what programs and browsers get of a running cluster, live, and what they are refused."""
import contextlib
import http.client
import json
import pathlib
import re
import socket
import stat
import subprocess
import threading
import unittest
import urllib.parse

from live import EXAMPLES, LIMIT, LiveTest
from strata_run import STRATA

JOB = "pytorch-distributed-training"
HEADERS = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
           "Cross-Origin-Resource-Policy", "Permissions-Policy", "Cache-Control")


def fold_column(column, entries):
    """Folds one column of a change into one of the picture (docs/page.md)."""
    for at, value in entries.items():
        if isinstance(column, list):
            column.extend([None] * (int(at) + 1 - len(column)))
            column[int(at)] = value
        elif value is None:
            column.pop(at, None)
        else:
            column[at] = value


def cells(runs):
    return [job for job, count in zip(runs[::2], runs[1::2]) for _ in range(count)]


def runs_of(holders):
    runs = []
    for job in holders:
        if runs and runs[-2] == job:
            runs[-1] += 1
        else:
            runs += [job, 1]
    return runs


def fold(picture, change):
    for part in ("hyperNodes", "nodes", "jobs"):
        for key, entries in change.get(part, {}).items():
            if key in ("used", "allocatable"):
                for resource, amounts in entries.items():
                    fold_column(picture[part][key][resource], amounts)
            else:
                fold_column(picture[part][key], entries)
    gpus = change.get("gpus", {})
    state = list(picture["gpus"]["state"])
    for first, text in gpus.get("state", {}).items():
        state[int(first):int(first) + len(text)] = text
    picture["gpus"]["state"] = "".join(state)
    holders = cells(picture["gpus"]["holder"])
    for first, runs in gpus.get("holder", {}).items():
        part = cells(runs)
        holders[int(first):int(first) + len(part)] = part
    picture["gpus"]["holder"] = runs_of(holders)
    fold_column(picture["gpus"]["shared"], gpus.get("shared", {}))
    for key in ("revision", "time", "fit"):
        picture[key] = change.get(key, picture[key])


class Viewer(threading.Thread):
    """Reads the stream after a picture, and folds what comes into it."""

    def __init__(self, page, picture):
        super().__init__(daemon=True)
        self.picture = picture
        self.lock = threading.Lock()
        self.events = []
        self.connection, self.answer = page.open(f"events?after={picture['revision']}&epoch={picture['epoch']}")
        page.test.addCleanup(self.end)
        self.start()

    def end(self):
        with contextlib.suppress(OSError):
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.join(timeout=LIMIT)
        self.answer.close()
        self.connection.close()

    def run(self):
        event = {}
        try:
            for line in self.answer:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key:
                    event[key] = value
                elif "event" in event:
                    self.take(event)
                    event = {}
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # the test is over

    def take(self, event):
        with self.lock:
            self.events.append(event["event"])
            if event["event"] == "change":
                fold(self.picture, json.loads(event["data"]))

    def sees(self, condition):
        with self.lock:
            return condition(self.picture)


class Page:
    """A `strata page`, as a client of its interface."""

    def __init__(self, test, *arguments):
        self.test = test
        self.part = test.part("page", *arguments)
        found = []

        def ready():
            found[:] = re.findall(r"^ready http://([0-9.]+):(\d+)/(?:#token=(\w+))?$", self.part.said(), re.MULTILINE)
            return found or self.part.process.poll() is not None

        test.until(ready, "the ready line of the page")
        test.assertTrue(found, self.part.said())
        host, port, self.token = found[0]
        self.address = (host, int(port))

    def open(self, path, **headers):
        connection = http.client.HTTPConnection(*self.address, timeout=LIMIT)
        if self.token and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request("GET", path if path.startswith("/") else f"/page/v1/{path}", headers=headers)
        return connection, connection.getresponse()

    def ask(self, path, **headers):
        """(status, headers, body)"""
        connection, answer = self.open(path, **headers)
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def json(self, path):
        status, _, body = self.ask(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body}")
        return json.loads(body)


class Followed(LiveTest):
    """Eight nodes of eight GPUs; the job of examples/training comes while a viewer looks."""
    arguments = ("--generate", "spines=2,racks=2,nodes=2,gpus=8:hgxh100")

    def setUp(self):
        super().setUp()
        self.page = Page(self)

    def largest(self):
        """What `strata topology` says of the same cluster."""
        text = subprocess.run([STRATA, "topology", "--kubeconfig", self.server.kubeconfig, "-o", "json"],
                              capture_output=True, check=True, text=True, timeout=LIMIT).stdout
        return json.loads(text)

    def test_a_picture_with_its_changes_is_the_next_picture(self):
        self.assertEqual(self.page.json("hello")["version"], 1)
        picture = self.page.json("cluster")
        self.assertEqual(picture["hyperNodes"]["name"], ["spine-0", "rack-0", "rack-1", "spine-1", "rack-2", "rack-3"])
        self.assertEqual(picture["gpus"]["state"], "f" * 64)
        self.assertEqual(picture["linkShapes"][0]["groups"], [list(range(8))])
        self.assertEqual(picture["fit"], {key: self.largest()[key] for key in ("pod", "tiers")})
        viewer = Viewer(self.page, picture)
        self.apply((EXAMPLES / "training" / "job.yaml").read_text())
        self.until(lambda: viewer.sees(lambda seen: "Running" in seen["jobs"]["phase"] and seen["jobs"]["ready"] == seen["jobs"]["total"]),
                   "the job on the map")
        at = viewer.picture["jobs"]["name"].index(JOB)
        used = viewer.picture["gpus"]["state"].count("u")
        self.assertEqual(viewer.picture["jobs"]["gpus"][at], used)
        self.assertEqual(cells(viewer.picture["gpus"]["holder"]).count(at), used)

        def same():
            fresh = self.page.json("cluster")
            fresh.pop("time")
            return viewer.sees(lambda seen: {key: value for key, value in seen.items() if key != "time"} == fresh)
        self.until(same, "a folded picture that equals a fresh one")
        self.assertEqual(viewer.picture["fit"], {key: self.largest()[key] for key in ("pod", "tiers")})
        self.assertEqual(set(viewer.events), {"change"})

    def test_an_epoch_ends_when_a_node_goes(self):
        viewer = Viewer(self.page, self.page.json("cluster"))
        self.kubectl("delete", "node", "node-7")
        self.until(lambda: "epoch" in viewer.events, "the event epoch")
        after = self.page.json("cluster")
        self.assertGreater(after["epoch"], viewer.picture["epoch"])
        self.assertNotIn("node-7", after["nodes"]["name"])

    def test_answers_about_single_things(self):
        self.apply((EXAMPLES / "training" / "job.yaml").read_text())
        self.until(lambda: JOB in self.page.json("cluster")["jobs"]["name"], "the job")
        job = self.page.json(f"jobs/default/{JOB}")
        self.assertEqual((job["name"], job["kind"]), (JOB, "Job"))
        self.until(lambda: [bool(pod["node"] and pod.get("devices")) for pod in self.page.json(f"jobs/default/{JOB}")["pods"]] == [True] * 4,
                   "nodes and GPUs of its pods")
        pod = self.page.json(f"jobs/default/{JOB}")["pods"][0]
        node = self.page.json(f"nodes/{pod['node']}")
        self.assertIn(pod["name"], [other["name"] for other in node["pods"]])
        self.assertEqual(len(node["gpus"]), 8)
        held = [gpu["uuid"] for gpu in node["gpus"] for holder in gpu["holders"] if holder["pod"] == f"default/{pod['name']}"]
        self.assertEqual(held, [uuid for given in pod["devices"].values() for uuid in given["uuids"]])
        self.assertIn("default", self.page.json("queues")["queues"])
        fit = self.page.json("fit?pod=" + urllib.parse.quote("nvidia.com/gpu=4"))
        self.assertEqual(fit["pod"], {"nvidia.com/gpu": "4"})
        self.assertEqual(len(fit["pods"]), 6)

    def test_who_may_ask(self):
        for headers, code in (({"Authorization": "Bearer x"}, 401), ({"Host": "evil.example"}, 403),
                              ({"Origin": "http://evil.example"}, 403), ({}, 200)):
            status, answer, body = self.page.ask("cluster", **headers)
            self.assertEqual(status, code, headers)
            self.assertEqual([name for name in HEADERS if name not in answer], [])
            if code != 200:
                self.assertEqual(json.loads(body)["kind"], "Status")
        self.assertEqual(self.page.ask("/")[0], 200)
        self.assertEqual(self.page.ask("/nothing")[0], 404)
        self.assertEqual(self.page.ask("jobs/default/none")[0], 404)
        self.assertEqual(self.page.ask("fit?pod=gpu")[0], 400)
        self.assertNotIn(self.page.token, self.part_log())

    def part_log(self):
        """What it said but for the ready line."""
        return "\n".join(line for line in self.page.part.said().splitlines() if not line.startswith("ready "))

    def test_a_picture_that_the_client_has_is_not_sent_again(self):
        status, headers, body = self.page.ask("cluster", **{"Accept-Encoding": "gzip"})
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertEqual(body[:2], b"\x1f\x8b")
        self.assertEqual(self.page.ask("cluster", **{"If-None-Match": headers["ETag"]})[0], 304)

    def test_it_writes_nothing_and_ends_cleanly(self):
        before = self.items("/api/v1/nodes")
        self.page.json("cluster")
        self.page.part.stop()
        self.assertEqual([node["metadata"]["name"] for node in self.items("/api/v1/nodes")],
                         [node["metadata"]["name"] for node in before])


class Flags(unittest.TestCase):
    def test_other_addresses_than_loopback_are_refused(self):
        up = subprocess.run([STRATA, "up", "--page", "0.0.0.0:0"], capture_output=True, check=False, text=True, timeout=LIMIT)
        self.assertEqual(up.returncode, 2)
        self.assertIn("--page: only a loopback address, not 0.0.0.0:0", up.stderr)

    def test_what_others_reach_has_no_token_of_its_own(self):
        for arguments, words in ((("--listen", "0.0.0.0:0", "--access", "token"), "--access: only kubernetes with --listen 0.0.0.0:0"),
                                 (("--listen", "0.0.0.0:0", "--plain-http"), "--plain-http: not with --access kubernetes: tokens need TLS"),
                                 (("--tls-cert-file", "x"), "--tls-cert-file: want it together with --tls-private-key-file")):
            done = subprocess.run([STRATA, "page", *arguments], capture_output=True, check=False, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


class OfUp(LiveTest):
    """The page that is a part of `strata up`."""
    arguments = ("--generate", "spines=1,racks=1,nodes=2")

    def test_its_url_is_in_a_private_file_and_on_standard_error(self):
        file = pathlib.Path(self.server.kubeconfig).parent / "page"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        url = file.read_text().strip()
        self.assertIn(f"page {url}\n", self.server.errors.read_text())
        found = re.match(r"http://([0-9.]+):(\d+)/#token=(\w+)$", url)
        connection = http.client.HTTPConnection(found[1], int(found[2]), timeout=LIMIT)
        connection.request("GET", "/page/v1/cluster", headers={"Authorization": f"Bearer {found[3]}"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(json.loads(answer.read())["nodes"]["name"], ["node-0", "node-1"])
        connection.close()

    def test_off_is_off(self):
        self.server.stop()
        file = pathlib.Path(self.server.kubeconfig).parent / "page"
        file.unlink()
        self.start("--page", "off")
        self.assertFalse(file.exists())
        self.assertNotIn("page http", self.server.errors.read_text())


class Open(LiveTest):
    arguments = ("--generate", "spines=1,racks=1,nodes=1")

    def test_plain_http_needs_no_token_and_still_refuses_other_sites(self):
        page = Page(self, "--plain-http")
        self.assertEqual(page.token, "")
        self.assertEqual(page.ask("hello")[0], 200)
        self.assertEqual(page.ask("hello", Host="evil.example")[0], 403)


if __name__ == "__main__":
    unittest.main()
