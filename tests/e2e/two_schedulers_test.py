#!/usr/bin/env python3
"""Two schedulers and one lease: only the one that holds it binds, and the other takes over within the lease's time.

Pods come all the while. A witness of each scheduler tells who asked for which bind; watches of leases and pods tell in
which order the API server let things happen. So each bind is held against the lease as it was at that very moment."""
import datetime
import signal
import threading
import typing
import unittest

from clusters import Witness
from live import ApiServer, LiveTest
from watch import Watch

LEASES = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases"
PODS = "/api/v1/namespaces/default/pods"
LEASE_SECONDS, RENEW_SECONDS, RETRY_SECONDS = 10, 8, 1  # a leader outlives one renewal without an answer
LONGEST_PAUSE = 2.2 * RETRY_SECONDS  # between two looks at the lease of another
SLACK = 15  # that a busy machine may add
TIMES = (f"--leader-elect-lease-duration={LEASE_SECONDS}s", f"--leader-elect-renew-deadline={RENEW_SECONDS}s",
         f"--leader-elect-retry-period={RETRY_SECONDS}s")
PODS_PER_SECOND = 20


class Held(typing.NamedTuple):
    """One version of the lease."""
    version: int
    holder: str
    acquired: float
    renewed: float


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else 0.0


class Scheduler:
    """`strata scheduler`, watched."""

    def __init__(self, test):
        self.witness = Witness(test.server)
        test.addCleanup(self.witness.close)
        self.part = test.part_with("scheduler", *self.witness.flags, "--schedule-period=50ms", *TIMES)

    def binds(self):
        """{pod: when it was first asked to be bound}."""
        return {pod: when for when, pod in reversed(self.witness.paths(r"/pods/([^/]+)/binding$"))}


class TwoSchedulers(LiveTest):
    server_class = ApiServer
    arguments = ("--plain-http",)

    def setUp(self):
        super().setUp()
        self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=64")
        self.part("controllers", "--leader-elect=false", *self.server.controller_flags)
        self.until(lambda: self.get("/api/v1/namespaces/volcano-system"), "the namespace")
        self.leases, self.pods = Watch(self.server, LEASES), Watch(self.server, PODS)
        self.addCleanup(self.leases.close)
        self.addCleanup(self.pods.close)
        self.first = Scheduler(self)
        self.until(self.history, "the first leads")
        self.second = Scheduler(self)
        self.until(lambda: "has seen the cluster" in self.second.part.said(), "the second waits for the lease")
        self.names = {self.history()[0].holder: self.first}
        self.fed, self.enough = [], threading.Event()
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.feeder.start()
        self.addCleanup(self.enough.set)
        self.until(lambda: len(self.first.binds()) > 10, "the first binds")

    def feed(self):
        while not self.enough.wait(1 / PODS_PER_SECOND):
            name = f"pod-{len(self.fed)}"
            spec = {"schedulerName": "volcano", "containers": [
                {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "100m"}}}]}
            code, _ = self.server.json("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                                                      "spec": spec})
            if code == 201:
                self.fed.append(name)

    def history(self):
        """[Held] in the order of time."""
        specs = [(int(lease["metadata"]["resourceVersion"]), lease["spec"]) for lease in self.leases.objects
                 if lease["metadata"]["name"] == "volcano"]
        return [Held(version, spec.get("holderIdentity") or "", seconds(spec.get("acquireTime")), seconds(spec.get("renewTime")))
                for version, spec in specs]

    def taken_over(self):
        """Where in the history another holds it."""
        history = self.history()
        return next((i for i, held in enumerate(history) if held.holder not in ("", history[0].holder)), None)

    def bound(self):
        """{pod: version at which it got its node}."""
        versions = {}
        for pod in self.pods.objects:
            if pod["spec"].get("nodeName"):
                versions.setdefault(pod["metadata"]["name"], int(pod["metadata"]["resourceVersion"]))
        return versions

    def expect_the_second(self):
        """Waits for binds of the second; the lease before, and when it was taken over."""
        self.until(lambda: self.second.binds() and self.taken_over() is not None, "the second binds")
        history, index = self.history(), self.taken_over()
        self.names[history[index].holder] = self.second
        return history[index - 1], history[index]

    def check(self, in_vain=frozenset()):
        """When all is said and done: each pod was bound once, by the scheduler that held the lease then, and the other never asked for it. But
        for the pods in `in_vain`: what one of them asked for came to nothing."""
        self.enough.set()
        self.feeder.join()
        self.until(lambda: set(self.fed) <= set(self.bound()), "every pod is bound")
        nodes = {(pod["metadata"]["name"], pod["spec"]["nodeName"]) for pod in self.pods.objects if pod["spec"].get("nodeName")}
        self.assertEqual(len(nodes), len(self.bound()), "no pod changes its node")
        self.until(lambda: set(self.bound()) <= {pod for one in self.names.values() for pod in one.binds()}, "every bind is witnessed")
        asked = {holder: scheduler.binds() for holder, scheduler in self.names.items()}
        self.assertEqual(set.intersection(*map(set, asked.values())) - in_vain, set(), "asked for by both")
        history = self.history()
        for pod, version in self.bound().items():
            held = [entry for entry in history if entry.version < version][-1]
            self.assertIn(held.holder, asked, f"{pod} was bound while nobody held the lease")
            self.assertIn(pod, asked[held.holder], f"{pod} was bound under the lease of another")
            self.assertLess(asked[held.holder][pod], held.renewed + LEASE_SECONDS, f"{pod} was bound under a lease that was over")

    def test_the_other_takes_over_when_the_leader_is_killed(self):
        self.assertFalse(self.second.binds())
        self.first.part.kill()
        before, after = self.expect_the_second()
        self.assertGreaterEqual(after.acquired, before.renewed + LEASE_SECONDS - 0.01, "not before it is over")
        self.assertLess(after.acquired, before.renewed + LEASE_SECONDS + 2 * LONGEST_PAUSE + SLACK)
        done = {pod for pod, version in self.bound().items() if version < after.version}
        self.check(in_vain=set(self.first.binds()) - done)  # cut off with the one that asked

    def test_the_other_takes_over_at_once_when_the_leader_ends(self):
        self.first.part.stop()
        before, after = self.expect_the_second()
        if "the lease is kept to its end" not in self.first.part.said():  # no answer to a bind
            self.assertEqual(before.holder, "", "who ends gives the lease back")
            self.assertLess(after.acquired, before.renewed + LONGEST_PAUSE + SLACK)
        done = {pod for pod, version in self.bound().items() if version < after.version}
        self.check(in_vain=done)  # the second may not have seen the last of them yet: the server refuses to bind them again

    def test_a_leader_that_slept_too_long_does_not_bind_again(self):
        self.first.part.process.send_signal(signal.SIGSTOP)
        before, after = self.expect_the_second()
        self.assertLess(after.acquired, before.renewed + LEASE_SECONDS + 2 * LONGEST_PAUSE + SLACK)
        fed, asked = set(self.fed), set(self.first.binds())
        self.until(lambda: fed <= set(self.bound()), "the second has bound all that the first had seen")
        self.first.part.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(self.first.part.process.wait(timeout=30), 0, "who lost the lease ends")
        late = set(self.first.binds()) - asked  # on their way when it fell asleep: the server refuses them
        self.assertLessEqual(late, fed)
        self.check(in_vain=late)


if __name__ == "__main__":
    unittest.main()
