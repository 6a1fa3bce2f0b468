#!/usr/bin/env python3
"""Two schedulers, two processes of controllers, virtual nodes and an API server as processes, while jobs of several priorities come and go: requests are cut,
refused, held and answered in vain, processes are killed, stopped and paused, also between a 429 and the retry. Then the whole history of the store is
judged, version by version.

STRATA_SECONDS says for how long there are faults (180), STRATA_SEED which. The same seed draws the same faults, in the same order."""
import os
import random
import signal
import threading
import time
import unittest

import store_history
from fault_proxy import FaultProxy
from invariants import Ledger, given_twice, misgiven, overcommitted
from kill_test import CLUSTER, KillTest
from live import ApiServer

SECONDS = float(os.environ.get("STRATA_SECONDS", "180"))
SEED = int(os.environ.get("STRATA_SEED") or random.SystemRandom().randrange(1_000_000))
TIMES = ("--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s")
RIVALS = {f"{command}-{number}": (command, *flags)
          for command, flags in (("scheduler", (*TIMES, "--schedule-period=100ms")),
                                 ("controllers", (*TIMES, *ApiServer.controller_flags)))
          for number in range(2)}
PRIORITIES = {"low": 1, "middle": 100, "high": 1000}
RECORDED = ("pods", "nodes", "jobs.batch.volcano.sh")
STORM = 30  # seconds of faults before everything is to come to rest
LONGEST_LULL = 5  # seconds between two strikes: some find a new leader at work, some do not
PAUSES = 0.5  # of the binds and creates that are asked to wait
LONGEST_PAUSE = 12  # seconds: another leads by then
CALM_LIMIT = 180  # seconds: a watch that is silent is cut, what failed is tried again after 30 s at most


class AimedFaults(KillTest):
    server_class = ApiServer

    def setUp(self):
        print(f"seed {SEED}: STRATA_SEED={SEED} STRATA_SECONDS={SECONDS:.0f} repeats it", flush=True)
        super().setUp()
        self.random = random.Random(SEED)
        self.strikes, self.pauses = {}, 0
        self.resumed = threading.Lock()
        self.sleepers = {}  # name: the timer that wakes it
        self.server.stop()
        store_history.record(f"{self.folder}/data", RECORDED)
        self.start()
        for name, value in PRIORITIES.items():
            code, body = self.server.json("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
            self.assertEqual(code, 201, body)
        self.parts, self.proxies = {}, {}
        for name in RIVALS:
            self.proxies[name] = FaultProxy(self.server, name, SEED, self.pause_at_retry)
            self.addCleanup(self.proxies[name].close)
        for name in ("virtual-nodes", *RIVALS):
            self.start_part(name)
        self.until(lambda: len(self.items("/api/v1/nodes")) == 8, "nodes")

    def start_part(self, name):
        if name in RIVALS:
            command, *flags = RIVALS[name]
            self.parts[name] = self.part_with(command, *self.proxies[name].flags, *flags)
        else:
            self.parts[name] = self.part(name, "--generate", CLUSTER)

    def revive(self):
        """What ended by itself is started again, as a Deployment does: who lost its lease ends."""
        for name, part in list(self.parts.items()):
            if part.process.poll() is not None:
                self.start_part(name)

    # --- faults of processes

    def pause(self, name, seconds):
        with self.resumed:
            part = self.parts[name]
            if name in self.sleepers or part.process.poll() is not None:
                return
            self.pauses += 1
            part.process.send_signal(signal.SIGSTOP)
            self.sleepers[name] = threading.Timer(seconds, self.resume, [name, part])
            self.sleepers[name].start()

    def resume(self, name, part):
        with self.resumed:
            self.sleepers.pop(name, None)
            if part.process.poll() is None:
                part.process.send_signal(signal.SIGCONT)

    def pause_at_retry(self, name):
        """Called where a bind or a create is asked to wait, by the thread of its connection."""
        rng = random.Random(f"{SEED}/{name}/{self.proxies[name].faults}")
        if rng.random() < PAUSES:
            self.pause(name, rng.uniform(1, LONGEST_PAUSE))

    def a_part_is_killed(self):
        name = self.random.choice(sorted(self.parts))
        self.parts[name].kill()
        self.start_part(name)

    def a_rival_is_asked_to_stop(self):
        part = self.parts[self.random.choice(sorted(RIVALS))]
        part.process.send_signal(signal.SIGTERM)

    def a_rival_is_paused(self):
        self.pause(self.random.choice(sorted(RIVALS)), self.random.uniform(1, LONGEST_PAUSE))

    def the_api_server_is_killed(self):
        self.server.kill()
        self.start()

    def nothing_more(self):
        pass

    STRIKES = (a_part_is_killed, a_rival_is_asked_to_stop, a_rival_is_paused, the_api_server_is_killed, nothing_more)

    def strike(self):
        blow = self.random.choice(self.STRIKES)
        self.strikes[blow.__name__] = self.strikes.get(blow.__name__, 0) + 1
        blow(self)

    # --- the run

    def make_job(self, most=4, priority=None):
        return super().make_job(most, priority or self.random.choice(sorted(PRIORITIES)))

    def storm(self, end):
        for proxy in self.proxies.values():
            proxy.calm = False
        while time.monotonic() < end:
            self.change()
            self.let_write(self.random.randint(0, 60))
            self.strike()
            if self.random.random() < 0.5 and len(self.jobs) < 10:
                self.make_job(priority="high")  # a rival for the room of what was interrupted
            self.revive()
            threading.Event().wait(self.random.uniform(0, LONGEST_LULL))  # when the next strike comes, not a wait for something
        for proxy in self.proxies.values():
            proxy.calm = True

    def unsettled(self):
        self.revive()
        return super().unsettled()

    def until(self, condition, what, limit=CALM_LIMIT):
        super().until(condition, what, limit)

    def test_nothing_is_lost_and_nothing_is_doubled(self):
        begun = time.monotonic()
        storms = 0
        while time.monotonic() < begun + SECONDS:
            with self.subTest(storm=storms, seed=SEED):
                self.storm(time.monotonic() + STORM)
                self.settle()
            storms += 1
        self.prove_life(storms)
        for timer in list(self.sleepers.values()):
            timer.join()
        for part in self.parts.values():
            part.kill()
        self.server.stop()
        self.judge(storms)

    def judge(self, storms):
        """Every version that the store has committed."""
        versions = store_history.read(f"{self.folder}/data")
        court = Court()
        for version in versions:
            court.take(version)
        faults = sum(proxy.faults for proxy in self.proxies.values())
        print(f"seed {SEED}: {storms} storms, {faults} API faults, {self.pauses} pauses, {self.strikes}\n"
              f"{len(versions)} versions judged, {court.binds} binds: {court.sums()}, 0 half gangs after each storm", flush=True)
        self.assertEqual(court.problems, [], f"STRATA_SEED={SEED}")
        self.assertGreater(court.binds, 0)


class Court:
    """What must be true after every write: nothing lost, bound twice or over-committed, no pod created twice."""

    def __init__(self):
        self.nodes, self.pods, self.jobs = {}, {}, {}
        self.ledger = Ledger()
        self.created = set()
        self.binds = 0
        self.problems = []

    def sums(self):
        kinds = {"lost": " is lost", "bound twice": ": bound to ", "over-committed": "over-committed", "created twice": "created twice"}
        return ", ".join(f"{sum(text in problem for problem in self.problems)} {kind}" for kind, text in kinds.items())

    def take(self, version):
        kind = {"pods": self.pods, "nodes": self.nodes}.get(version.resource, self.jobs)
        name = version.body["metadata"]["name"]
        before = kind.get(name)
        if version.deleted:
            kind.pop(name, None)
        else:
            kind[name] = version.body
        if kind is self.pods:
            self.take_pod(version, before)

    def take_pod(self, version, before):
        meta, node = version.body["metadata"], version.body["spec"].get("nodeName")
        if before is None and not version.deleted:
            owner = meta["ownerReferences"][0]["uid"]
            made = (owner, meta["name"])
            # A request that is on its way when its Job is deleted may still arrive; the pod is collected.
            if made in self.created and owner in (job["metadata"]["uid"] for job in self.jobs.values()):
                self.problems.append(f"{meta['name']} was created twice")
            self.created.add(made)
        is_new_bind = node and not (before and before["spec"].get("nodeName")) and not version.deleted
        self.binds += bool(is_new_bind)
        pods = list(self.pods.values())
        found = self.ledger.problems(pods, [job["metadata"]["uid"] for job in self.jobs.values() if "deletionTimestamp" not in job["metadata"]])
        if is_new_bind:
            found += overcommitted(self.nodes.values(), pods) + given_twice(pods) + misgiven(pods)
        self.problems += [f"version {meta['resourceVersion']}: {problem}" for problem in found]


if __name__ == "__main__":
    unittest.main()
