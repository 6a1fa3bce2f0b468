#!/usr/bin/env python3
"""Two schedulers and one lease: only the one that holds it binds, and the other takes over within the lease's time."""
import signal
import time
import unittest

from live import ApiServer, LiveTest

LEASE = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  schedulerName: volcano
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "1"}}}]
"""
TIMES = ("--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=1s")
LEASE_SECONDS = 4


class TwoSchedulers(LiveTest):
    server_class = ApiServer

    def scheduler(self):
        return self.part("scheduler", "--schedule-period=100ms", *TIMES)

    def holder(self):
        lease = self.get(LEASE)
        return lease["spec"].get("holderIdentity", "") if lease else ""

    def setUp(self):
        super().setUp()
        self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=2")
        self.part("controllers", "--collect-garbage", "--leader-elect=false")
        self.first = self.scheduler()
        self.until(self.holder, "the first leads")
        self.leader = self.holder()
        self.second = self.scheduler()
        self.apply(POD % "before")
        self.until(lambda: self.phase("before") == "Running", "Running")
        self.assertEqual(self.holder(), self.leader)

    def expect_the_second(self, stopped):
        self.apply(POD % "after")
        self.until(lambda: self.phase("after") == "Running", "the second binds")
        self.assertNotEqual(self.holder(), self.leader)
        # The lease, one try of the other, and what a busy machine adds.
        self.assertLess(time.monotonic() - stopped, LEASE_SECONDS + 1 + 15)

    def test_the_other_takes_over_when_the_leader_is_killed(self):
        stopped = time.monotonic()
        self.first.kill()
        self.expect_the_second(stopped)

    def test_the_other_takes_over_at_once_when_the_leader_ends(self):
        self.first.stop()
        self.apply(POD % "after")
        self.until(lambda: self.phase("after") == "Running", "the second binds")

    def test_a_leader_that_slept_too_long_does_not_bind_again(self):
        self.first.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        self.expect_the_second(stopped)
        leader = self.holder()
        self.first.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(self.first.process.wait(timeout=30), 0, "who lost the lease ends")
        self.apply(POD % "later")
        self.until(lambda: self.phase("later") == "Running", "the second goes on")
        self.assertEqual(self.holder(), leader)


if __name__ == "__main__":
    unittest.main()
