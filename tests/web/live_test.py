#!/usr/bin/env python3
"""`strata page` of a running cluster in chromium: what is bound is on the map, and the page survives a restart of its server."""
import os
import pathlib
import re
import subprocess
import unittest

import browser
from api_server import new_kubectl
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

    def test_the_command_of_a_change_lets_the_job_start_where_it_said(self):
        _, url = self.begin()
        self.browser.open(url)
        self.apply(JOB.format(name="large", pods=5))
        self.browser.until(lambda: self.browser.view()["waiting"] == 1, "it waits")
        self.browser.run("location.hash = '#/waiting?job=default/large'")
        self.browser.until(lambda: "changes tried" in self.browser.text(".split > :last-child"), "changes were tried")
        self.browser.run("[...document.querySelectorAll('.change button')].find((b) => b.textContent === 'see where').click()")
        self.browser.until(lambda: self.browser.view().get("ghosts"), "the map shows where")
        ghosts = {node: pods for node, pods in self.browser.view()["ghosts"]}
        command = self.browser.text(".change code")
        self.assertRegex(command, "^kubectl .*highestTierAllowed")
        environment = {"PATH": f"{pathlib.Path(new_kubectl()).parent}:{os.environ['PATH']}", "HOME": self.folder, "KUBECONFIG": self.server.kubeconfig}
        done = subprocess.run(["sh", "-c", command], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        self.until(lambda: self.placed("large") == 5, "it starts")
        nodes = [pod["spec"]["nodeName"] for pod in self.items("/api/v1/namespaces/default/pods")]
        self.assertEqual({node: nodes.count(node) for node in nodes}, ghosts)
        # And why it went there, decided again.
        self.browser.until(lambda: "decides the same" in self.browser.text(".split > :last-child")
                           or "cluster has changed" in self.browser.text(".split > :last-child"), "the story of a running job")
        self.browser.run("location.hash = '#/fit?pods=9&mode=hard&tier=1'")
        self.browser.until(lambda: self.browser.run("return document.querySelector('button.primary')?.disabled === false"), "it may be tried")
        self.browser.run("document.querySelector('button.primary').click()")
        self.browser.until(lambda: "It would wait" in self.browser.text(".panel"), "it would wait")
        self.browser.run("location.hash = '#/time'")
        self.browser.until(lambda: "default/large" in self.browser.text(".events"), "what was decided")
        self.no_refusals()

    def placed(self, job):
        return sum("nodeName" in pod["spec"] and pod["metadata"]["name"].startswith(job + "-")
                   for pod in self.items("/api/v1/namespaces/default/pods"))

    def test_a_running_job_that_waits_for_nothing_has_the_past_that_was_recorded(self):
        _, url = self.begin()
        self.browser.open(url)
        self.apply(JOB.format(name="small", pods=4))
        self.browser.until(lambda: self.browser.view()["gpus"]["used"] == 32, "it runs")
        self.browser.run("location.hash = '#/time'")
        self.browser.until(lambda: "placed default/small" in self.browser.text(".events").replace("\n", " "), "its placement")
        then = self.browser.run("return Date.now()")
        self.kubectl("delete", "vcjob", "small")
        self.browser.until(lambda: self.browser.view()["gpus"]["used"] == 0, "it is gone")
        self.browser.run(f"location.hash = '#/time?t={then}'")
        self.browser.until(lambda: self.browser.view()["moment"] and self.browser.view()["gpus"]["used"] == 32, "the past has it")
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
