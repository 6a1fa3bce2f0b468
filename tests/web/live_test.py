#!/usr/bin/env python3
"""`strata page` of a running cluster in chromium: what is bound is on the map, and the page survives a restart of its server."""
import re
import unittest

import browser
from live import LIMIT, LiveTest

JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}}}
spec:
  schedulerName: volcano
  minAvailable: {pods}
  networkTopology: {{mode: hard, highestTierAllowed: 1}}
  tasks:
  - name: w
    replicas: {pods}
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: c
          image: busybox
          resources: {{requests: {{cpu: "1", nvidia.com/gpu: 8}}, limits: {{nvidia.com/gpu: 8}}}}
"""


class LivePageTest(LiveTest):
    arguments = ("--generate", "spines=2,racks=2,nodes=4,gpus=8:hgxh100")

    def setUp(self):
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def begin(self, *arguments):
        """Starts a page server; returns it and its URL."""
        part = self.part("page", *arguments)
        ready = re.compile(r"^ready (\S+)$", re.MULTILINE)
        self.until(lambda: ready.search(part.said()), "the ready line of the page", LIMIT)
        return part, ready.search(part.said())[1]

    def no_refusals(self):
        self.assertEqual(self.browser.run("return [window.refusals, window.problems]"), [[], []])

    def test_shows_gangs_as_they_are_bound_and_why_one_waits(self):
        _, url = self.begin()
        self.browser.open(url)
        self.assertNotIn("token", self.browser.run("return location.href"))
        view = self.browser.view()
        self.assertEqual([view["nodes"], view["gpus"]["free"], view["waiting"], view["level"]], [16, 128, 0, "named"])
        self.apply(JOB.format(name="small", pods=4))
        self.apply(JOB.format(name="large", pods=5))
        self.browser.until(lambda: self.browser.view()["gpus"]["used"] == 32, "the bound gang is on the map")
        self.browser.until(lambda: self.browser.view()["waiting"] == 1, "the other one waits")
        self.browser.run("location.hash = '#/waiting?job=default/large'")
        self.browser.until(lambda: "no HyperNode of tier 1" in self.browser.text(".split > :last-child"), "why it waits")
        self.browser.run("location.hash = '#/jobs?job=default/small'")
        self.browser.until(lambda: "small-w-0" in self.browser.text(".split > :last-child"), "the pods of the other one")
        self.browser.run("location.hash = '#/queues'")
        self.browser.until(lambda: "32 used" in self.browser.text(".panel"), "the queue has 32 GPUs")
        self.browser.run("location.hash = '#/fit?pods=9'")
        self.browser.until(lambda: "9 pods of this shape do not fit" in self.browser.text(".panel")
                           or "9 pods fit, but in no single HyperNode" in self.browser.text(".panel"), "what would fit")
        self.no_refusals()

    def test_comes_back_with_its_server(self):
        part, url = self.begin("--plain-http")
        self.browser.open(url + "#/map?at=rack-1")
        address = re.search(r"//([0-9.]+:\d+)", url)[1]
        part.kill()
        self.browser.until(lambda: "picture of" in self.browser.text(".status"), "the age of the picture")
        self.begin("--plain-http", "--listen", address)
        self.browser.until(lambda: self.browser.view()["link"] == "live", "it is live again")
        self.assertEqual(self.browser.view()["route"]["at"], "rack-1")
        self.assertEqual(self.browser.view()["nodes"], 16)
        self.no_refusals()


if __name__ == "__main__":
    unittest.main()
