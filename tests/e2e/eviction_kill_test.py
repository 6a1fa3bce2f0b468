#!/usr/bin/env python3
"""kill -9 of the scheduler between nomination, eviction and bind, at random moments: no gang half evicted for good, nobody evicted in vain or more than
one plan takes, nobody bound twice or where another one still runs.

STRATA_KILLS says how often (5), STRATA_SEED with which numbers."""
import collections
import os
import random
import threading
import unittest

from evictions import EvictionCluster, condition_of, evicted, is_going, name_of_job, wrong_binds

KILLS = int(os.environ.get("STRATA_KILLS", "5"))
SEED = int(os.environ.get("STRATA_SEED") or random.SystemRandom().randrange(1_000_000))
RACK = 4  # nodes
LOW = {"low-a": RACK, "low-b": RACK}  # the jobs that may go: together they fill both racks
MOST_HAPPENINGS = 32  # about as many as pods have from the making of the claimant to its start
QUIET = 2  # seconds without a further one: then the moment is now
AGAIN = 0.3  # of the kills are followed by another while it starts
LONGEST_START = 0.4  # seconds: what a start takes, more or less


class EvictionKill(EvictionCluster):
    nodes = f"spines=1,racks=2,nodes={RACK},cpu=2"
    stop_seconds = 0.5

    def setUp(self):
        print(f"seed {SEED}: STRATA_SEED={SEED} STRATA_KILLS={KILLS} repeats it", flush=True)
        self.random = random.Random(SEED)
        self.moments = collections.Counter()
        super().setUp()

    def moment(self, since):
        """How far the eviction is, by what the pods show."""
        now = {happening.object["metadata"]["uid"]: happening for happening in self.watch.happenings[since:]}.values()
        claimant = [one.object for one in now if name_of_job(one.object) == "high"]
        victims = [one for one in now if condition_of(one.object, "DisruptionTarget").get("status") == "True"]
        if any(pod["spec"].get("nodeName") for pod in claimant):
            return "binding"
        if any(one.type == "DELETED" for one in victims):
            return "some gone"
        if any(is_going(one.object) for one in victims):
            return "evicting"
        if victims:
            return "marking"
        return "nominating" if any(pod["status"].get("nominatedNodeName") for pod in claimant) else "planning"

    def kill_at(self, since, happenings):
        """Kills it after so many happenings since then, or when there are no more."""
        count = lambda: len(self.watch.happenings)  # pylint: disable=unnecessary-lambda-assignment
        while count() < since + happenings:
            before = count()
            if not self.watch.wait(lambda before=before: count() > before, QUIET):
                break
        self.scheduler.kill()
        self.moments[self.moment(since)] += 1
        if self.random.random() < AGAIN:
            self.start_scheduler()
            threading.Event().wait(self.random.uniform(0, LONGEST_START))
            self.scheduler.kill()
        self.start_scheduler()

    def unsettled(self, size, minimum):
        """Why it is not yet as it should end up; "" when it is."""
        if len(self.running("high")) != size:
            return f"high runs {len(self.running('high'))} of {size} pods"
        for name, replicas in LOW.items():
            pods = self.pods_of(name)
            runs = len(self.running(name))
            outside = self.group_of(name).get("status", {}).get("phase") == "Pending"  # no pod is made for it until it is admitted again
            if (len(pods) != replicas and not outside) or any(is_going(pod) for pod in pods):
                return f"{name} has {len(pods)} pods"
            if self.job_phase(name) != ("Running" if runs >= minimum else "Pending"):
                return f"{name} is {self.job_phase(name)}"
            if 0 < runs < minimum or any("nodeName" in pod["spec"] for pod in pods) != (runs > 0):
                return f"{name} is half evicted: {runs} run"
            if any(condition_of(pod, "DisruptionTarget").get("status") == "True" for pod in pods):
                return f"a pod of {name} is still told to go"
        left = [pod["metadata"]["name"] for name in ("high", *LOW) for pod in self.pods_of(name)
                if pod["status"].get("nominatedNodeName") and "nodeName" not in pod["spec"]]
        return f"{left} are still nominated" if left else ""

    def settle(self, size, minimum):
        try:
            self.until(lambda: self.unsettled(size, minimum) == "", "the claimant runs, and every other gang is whole or waits")
        except AssertionError as error:
            raise AssertionError(f"{self.unsettled(size, minimum)}\n{error}") from None

    def round(self):
        """Two jobs fill two racks; one of high priority needs a part of one of them."""
        minimum = self.random.choice([2, RACK])
        size = self.random.randint(1, RACK)
        for name, replicas in LOW.items():
            self.make_job(name, replicas, minimum, "low", tier=1)
        for name, replicas in LOW.items():
            self.run_for_long(name, replicas)
        since = len(self.watch.happenings)
        self.make_job("high", size, size, "high", tier=1)
        self.kill_at(since, self.random.randint(1, MOST_HAPPENINGS))
        self.settle(size, minimum)
        surplus = RACK - minimum
        self.check(since, size if size <= surplus else RACK)
        for name in ("high", *LOW):
            self.remove_job(name)
        self.until(lambda: not any(self.pods_of(name) for name in ("high", *LOW)), "all are gone")

    def check(self, since, pods):
        """So many pods had to go, of one job; and all of them went for the one that runs now, in their rack."""
        self.assertEqual(wrong_binds(self.watch.happenings), [])
        victims = evicted(self.watch.happenings[since:]).values()
        self.assertEqual(len(victims), pods, [pod["metadata"]["name"] for pod in victims])
        self.assertEqual(len({name_of_job(pod) for pod in victims}), 1)
        for pod in victims:
            self.assertIn("for default/high", condition_of(pod, "DisruptionTarget")["message"])
        left = {pod["spec"]["nodeName"] for pod in victims}
        taken = {pod["spec"]["nodeName"] for pod in self.running("high")}
        self.assertLessEqual(taken, left)
        self.assertEqual(self.in_vain(), 0)

    def test_a_killed_scheduler_leaves_nothing_half_done(self):
        for kill in range(KILLS):
            try:
                self.round()
            except AssertionError as error:
                raise AssertionError(f"kill {kill} of seed {SEED}: {error}\n{self.scheduler.said()}") from None
        print(f"{KILLS} kills: {dict(self.moments)}", flush=True)
        if KILLS >= 100:
            self.assertEqual(set(self.moments), {"planning", "nominating", "marking", "evicting", "some gone", "binding"})


if __name__ == "__main__":
    unittest.main()
