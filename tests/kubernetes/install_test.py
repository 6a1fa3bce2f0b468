#!/usr/bin/env python3
"""deploy/ on a real API server: installed beside Volcano it touches nothing of Volcano's, and taken away it leaves nothing that blocks."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml  # Debian: python3-yaml

from api_server import Kubectl, new_kubectl
from control_plane import ROOT, ControlPlane, Daemon, is_built, programs_folder
from strata_run import STRATA, wait_until

DEPLOY = ROOT / "deploy"
BESIDE = ROOT / "examples" / "beside-volcano"
SPACE = "volcano-system"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
TOOK = "the configuration of somebody else"


def theirs():
    """What Volcano's chart makes and ours could get in the way of, as far as that matters here."""
    service = {"namespace": SPACE, "name": "volcano-admission-service", "path": "/jobs/validate", "port": 443}
    rule = {"apiGroups": ["batch.volcano.sh"], "apiVersions": ["v1alpha1"], "resources": ["jobs"], "operations": ["CREATE"]}
    hook = {"name": "validatejob.volcano.sh", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore", "timeoutSeconds": 1,
            "clientConfig": {"service": service}, "rules": [rule]}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "volcano-scheduler-configmap"}, "data": {"volcano-scheduler.conf": TOOK}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "volcano-controller-configmap"}, "data": {"volcano-controller.conf": TOOK}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "volcano-admission-secret"}, "stringData": {"tls.crt": "of Volcano"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "volcano-admission-service"},
         "spec": {"selector": {"app": "volcano-admission"}, "ports": [{"port": 443, "targetPort": 8443}]}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "volcano-scheduler-service"},
         "spec": {"selector": {"app": "volcano-scheduler"}, "ports": [{"port": 8080}]}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
         "metadata": {"name": "volcano-admission-service-jobs-validate"}, "webhooks": [hook]}]


def volcano_chart(folder):
    """Volcano's own, where STRATA_VOLCANO_CHART names its folder; else one with the objects above."""
    if "STRATA_VOLCANO_CHART" in os.environ:
        return os.environ["STRATA_VOLCANO_CHART"]
    chart = pathlib.Path(folder) / "volcano"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: volcano\nversion: 1.0.0\n")
    (chart / "templates" / "all.yaml").write_text("---\n".join(yaml.safe_dump(item) for item in theirs()))
    shutil.copytree(DEPLOY / "crds", chart / "crds")
    return str(chart)


@unittest.skipUnless(is_built() and (programs_folder() / "helm").exists(), "no control plane: tools/build-control-plane.sh")
class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.plane = ControlPlane(self.folder)
        self.addCleanup(self.plane.kill)
        self.kubectl = Kubectl(new_kubectl(), self.plane.kubeconfig, self.folder)
        self.helm("install", "volcano", volcano_chart(self.folder), "--create-namespace", "--no-hooks")  # nobody runs pods
        self.before = self.of_volcano()

    def helm(self, *arguments):
        environment = {**os.environ, "KUBECONFIG": self.plane.kubeconfig, "HOME": self.folder}
        done = subprocess.run([programs_folder() / "helm", *arguments, "--namespace", SPACE], env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def of_volcano(self):
        """{what: everything but what the control plane writes} of what is Volcano's."""
        found = self.kubectl("get", "-n", SPACE, "-o", "json", "-f", "-", stdin=self.helm("get", "manifest", "volcano"))
        return {(item["kind"], item["metadata"]["name"]): (item["metadata"]["uid"], item.get("data"), item.get("webhooks"), item.get("rules"),
                                                          item["metadata"].get("generation"))
                for item in json.loads(found)["items"]}

    def configurations(self):
        """{name: object} of ours."""
        return {item["metadata"]["name"]: item for kind in ("mutating", "validating")
                for item in self.plane.json("GET", f"{REGISTRATION}/{kind}webhookconfigurations")[1]["items"]
                if item["metadata"]["name"].startswith("strata-")}

    def authorities(self):
        return {name: item["webhooks"][0]["clientConfig"].get("caBundle", "") for name, item in self.configurations().items()}

    def run_webhooks(self):
        """Until they are registered; the API server reaches none of their Service."""
        part = Daemon(self.folder, "webhooks", [STRATA, "webhooks", "--kubeconfig", self.plane.account("strata-webhooks"), "--listen=127.0.0.1:0",
                                                "--service=volcano-system/strata-admission-service", "--shutdown-delay-duration=0s"])
        part.start()
        self.addCleanup(part.kill)
        wait_until(lambda: "ready https" in part.said(), 60, "webhooks ready")
        part.stop()
        self.assertEqual(part.process.returncode, 0, part.said())

    def create_job(self):
        template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
        return self.plane.json("POST", f"{JOBS}?dryRun=All", {
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"},
            "spec": {"minAvailable": 1, "queue": "default", "tasks": [{"name": "t", "replicas": 1, "template": template}]}})

    def is_blocked(self):
        """By ours: of those that somebody else has nothing is said here."""
        code, answer = self.create_job()
        return code != 201 and "strata-admission-service" in answer["message"]

    def assert_comes_and_goes(self, install, again, uninstall):
        install()
        self.assertEqual(len(self.configurations()), 6)
        wait_until(self.is_blocked, 60, "ours being asked")
        self.run_webhooks()
        trusted = self.authorities()
        self.assertNotIn("", trusted.values())
        again()
        self.assertEqual(self.authorities(), trusted, "installing again leaves what the webhooks wrote")
        self.assertEqual(self.of_volcano(), self.before)
        uninstall()
        self.assertEqual(self.configurations(), {})
        wait_until(lambda: not self.is_blocked(), 60, "nobody being in the way")
        self.assertEqual(self.of_volcano(), self.before)

    def test_helm_beside_volcano_and_away_again(self):
        chart = (str(DEPLOY / "chart"), "--skip-crds")
        self.assert_comes_and_goes(lambda: self.helm("install", "strata", *chart), lambda: self.helm("upgrade", "strata", *chart),
                                   lambda: self.helm("uninstall", "strata"))

    def test_kustomize_beside_volcano_and_away_again(self):
        apply = lambda: self.kubectl("apply", "--server-side", "-k", str(BESIDE))  # pylint: disable=unnecessary-lambda-assignment
        self.assert_comes_and_goes(apply, apply, lambda: self.kubectl("delete", "-k", str(BESIDE)))


if __name__ == "__main__":
    unittest.main()
