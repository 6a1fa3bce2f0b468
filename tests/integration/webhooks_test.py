#!/usr/bin/env python3
"""`strata webhooks` as a process: certificates, registration, and reviews over TLS as an API server sends them."""
import base64
import contextlib
import http.client
import json
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

import yaml  # Debian: python3-yaml

from api_server import ApiServer, read_until
from strata_run import STRATA, wait_until

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
SECRET = "/api/v1/namespaces/volcano-system/secrets/strata-admission-secret"
SERVICE = ("--service", "volcano-system/strata-admission-service", "--shutdown-delay-duration", "0s")
SERVICE_HOST = "strata-admission-service.volcano-system.svc"
INSTALLED = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "chart" / "webhooks"


def definition(kind):
    """A real server has this kind built in; to the embedded one it is a custom kind like others."""
    plural = kind.lower() + "s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.admissionregistration.k8s.io",
                         "annotations": {"api-approved.kubernetes.io": "unapproved, test only"}},
            "spec": {"group": "admissionregistration.k8s.io", "scope": "Cluster",
                     "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema}}]}}


def job(queue="default"):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"queue": queue,
                     "tasks": [{"replicas": 2, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}}


def review(plural, operation, new, old=None, group="batch.volcano.sh", uid="u-1"):
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "request": {"uid": uid, "operation": operation, "namespace": "default", "name": "train",
                        "resource": {"group": group, "version": "v1", "resource": plural},
                        "object": new, "oldObject": old, "dryRun": False}}


class Webhooks:
    """A running `strata webhooks`; its lines go to a file."""

    def __init__(self, server, folder, *arguments):
        self.path = pathlib.Path(folder) / f"webhooks-{id(self)}.log"
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([STRATA, "webhooks", "--kubeconfig", server.kubeconfig, *arguments],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)

    def log(self):
        return self.path.read_text(encoding="utf-8")

    def wait_ready(self):
        try:
            self.ready = read_until(self.process, "ready ")[-1].split()[1]
        except AssertionError as error:
            raise AssertionError(f"{error} {self.log()}") from error
        self.port = int(self.ready.rsplit(":", 1)[1])
        return self

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)
        if self.process.returncode != 0:
            raise AssertionError(f"exit {self.process.returncode}: {self.log()}")

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def connect(self, authority, host):
        """A connection that trusts `authority` alone, as the API server does, and expects `host`."""
        context = ssl.create_default_context(cadata=authority)
        connection = http.client.HTTPSConnection(host, self.port, context=context, timeout=20)
        # Whatever the name, it is this machine.
        connection._create_connection = lambda _, *rest: socket.create_connection(("127.0.0.1", self.port), *rest)
        return connection

    def post(self, authority, path, body, host="127.0.0.1"):
        """(status, text)."""
        text = body if isinstance(body, str) else json.dumps(body)
        with contextlib.closing(self.connect(authority, host)) as connection:
            connection.request("POST", path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def ask(self, authority, path, body, host="127.0.0.1"):
        status, text = self.post(authority, path, body, host)
        if status != 200:
            raise AssertionError(f"{status} {text}")
        return json.loads(text)["response"]


class LiveWebhooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = ApiServer(self.folder)
        self.addCleanup(self.server.kill)
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            status, answer = self.server.json("POST", DEFINITIONS, definition(kind))
            self.assertEqual(status, 201, answer)
        wait_until(lambda: self.server.request("GET", REGISTRATION + "/mutatingwebhookconfigurations")[0] == 200, 20,
                   "the kinds being served")

    def start(self, *arguments):
        webhooks = Webhooks(self.server, self.folder, *arguments)
        self.addCleanup(webhooks.kill)
        return webhooks

    def configuration(self, effect, name):
        kind = f"{REGISTRATION}/{effect}webhookconfigurations"
        return self.server.json("GET", f"{kind}/strata-admission-service-{name}")[1]

    def authority(self):
        hook = self.configuration("validating", "jobs-validate")["webhooks"][0]
        return base64.b64decode(hook["clientConfig"]["caBundle"]).decode()

    def files(self):
        """The certificates of the Secret as files; the flags that name them."""
        data = self.server.json("GET", SECRET)[1]["data"]
        names = {"tls.crt": "--tls-cert-file", "tls.key": "--tls-private-key-file", "ca.crt": "--ca-cert-file"}
        flags = []
        for name, flag in names.items():
            path = pathlib.Path(self.folder) / name
            path.write_bytes(base64.b64decode(data[name]))
            flags += [flag, str(path)]
        return flags

    def test_by_url_with_certificates_of_its_own(self):
        webhooks = self.start().wait_ready()
        hook = self.configuration("mutating", "jobs-mutate")["webhooks"][0]
        self.assertEqual(hook["clientConfig"]["url"], webhooks.ready + "/jobs/mutate")
        self.assertEqual(hook["failurePolicy"], "Fail")
        self.assertEqual(hook["namespaceSelector"]["matchExpressions"][0]["values"], ["volcano-system", "kube-system"])
        authority = self.authority()
        answer = webhooks.ask(authority, "/jobs/mutate", review("jobs", "CREATE", job(queue=""), uid="u-7"))
        self.assertEqual((answer["uid"], answer["allowed"], answer["patchType"]), ("u-7", True, "JSONPatch"))
        patch = json.loads(base64.b64decode(answer["patch"]))
        self.assertIn({"op": "replace", "path": "/spec/queue", "value": "default"}, patch)

        with self.assertRaises(ssl.SSLCertVerificationError):
            webhooks.post(authority, "/jobs/mutate", "{}", host="other.example")
        for body in ("", "{", "[]", '{"kind":"AdmissionReview"}'):
            status, text = webhooks.post(authority, "/jobs/validate", body)
            self.assertEqual((status, text.count("\n")), (400, 1), text)
        answer = webhooks.ask(authority, "/pods/validate", review("pods", "CREATE", {}, group=""))
        self.assertTrue(answer["allowed"], "not enabled: nothing is refused")
        webhooks.stop()

    def test_rules_that_need_the_cluster(self):
        webhooks = self.start().wait_ready()
        authority = self.authority()

        def verdict(queue):
            answer = webhooks.ask(authority, "/jobs/validate", review("jobs", "CREATE", job(queue)))
            return "allowed" if answer["allowed"] else answer["status"]["message"]

        self.assertEqual(verdict("default"), "allowed")
        self.assertIn('unable to find job queue: queues.scheduling.volcano.sh "team" not found', verdict("team"))
        self.server.json("POST", QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                          "metadata": {"name": "team"}, "spec": {}})
        # At once: the API server is asked where the informer has not seen the queue yet.
        self.assertEqual(verdict("team"), "allowed")
        self.server.request("PATCH", QUEUES + "/team/status", {"status": {"state": "Closed"}},
                            {"Content-Type": "application/merge-patch+json"})
        wait_until(lambda: "can only submit job to queue with state `Open`" in verdict("team"), 20,
                   "the closed queue being seen")
        queue = self.server.json("GET", QUEUES + "/default")[1]
        answer = webhooks.ask(authority, "/queues/validate",
                              review("queues", "DELETE", None, queue, group="scheduling.volcano.sh"))
        self.assertFalse(answer["allowed"])
        self.assertEqual(answer["status"]["code"], 400)
        self.assertIn("`default` queue can not be deleted", answer["status"]["message"])

    def test_replicas_of_a_service_share_a_secret(self):
        first = self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready()
        second = self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready()
        authority = self.authority()
        for webhooks in (first, second):
            answer = webhooks.ask(authority, "/jobs/validate", review("jobs", "CREATE", job()), host=SERVICE_HOST)
            self.assertTrue(answer["allowed"])
        hook = self.configuration("validating", "queues-validate")["webhooks"][0]
        self.assertEqual(hook["clientConfig"]["service"]["path"], "/queues/validate")

    def test_what_is_installed_is_what_it_makes(self):
        installed = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in INSTALLED.iterdir()}
        paths = ",".join("/" + name.replace("-", "/") for name in installed)
        self.start(*SERVICE, "--listen", "127.0.0.1:0", "--enabled-admission", paths).wait_ready().stop()
        for name, wanted in installed.items():
            made = self.configuration("mutating" if name.endswith("-mutate") else "validating", name)
            del made["webhooks"][0]["clientConfig"]["caBundle"]
            self.assertEqual((made["kind"], made["metadata"]["name"], made["webhooks"]),
                             (wanted["kind"], wanted["metadata"]["name"], wanted["webhooks"]))

    def test_what_is_installed_gets_an_authority_and_stays_as_it_is(self):
        wanted = yaml.safe_load((INSTALLED / "jobs-validate.yaml").read_text(encoding="utf-8"))
        wanted["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}
        wanted["webhooks"][0]["timeoutSeconds"] = 3
        code, before = self.server.json("POST", f"{REGISTRATION}/validatingwebhookconfigurations", wanted)
        self.assertEqual(code, 201, before)
        self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready().stop()
        after = self.configuration("validating", "jobs-validate")
        self.assertIn("BEGIN CERTIFICATE", self.authority())
        del after["webhooks"][0]["clientConfig"]["caBundle"]
        self.assertEqual(after["webhooks"], wanted["webhooks"])
        self.assertEqual(after["metadata"]["labels"], wanted["metadata"]["labels"])

    def test_a_configuration_that_cannot_be_written_holds_up_neither_the_others_nor_the_certificate(self):
        self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready().stop()
        flags = self.files()
        kind = self.server.json("GET", DEFINITIONS + "/mutatingwebhookconfigurations.admissionregistration.k8s.io")[1]
        webhooks = self.start(*SERVICE, "--listen", "127.0.0.1:0", *flags).wait_ready()
        old = self.authority()
        self.server.request("DELETE", SECRET)
        self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready().stop()
        self.server.request("DELETE", f"{DEFINITIONS}/{kind['metadata']['name']}")  # they cannot even be read now
        self.files()

        def is_shown():
            new = self.authority().replace(old, "")
            try:
                return webhooks.ask(new, "/jobs/validate", review("jobs", "CREATE", job()), host=SERVICE_HOST)["allowed"]
            except ssl.SSLError:
                return False
        wait_until(is_shown, 20, "the new certificate being shown")

    def test_still_serves_for_a_while_when_it_is_told_to_end(self):
        webhooks = self.start("--service", SERVICE[1], "--listen", "127.0.0.1:0", "--shutdown-delay-duration", "10s",
                              "--enable-healthz", "--healthz-address", "127.0.0.1:0").wait_ready()
        authority = self.authority()
        webhooks.process.send_signal(signal.SIGTERM)

        def is_ready():
            with contextlib.closing(webhooks.connect(authority, SERVICE_HOST)) as connection:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
        wait_until(lambda: not is_ready(), 10, "not being ready any more")
        answer = webhooks.ask(authority, "/jobs/validate", review("jobs", "CREATE", job()), host=SERVICE_HOST)
        self.assertTrue(answer["allowed"])
        webhooks.process.communicate(timeout=60)
        self.assertEqual(webhooks.process.returncode, 0)

    def test_files_are_read_again_and_what_was_installed_stays(self):
        self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready().stop()
        flags = self.files()
        name = "strata-admission-service-jobs-validate"
        path = f"{REGISTRATION}/validatingwebhookconfigurations/{name}"
        installed = self.server.json("GET", path)[1]
        installed["webhooks"][0].update(failurePolicy="Ignore", clientConfig={"caBundle": ""})
        self.assertEqual(self.server.json("PUT", path, installed)[0], 200)
        webhooks = self.start(*SERVICE, "--listen", "127.0.0.1:0", *flags).wait_ready()
        hook = self.configuration("validating", "jobs-validate")["webhooks"][0]
        self.assertEqual(hook["failurePolicy"], "Ignore")
        old = self.authority()

        def ask(authority):
            return webhooks.ask(authority, "/jobs/validate", review("jobs", "CREATE", job()), host=SERVICE_HOST)
        self.assertTrue(ask(old)["allowed"])

        self.server.request("DELETE", SECRET)
        self.start(*SERVICE, "--listen", "127.0.0.1:0", "--enabled-admission", "/pods/validate").wait_ready().stop()
        self.files()  # of the new Secret, in the same place
        wait_until(lambda: self.authority() != old, 20, "the new authority being registered")

        def is_shown():
            try:
                return ask(self.authority().replace(old, ""))["allowed"]  # the previous one stays trusted
            except ssl.SSLCertVerificationError:
                return False
        wait_until(is_shown, 20, "the new certificate being shown")

    def test_certificates_are_made_anew_when_the_secret_goes_and_none_runs(self):
        """As docs/operations.md says; then the old authority is deleted from a configuration, and stays away."""
        def run():
            self.start(*SERVICE, "--listen", "127.0.0.1:0").wait_ready().stop()
            return self.server.json("GET", SECRET)[1]["data"]
        old = run()
        self.server.request("DELETE", SECRET)
        new = run()
        self.assertEqual([key for key in old if old[key] == new[key]], [])
        authorities = [base64.b64decode(data["ca.crt"]).decode().strip() for data in (new, old)]
        self.assertEqual(self.authority().strip(), "\n".join(authorities))
        path = f"{REGISTRATION}/validatingwebhookconfigurations/strata-admission-service-jobs-validate"
        installed = self.server.json("GET", path)[1]
        installed["webhooks"][0]["clientConfig"]["caBundle"] = new["ca.crt"]
        self.assertEqual(self.server.json("PUT", path, installed)[0], 200)
        run()
        self.assertEqual(self.authority().strip(), authorities[0])

    def test_is_ready_when_it_has_seen_the_cluster(self):
        webhooks = self.start("--enable-healthz", "--healthz-address", "127.0.0.1:0").wait_ready()
        self.assertIn('"serving pages"', webhooks.log())
        port = int(webhooks.log().split('"serving pages" port="')[1].split('"')[0])
        for page, text in (("/readyz", "ok"), ("/healthz", "ok"), ("/metrics", "strata_webhook_certificate_expiry")):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
                connection.request("GET", page)
                answer = connection.getresponse()
                self.assertEqual(answer.status, 200)
                self.assertIn(text, answer.read().decode())

    def test_bad_flags_are_one_line(self):
        for flags, text in ((["--service", "x"], "NAMESPACE/NAME"),
                            (["--enabled-admission", "/nope"], "there is no webhook /nope"),
                            (["--webhook-url", "http://x"], "https://"),
                            (["--webhook-namespace", "x"], "requires"),
                            (["--tls-cert-file", "x"], "requires")):
            done = subprocess.run([STRATA, "webhooks", *flags], capture_output=True, timeout=20, check=False, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(text, done.stderr)
        missing = ["--tls-cert-file", "/nope", "--tls-private-key-file", "/nope", "--ca-cert-file", "/nope"]
        done = subprocess.run([STRATA, "webhooks", "--kubeconfig", self.server.kubeconfig, *missing],
                              capture_output=True, timeout=20, check=False, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nope", done.stderr)


if __name__ == "__main__":
    unittest.main()
