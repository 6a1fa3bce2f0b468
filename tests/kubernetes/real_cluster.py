"""What the live tests run on when they run on Kubernetes: one control plane for all tests of a program, emptied before each, with what deploy/ gives
applied, and our parts as processes with the rights of deploy/chart/rbac."""
import atexit
import base64
import contextlib
import datetime
import http.client
import json
import pathlib
import re
import shutil
import tempfile

import yaml  # Debian: python3-yaml

from api_server import Kubectl, new_kubectl
from control_plane import ROOT, ControlPlane, Daemon, is_built
from strata_run import STRATA, wait_until

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "chart"
LIMIT = 90
DEFAULT_QUEUE = "/apis/scheduling.volcano.sh/v1beta1/queues/default"
# What is emptied, by path: a collection, and the names in it that stay.
COLLECTIONS = {
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": (),
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": (),
    "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs": (),
    "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands": (),
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups": (),
    "/api/v1/namespaces/default/pods": (),
    "/api/v1/namespaces/default/services": ("kubernetes",),
    "/api/v1/namespaces/default/secrets": (),
    "/api/v1/namespaces/default/configmaps": ("kube-root-ca.crt",),
    "/api/v1/namespaces/default/persistentvolumeclaims": (),
    "/api/v1/namespaces/default/events": (),
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets": (),
    "/apis/scheduling.k8s.io/v1/priorityclasses": ("system-cluster-critical", "system-node-critical"),
    "/apis/scheduling.volcano.sh/v1beta1/queues": ("default", "root"),
    "/apis/topology.volcano.sh/v1alpha1/hypernodes": (),
    "/api/v1/nodes": (),
    "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases": (),
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": (),
    "/api/v1/namespaces/volcano-system/configmaps": ("kube-root-ca.crt",),
    "/api/v1/namespaces/volcano-system/secrets": (),
}


class Installed(ControlPlane):
    """A control plane with deploy/ applied."""

    def __init__(self, folder, server_flags=()):
        super().__init__(folder, server_flags)
        self.install()

    def prepare(self):
        """The kinds: what owners of a kind leave behind is collected at once where kube-controller-manager finds the kind when it starts, and half a
        minute later where it does not."""
        self.kubectl = Kubectl(new_kubectl(), self.kubeconfig, self.folder)
        self.apply(DEPLOY / "crds")
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(DEPLOY / "crds"))
        names = {yaml.safe_load(path.read_text())["metadata"]["name"] for path in (DEPLOY / "crds").glob("*.yaml")}
        wait_until(lambda: names <= set(self.kubectl("api-resources", "-o", "name", "--cached=false", code=None).split()), LIMIT,
                   "every kind being told of")

    def install(self):
        """The rest, but for the workloads: the tests run those themselves."""
        self.apply(DEPLOY / "namespace.yaml")
        self.apply(CHART / "rbac")
        self.apply_configuration()
        # Pods are refused until their namespace has its service account. The controller that creates it ends when it finds no API server in time.
        wait_until(lambda: self.start() or self.json("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200, LIMIT,
                   "the service account of default")

    def apply(self, path):
        self.kubectl("apply", "--server-side", "-f", str(path))

    def apply_configuration(self):
        for name in ("scheduler", "controller"):
            conf = (CHART / "config" / f"volcano-{name}.conf").read_text()
            code, answer = self.json("POST", "/api/v1/namespaces/volcano-system/configmaps",
                                     {"metadata": {"name": f"volcano-{name}-configmap"}, "data": {f"volcano-{name}.conf": conf}})
            assert code in (201, 409), answer

    def install_webhooks(self):
        """The configurations of the base, where they are missing. From now on somebody has to answer."""
        for name in yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"]:
            if not name.startswith("chart/webhooks/"):
                continue
            item = yaml.safe_load((DEPLOY / name).read_text())
            code, answer = self.json("POST", f"/apis/{item['apiVersion']}/{item['kind'].lower()}s", item)
            assert code in (201, 409), answer

    def empty(self):
        """Takes away what tests make."""
        for path, kept in COLLECTIONS.items():
            wait_until(lambda path=path, kept=kept: self._empty(path, kept), LIMIT, f"{path} empty")
        self.apply_configuration()

    def _empty(self, path, kept):
        code, answer = self.json("GET", path)
        if code != 200:  # 429 for a while after a definition has come
            return False
        items = [item for item in answer["items"] if item["metadata"]["name"] not in kept]
        for item in items:
            name = item["metadata"]["name"]
            if item["metadata"].get("finalizers"):
                self.json("PATCH", f"{path}/{name}", {"metadata": {"finalizers": None}},
                          {"Content-Type": "application/merge-patch+json"})
            self.json("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
        return not items


class Shared:
    """The control plane of this program, started at its first use."""
    plane = None
    user = None

    @classmethod
    def for_test(cls, folder):
        """As the test that owns `folder` left it, or empty where that is another."""
        if cls.plane is None:
            if not is_built():
                raise AssertionError("no control plane: tools/build-control-plane.sh")
            home = tempfile.mkdtemp(prefix="strata-kubernetes-")
            atexit.register(cls.end, home)
            cls.plane = Installed(home)
        cls.plane.start()
        if cls.user != folder:
            cls.plane.empty()
        cls.user = folder
        return cls.plane

    @classmethod
    def end(cls, home):
        if cls.plane is not None:
            cls.plane.kill()
        shutil.rmtree(home, ignore_errors=True)


class RealServer:
    """In the place of `strata apiserver`."""
    controller_flags = ()

    def __init__(self, folder, *arguments, listen=None):  # pylint: disable=unused-argument
        self.folder = pathlib.Path(folder)
        self.plane = Shared.for_test(str(folder))
        self.kubeconfig, self.url, self.errors = self.plane.kubeconfig, self.plane.url, self.plane.errors
        self.request, self.json = self.plane.request, self.plane.json
        self.connect, self.credentials = self.plane.connect, self.plane.credentials
        self.process = self.plane.server.process
        self.ready = f"ready {self.url} kubeconfig={self.kubeconfig}"

    def kubeconfig_for(self, command):
        return self.plane.account(f"strata-{command}")

    def stop(self):
        """It goes on for the next test."""

    def end(self):
        pass

    def kill(self):
        self.plane.server.kill()


class AuditedLogin:
    """A token of its own for one `strata scheduler`, by which the audit log tells its requests from those of others with the same rights."""
    VERBS = ("create", "update", "patch", "delete")

    def __init__(self, server):
        self.plane = server.plane
        token, _ = self.plane.new_token("strata-scheduler")
        claims = token.split(".")[1]
        self.name = f"JTI={json.loads(base64.urlsafe_b64decode(claims + '=' * (-len(claims) % 4)))['jti']}"
        path = server.folder / f"{self.name}.kubeconfig"
        self.plane.write_kubeconfig(path, {"token": token})
        self.flags = ("--kubeconfig", str(path))

    def close(self):
        pass

    def paths(self, pattern):
        """[(when the server got it, what the group of the pattern matched)] of the changes whose path matches."""
        asked = [entry for entry in self.plane.audit(self.name) if entry["verb"] in self.VERBS]
        found = ((entry["requestReceivedTimestamp"], re.search(pattern, entry["requestURI"])) for entry in asked)
        return [(datetime.datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp(), match.group(1)) for when, match in found if match]


class RealUp(RealServer):
    """In the place of `strata up`: the parts are processes, and none waits for a lease, as there."""
    COMMANDS = ("webhooks", "virtual-nodes", "controllers", "scheduler")

    def __init__(self, folder, *arguments, listen=None):
        super().__init__(folder, *arguments, listen=listen)
        self.plane.install_webhooks()
        self.parts = {name: self._part(name, list(arguments)) for name in self.COMMANDS}
        try:
            self._start_parts()
        except BaseException:
            self.end()  # nobody else would
            raise

    def _start_parts(self):
        for part in self.parts.values():
            part.log.unlink(missing_ok=True)  # of one before, in the same test
            part.start()
            if part.name == "webhooks":  # who makes HyperNodes gives up after some seconds without them
                wait_until(lambda part=part: self._is_ready(part), LIMIT, "webhooks ready")
                wait_until(self._are_webhooks_asked, LIMIT, "the webhooks being asked")
        for name, part in self.parts.items():
            wait_until(lambda part=part: self._is_ready(part), LIMIT, f"{name} ready")
        wait_until(lambda: self.json("GET", DEFAULT_QUEUE)[0] == 200, LIMIT, "the queue without which Jobs are refused")

    def _are_webhooks_asked(self):
        """The API server takes a moment to hear of the configurations."""
        task = {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
        job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "probe"}, "spec": {"queue": "nowhere", "tasks": [task]}}
        hypernode = {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": "probe"},
                     "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n"}}}]}}
        return (self.json("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs?dryRun=All", job)[0],
                self.json("POST", "/apis/topology.volcano.sh/v1alpha1/hypernodes?dryRun=All", hypernode)[0]) == (400, 201)

    def _part(self, name, given):
        flags = []
        if name in ("scheduler", "controllers"):
            flags += ["--leader-elect=false", "--enable-healthz", "--healthz-address=127.0.0.1:0"]
        if name == "virtual-nodes" and "--generate" in given:
            flags += ["--generate", given[given.index("--generate") + 1]]
        if name == "webhooks":
            flags += ["--listen", "127.0.0.1:0"]
        if "-v" in given:
            flags += ["-v", given[given.index("-v") + 1]]
        return Daemon(self.folder, name, [STRATA, name, "--kubeconfig", self.kubeconfig_for(name), *flags])

    def _is_ready(self, part):
        if not part.is_running():
            raise AssertionError(f"{part.name} ended: {part.said()[-2000:]}")
        if part.name in ("scheduler", "controllers"):
            return self.page(part.name, "/readyz") is not None
        return re.search("(?m)^ready", part.said()) is not None

    def page(self, name, path):
        """What a part serves at a path; None when that is not 200 or it does not serve yet."""
        port = re.search(r"serving pages.*port=\"?(\d+)", self.parts[name].said())
        if port is None:
            return None
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=10)) as connection:
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                text = answer.read().decode()
            except (OSError, http.client.HTTPException):
                return None
            return text if answer.status == 200 else None

    def logs(self, component):
        return self.parts[component].said()

    def stop(self):
        for part in self.parts.values():
            part.stop()

    def end(self):
        for part in self.parts.values():
            part.kill()

    def interrupt(self):
        self.stop()
        return max(part.process.returncode for part in self.parts.values())

    def kill(self):
        """Everything of it, at once."""
        self.end()
        super().kill()
