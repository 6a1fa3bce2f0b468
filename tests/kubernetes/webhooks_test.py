#!/usr/bin/env python3
"""`strata webhooks` asked by a real kube-apiserver: what it fills in and refuses, and who is held up when it is away."""
import pathlib
import signal
import subprocess
import tempfile
import unittest

from api_server import read_until
from real_cluster import Installed
from strata_run import STRATA, wait_until

JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/{}/jobs"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"


def job(name, **spec):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"tasks": [{"replicas": 2, "template": template}], **spec}}


def queue(name, **spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


class RealWebhooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.server = Installed(cls.folder)
        cls.addClassCleanup(cls.server.stop)
        for name in ("root", "default"):
            cls.server.json("POST", QUEUES, queue(name))

    def start(self):
        with open(pathlib.Path(self.folder) / "webhooks.log", "ab") as log:
            process = subprocess.Popen([STRATA, "webhooks", "--kubeconfig", self.server.kubeconfig],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        read_until(process, "ready ", limit=60)
        # The API server takes a moment to hear of the configurations.
        wait_until(lambda: self.create("default", job("probe", queue="nowhere"), dry=True)[0] == 400, 60,
                   "the webhooks being asked")
        return process

    def create(self, space, body, dry=False):
        return self.server.json("POST", JOBS.format(space) + ("?dryRun=All" if dry else ""), body)

    def test_fills_in_and_refuses(self):
        self.start()
        code, made = self.create("default", job("train"))
        self.assertEqual(code, 201, made)
        self.assertEqual((made["spec"]["queue"], made["spec"]["minAvailable"], made["spec"]["tasks"][0]["name"]),
                         ("default", 2, "default0"))
        code, answer = self.create("default", job("late", minAvailable=7))
        self.assertEqual(code, 400)
        self.assertIn('admission webhook "validatejob.volcano.sh" denied the request: Job.batch.volcano.sh "late" is '
                      "invalid: spec.minAvailable", answer["message"])
        made["spec"]["tasks"][0]["replicas"] = 3
        code, made = self.server.json("PUT", JOBS.format("default") + "/train", made)
        self.assertEqual(code, 200, made)
        made["spec"]["queue"] = "root"
        self.assertIn("job updates may not change", self.server.json("PUT", JOBS.format("default") + "/train", made)[1]["message"])

        self.assertEqual(self.server.json("POST", QUEUES, queue("team", weight=0))[1]["spec"]["weight"], 1)
        self.assertIn("`default` queue can not be deleted",
                      self.server.json("DELETE", QUEUES + "/default")[1]["message"])
        self.assertIn("parent queue nowhere not found",
                      self.server.json("POST", QUEUES, queue("child", parent="nowhere"))[1]["message"])
        code, answer = self.server.json("DELETE", QUEUES + "/team")
        self.assertEqual(code, 200, answer)

    def test_holds_nobody_up_in_its_own_namespace(self):
        process = self.start()
        process.kill()
        process.wait()
        code, answer = self.create("default", job("held-up"), dry=True)
        self.assertEqual(code, 500, answer)
        self.assertIn("failed calling webhook", answer["message"])
        code, answer = self.create("volcano-system", job("free"), dry=True)
        self.assertEqual(code, 201, answer)
        self.start()  # on another port, with another certificate
        self.assertEqual(self.create("default", job("held-up"), dry=True)[0], 201)

    def test_ends_cleanly_and_leaves_its_configurations(self):
        process = self.start()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(40), 0)
        found = {item["metadata"]["name"]
                 for kind in ("mutating", "validating")
                 for item in self.server.json("GET", CONFIGURATIONS.format(kind))[1]["items"]}
        self.assertEqual(len(found), 6, found)


if __name__ == "__main__":
    unittest.main()
