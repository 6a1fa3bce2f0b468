"""What the tests of the live system share: `strata apiserver` as a process, kubectl, and plain requests to it."""
import base64
import contextlib
import functools
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import time

from strata_run import HERE, STRATA

BUILD = pathlib.Path(STRATA).resolve().parent
OLD_KUBECTL = BUILD / "kubectl-1.20" / "usr" / "bin" / "kubectl"


class ApiServer:
    """A running `strata apiserver` on a free port; `stop` expects a clean end."""
    command = "apiserver"
    # What controllers must do here that a Kubernetes cluster does itself.
    controller_flags = ("--collect-garbage", "--keep-budgets")

    def __init__(self, folder, *arguments, listen="127.0.0.1:0", prefix=()):
        self.kubeconfig = str(pathlib.Path(folder) / "kubeconfig")
        self.errors = pathlib.Path(folder) / "stderr"  # a file: a pipe that nobody reads would stop a talkative server
        with open(self.errors, "wb") as errors:
            self._start([*prefix, STRATA], listen, errors, arguments)

    def _start(self, program, listen, errors, arguments):
        self.process = subprocess.Popen(
            [*program, self.command, "--listen", listen, "--kubeconfig", self.kubeconfig, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        self.ready = self.process.stdout.readline().decode().strip()
        if not self.ready.startswith("ready "):
            self.kill()
            raise AssertionError(f"not ready: {self.ready!r} {self.errors.read_text()}")
        self.url = self.ready.split()[1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)
        if self.process.returncode != 0:
            raise AssertionError(f"exit {self.process.returncode}: {self.errors.read_text()}")

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """When a test is over, however it went."""
        if self.process.poll() is None:
            self.kill()

    def kubeconfig_for(self, command):  # pylint: disable=unused-argument
        """With which rights a part runs: here every one with all."""
        return self.kubeconfig

    def logs(self, component):
        """What the scheduler or the controllers of a whole cluster have said."""
        return Kubectl(new_kubectl(), self.kubeconfig, self.errors.parent)(
            "logs", "-n", "volcano-system", "-l", f"app=volcano-{component}", "-c", f"volcano-{component}", "--tail=-1")

    def interrupt(self):
        """Ends it as Ctrl-C does; the exit status."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=20)
        return self.process.returncode

    @functools.cached_property
    def _access(self):
        """(TLS context, token) of the kubeconfig, read by kubectl so that nobody here parses YAML."""
        text = subprocess.run(
            ["kubectl", "config", "view", "--raw", "-o", "json", "--kubeconfig", self.kubeconfig],
            capture_output=True, check=True).stdout
        config = json.loads(text)
        authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
        return ssl.create_default_context(cadata=authority), config["users"][0]["user"]["token"]

    def connect(self):
        host, port = self.url.split("//")[1].split(":")
        if self.url.startswith("https"):
            return http.client.HTTPSConnection(host, int(port), context=self._access[0], timeout=30)
        return http.client.HTTPConnection(host, int(port), timeout=30)

    def credentials(self):
        """The headers that say who asks."""
        return {"Authorization": "Bearer " + self._access[1]} if self.url.startswith("https") else {}

    def request(self, method, path, body=None, headers=None):
        """(status, headers, body as text) of one request, with the token."""
        sent = {"Content-Type": "application/json", **self.credentials(), **(headers or {})}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")

    def json(self, method, path, body=None, headers=None):
        """(status, body as JSON)."""
        status, _, text = self.request(method, path, body, headers)
        return status, json.loads(text)


class Up(ApiServer):
    """A running `strata up`: the same, with everything else in it."""
    command = "up"


class Kubectl:
    """One kubectl against one server, with a home of its own (it caches discovery there)."""

    def __init__(self, program, kubeconfig, home):
        self.program, self.kubeconfig, self.home = str(program), kubeconfig, str(home)

    def _environment(self, extra):
        return {"PATH": os.environ["PATH"], "HOME": self.home, "KUBECONFIG": self.kubeconfig, **extra}

    def start(self, *arguments):
        """A kubectl that goes on; the caller ends it."""
        return subprocess.Popen([self.program, *arguments], env=self._environment({}), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __call__(self, *arguments, stdin=None, code=0, **environment):
        """Its output, stderr after stdout; fails when it does not exit with `code` (None: anything)."""
        done = subprocess.run([self.program, *arguments], env=self._environment(environment), input=stdin or "",
                              capture_output=True, timeout=60, check=False, text=True)
        if code is not None and done.returncode != code:
            raise AssertionError(f"kubectl {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def json(self, *arguments):
        return json.loads(self(*arguments, "-o", "json"))


def old_kubectl():
    """kubectl 1.20 of Debian's kubernetes-client, unpacked below build/ and never installed."""
    if not OLD_KUBECTL.exists():
        with tempfile.TemporaryDirectory() as folder:
            download = ["apt-get", "-qq", "download", "kubernetes-client"]
            if subprocess.run(download, cwd=folder, capture_output=True, check=False).returncode != 0:
                subprocess.run(["apt-get", "-qq", "update"], capture_output=True, check=True)
                subprocess.run(download, cwd=folder, capture_output=True, check=True)
            package = next(pathlib.Path(folder).glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", package, folder + "/unpacked"], check=True)
            target = BUILD / "kubectl-1.20"
            shutil.rmtree(target, ignore_errors=True)
            shutil.move(folder + "/unpacked", target)
    return OLD_KUBECTL


def new_kubectl():
    found = shutil.which("kubectl")
    if found is None:
        raise AssertionError("no kubectl on PATH: tools/install-packages.sh test")
    return found


def read_until(process, wanted, limit=30):
    """Lines of a process until one holds `wanted`; fails when the process ends before."""
    lines = []
    end = time.monotonic() + limit
    while time.monotonic() < end:
        line = process.stdout.readline()
        if not line:
            break
        lines.append(line)
        if wanted in line:
            return lines
    raise AssertionError(f"no line with {wanted!r}: {lines}")


def traces(name):
    """The recorded requests of tests/fixtures/kubectl: [(command, [(method, target, headers, body)])]."""
    commands = []
    requests = None
    for line in (HERE.parent / "fixtures" / "kubectl" / name).read_text(errors="replace").splitlines():
        if line.startswith("##### "):
            requests = None
            commands.append((line[6:], []))
        elif line == "--- requests":
            requests = commands[-1][1]
        elif requests is None or not line.strip():
            continue
        elif line.startswith("    body: "):
            requests[-1][3].append(line[10:])
        elif line.startswith("    "):
            key, _, value = line.strip().partition(": ")
            requests[-1][2][key] = value
        elif line.split(" ")[0] in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            method, target = line.split(" ", 1)
            requests.append((method, target, {}, []))
    return commands
