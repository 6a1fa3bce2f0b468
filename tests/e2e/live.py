"""What the end-to-end tests share: a cluster with a kubectl, parts as processes, and waiting for what must happen."""
import pathlib
import signal
import subprocess
import tempfile
import unittest

from api_server import Kubectl, new_kubectl
from clusters import IS_REAL, ApiServer, Up
from strata_run import HERE, STRATA, wait_until

EXAMPLES = HERE.parent.parent / "examples"
LIMIT = 60  # seconds: for things that take milliseconds on a machine with nothing else to do
VIRTUAL = {"strata.sh/virtual": "true"}  # the label of nodes without machines


class Part:
    """One of the other commands, `strata scheduler` and so on, against a server; what it says goes to a file."""

    def __init__(self, folder, command, *arguments):
        self.output = pathlib.Path(folder) / f"{command}-{id(self)}.log"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([STRATA, command, *arguments], stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT)

    def said(self):
        return self.output.read_text(errors="replace")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=20)
        if code != 0:
            raise AssertionError(f"exit {code}: {self.said()}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class LiveTest(unittest.TestCase):
    """A test with a folder of its own, a server (`up` unless told otherwise) and a kubectl."""
    server_class = Up
    arguments = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = None
        self.parts_started = []
        self.start(*self.arguments)
        self.addCleanup(lambda: self.server.end())  # pylint: disable=unnecessary-lambda  # the server of that moment

    def start(self, *arguments, **keywords):
        self.server = self.server_class(self.folder, *arguments, **keywords)
        self.kubectl = Kubectl(new_kubectl(), self.server.kubeconfig, self.folder)
        return self.server

    def part(self, command, *arguments):
        return self.part_with(command, "--kubeconfig", self.server.kubeconfig_for(command), *arguments)

    def part_with(self, command, *arguments):
        """The same with a connection of its own among the arguments."""
        part = Part(self.folder, command, *arguments)
        self.addCleanup(lambda: part.process.poll() is None and part.kill())
        self.parts_started.append(part)
        return part

    def get(self, path):
        """The object at a path of the API, None when there is none."""
        status, body = self.server.json("GET", path)
        return body if status == 200 else None

    def items(self, path):
        return self.get(path)["items"]

    def node(self, name):
        return self.get(f"/api/v1/nodes/{name}")

    def pod(self, name, space="default"):
        return self.get(f"/api/v1/namespaces/{space}/pods/{name}")

    def phase(self, name):
        pod = self.pod(name)
        return pod["status"].get("phase") if pod else None

    def until(self, condition, what, limit=LIMIT):
        try:
            wait_until(condition, limit, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.picture()}") from None

    def picture(self):
        """What a person would look at first."""
        seen = self.kubectl("get", "nodes,hypernodes,queues,vcjob,podgroups,pods", "-A", "-o", "wide", code=None)
        said = [f"{part.output.name}: {part.said()[-2000:]}" for part in self.parts_started]
        return "\n".join([seen, *said])

    def apply(self, text):
        return self.kubectl("apply", "-f", "-", stdin=text)


def ready_of(node):
    """Status of the Ready condition."""
    conditions = node.get("status", {}).get("conditions", [])
    return next((c["status"] for c in conditions if c["type"] == "Ready"), None)


__all__ = ["ApiServer", "EXAMPLES", "IS_REAL", "LIMIT", "LiveTest", "Part", "Up", "VIRTUAL", "ready_of"]
