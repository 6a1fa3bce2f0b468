#!/usr/bin/env python3
"""Faults of a real cluster, at random moments while jobs come and go: its API server and store die, our parts die, history is compacted while they sleep,
their tokens are replaced, their lease is taken, the server is slow. What must be true stays true, and it carries on.

STRATA_ROUNDS says how many faults (5), STRATA_SEED which."""
import http.client
import os
import signal
import time
import unittest

from control_plane import Daemon
from kill_test import CLUSTER, KillTest
from live import IS_REAL, ApiServer
from strata_run import STRATA

ROUNDS = int(os.environ.get("STRATA_ROUNDS", "5"))
LEASE = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano"
TIMES = ("--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=1s")
PARTS = {"virtual-nodes": ("--generate", CLUSTER), "controllers": TIMES, "scheduler": (*TIMES, "--schedule-period=200ms")}
SLOW_SECONDS = 2


@unittest.skipUnless(IS_REAL, "its API server has other faults: tests/e2e/kill_test.py")
class Faults(KillTest):
    server_class = ApiServer

    def setUp(self):
        super().setUp()
        self.plane = self.server.plane
        self.parts = {}
        for name, flags in PARTS.items():
            part = Daemon(self.folder, name, [STRATA, name, "--kubeconfig", self.server.kubeconfig_for(name), *flags])
            part.start()
            self.addCleanup(part.kill)
            self.parts[name] = part
        self.until(lambda: len(self.items("/api/v1/nodes")) == 8, "nodes")

    def items(self, path):
        """Waits where need be: a server that has just started does not serve all kinds yet."""
        answers = []

        def is_answered():
            try:
                answers.append(self.server.json("GET", path))
            except (OSError, ValueError, http.client.HTTPException):
                return False
            return answers[-1][0] == 200

        self.until(is_answered, f"an answer to {path}")
        return answers[-1][1]["items"]

    def until(self, condition, what, limit=180):
        """Others find a server that was away only after pauses of their own."""
        super().until(condition, what, limit)

    def picture(self):
        return super().picture() + "\n".join(f"{name}: {part.said()[-2000:]}" for name, part in self.parts.items())

    # --- faults: each leaves everything running that should

    def the_api_server_dies(self):
        self.plane.server.kill()
        self.plane.start()

    def the_store_dies(self):
        self.plane.etcd.kill()
        self.plane.etcd.start()
        self.until(self.is_served, "the API server has its store again")

    def is_served(self):
        try:
            return self.server.json("GET", "/api/v1/nodes?limit=1")[0] == 200
        except (OSError, ValueError, http.client.HTTPException):
            return False

    def a_part_dies(self):
        part = self.parts[self.random.choice(sorted(self.parts))]
        part.kill()
        part.start()

    def history_is_compacted_while_all_sleep(self):
        for part in self.parts.values():
            part.process.send_signal(signal.SIGSTOP)
        try:
            self.change()
            self.plane.compact()
        finally:
            for part in self.parts.values():
                part.process.send_signal(signal.SIGCONT)

    def tokens_are_replaced(self):
        for name in self.parts:
            self.plane.rotate_token(f"strata-{name}")

    def renewed(self):
        return (self.get(LEASE) or {"spec": {}})["spec"].get("renewTime")

    def the_lease_is_taken(self):
        """A process that has lost it ends at once, and writes nothing more; it is started again, as a Deployment does."""
        before = self.renewed()
        self.until(lambda: self.revive() or self.renewed() != before, "somebody who lives holds it")
        code, answer = self.server.json("PATCH", LEASE, {"spec": {"holderIdentity": "somebody else", "leaseDurationSeconds": 1}},
                                        {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(code, 200, answer)
        scheduler = self.parts["scheduler"]
        self.until(lambda: not scheduler.is_running(), "who lost the lease ends")
        self.assertNotEqual(scheduler.process.returncode, 0)
        scheduler.start()

    def the_server_is_slow(self):
        self.plane.server.process.send_signal(signal.SIGSTOP)
        time.sleep(SLOW_SECONDS)  # the fault itself, not a wait for something
        self.plane.server.process.send_signal(signal.SIGCONT)

    FAULTS = (the_api_server_dies, the_store_dies, a_part_dies, history_is_compacted_while_all_sleep, tokens_are_replaced,
              the_lease_is_taken, the_server_is_slow)

    def revive(self):
        """What ended by itself is started again, as a Deployment does: a lease that could not be renewed in time ends its holder."""
        for part in self.parts.values():
            if not part.is_running():
                part.start()

    def unsettled(self):
        self.revive()
        return super().unsettled()

    def test_the_cluster_survives(self):
        faults = list(self.FAULTS)
        self.random.shuffle(faults)
        for turn in range(ROUNDS):
            fault = faults[turn % len(faults)]
            started = time.monotonic()
            with self.subTest(turn=turn, fault=fault.__name__):
                self.change()
                self.let_write(self.random.randint(0, 80))
                fault(self)
                self.check_now()
                self.settle()
            print(f"round {turn}: {fault.__name__}, settled after {time.monotonic() - started:.1f} s", flush=True)
        self.prove_life(ROUNDS)


if __name__ == "__main__":
    unittest.main()
