"""A real Kubernetes control plane on loopback: etcd, kube-apiserver and kube-controller-manager as processes, RBAC and the audit log on."""
import json
import os
import pathlib
import secrets
import subprocess
import time

from api_server import ApiServer
from strata_run import free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
START_LIMIT = 120  # seconds; it takes about five on a machine with nothing else to do
SECRETS = "/api/v1/namespaces/volcano-system/secrets"
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}
SERVER_NAMES = "subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth\n"


def programs_folder():
    """Where tools/build-control-plane.sh puts the programs."""
    where = subprocess.run([ROOT / "tools" / "build-control-plane.sh", "--where"], check=True, capture_output=True, text=True)
    return pathlib.Path(where.stdout.strip()) / "bin"


def is_built():
    return all((programs_folder() / name).exists() for name in PROGRAMS)


def free_ports(count):
    return [free_port() for _ in range(count)]


class Daemon:
    """A process that writes to a log and can be started again with the same command."""

    def __init__(self, folder, name, command, environment=None):
        self.name, self.command = name, [str(word) for word in command]
        self.environment = {**os.environ, **(environment or {})}
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            env=self.environment)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        if not self.is_running():
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()


class ControlPlane(ApiServer):
    """Its kubeconfig is that of an administrator; `account` gives those of service accounts."""

    def __init__(self, folder, server_flags=()):  # pylint: disable=super-init-not-called
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.audit_log = self.folder / "audit.log"
        self.kubeconfig = str(self.folder / "kubeconfig")
        self.errors = self.folder / "kube-apiserver.log"
        self.token = secrets.token_hex(16)
        self.bound = {}  # account: the Secret with which its token ends
        self.etcd_port, peer_port, port = free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        self._make_certificates()
        self.write_kubeconfig(self.kubeconfig, {"token": self.token})
        programs = programs_folder()
        self.etcd = Daemon(folder, "etcd", [
            programs / "etcd", "--name=e2e", f"--data-dir={folder}/etcd", f"--listen-client-urls={self._etcd_url()}",
            f"--advertise-client-urls={self._etcd_url()}", f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer_port}", f"--initial-cluster=e2e=http://127.0.0.1:{peer_port}",
            "--unsafe-no-fsync", "--log-level=warn"])
        self.server = Daemon(folder, "kube-apiserver", [
            programs / "kube-apiserver", *self._server_flags(port), *server_flags])
        self.controllers = Daemon(folder, "kube-controller-manager", [
            programs / "kube-controller-manager", f"--kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}", f"--authorization-kubeconfig={self.kubeconfig}",
            "--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false", f"--cert-dir={folder}",
            f"--service-account-private-key-file={folder}/accounts.key", f"--root-ca-file={folder}/ca.crt",
            "--kube-api-qps=500", "--kube-api-burst=1000", "--node-monitor-grace-period=5m"])
        self.daemons = (self.etcd, self.server, self.controllers)
        try:
            self.start(self.daemons[:2])
            self.prepare()
            self.start()
        except BaseException:
            self.kill()  # nobody else would
            raise

    def prepare(self):
        """What there is to do before kube-controller-manager starts."""

    def _etcd_url(self):
        return f"http://127.0.0.1:{self.etcd_port}"

    def _server_flags(self, port):
        (self.folder / "audit.yaml").write_text(json.dumps(AUDIT_POLICY))
        (self.folder / "tokens.csv").write_text(f'{self.token},administrator,1,"system:masters"\n')
        flags = {
            "bind-address": "127.0.0.1", "advertise-address": "127.0.0.1", "secure-port": port, "etcd-servers": self._etcd_url(),
            "tls-cert-file": self.folder / "server.crt", "tls-private-key-file": self.folder / "server.key",
            "token-auth-file": self.folder / "tokens.csv", "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self.folder / "accounts.pub",
            "service-account-signing-key-file": self.folder / "accounts.key",
            "service-cluster-ip-range": "10.0.0.0/16", "endpoint-reconciler-type": "none", "cert-dir": self.folder,
            "audit-policy-file": self.folder / "audit.yaml", "audit-log-path": self.audit_log,
            "enable-admission-plugins": "OwnerReferencesPermissionEnforcement", "max-requests-inflight": 3000, "max-mutating-requests-inflight": 1000}
        return [f"--{name}={value}" for name, value in flags.items()]

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.folder)

    def _make_certificates(self):
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        self._openssl("req", "-x509", *key, "-days", "30", "-subj", "/CN=e2e-ca", "-keyout", "ca.key", "-out", "ca.crt")
        self._openssl("req", *key, "-subj", "/CN=kube-apiserver", "-keyout", "server.key", "-out", "server.csr")
        (self.folder / "names").write_text(SERVER_NAMES)
        self._openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
                      "-extfile", "names", "-out", "server.crt")
        self._openssl("genrsa", "-out", "accounts.key", "2048")
        self._openssl("rsa", "-in", "accounts.key", "-pubout", "-out", "accounts.pub")

    def write_kubeconfig(self, path, user):
        cluster = {"server": self.url, "certificate-authority-data": self._authority()}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
                  "clusters": [{"name": "e2e", "cluster": cluster}], "users": [{"name": "e2e", "user": user}],
                  "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}]}
        pathlib.Path(path).write_text(json.dumps(config))

    def _authority(self):
        return subprocess.run(["base64", "-w0", "ca.crt"], check=True, capture_output=True, text=True, cwd=self.folder).stdout

    # --- processes

    def start(self, daemons=None):
        """Starts what does not run, and waits until the API server says that it is ready."""
        for daemon in daemons or self.daemons:
            if not daemon.is_running():
                daemon.start()
            if daemon is self.server:
                self._wait_ready()

    def _wait_ready(self):
        try:
            wait_until(self.is_ready, START_LIMIT, "kube-apiserver ready")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.server.said()[-2000:]}{self.etcd.said()[-2000:]}") from None

    def is_ready(self):
        if not self.server.is_running():
            self.server.start()  # it ends by itself where its store is slow to come
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.stop()

    def kill(self):
        """All of it at once, as when the power fails."""
        for daemon in self.daemons:
            daemon.kill()

    def compact(self):
        """Drops the history of the store: a watch that is behind, or begins at an older version, gets 410."""
        version = self.json("GET", "/api/v1/namespaces?limit=1")[1]["metadata"]["resourceVersion"]
        subprocess.run(["curl", "-sSf", f"{self._etcd_url()}/v3/kv/compaction", "-d",
                        json.dumps({"revision": version, "physical": True})], check=True, capture_output=True)

    # --- accounts

    def account(self, name):
        """The path of a kubeconfig for a service account of ours, whose token is in a file of its own beside it."""
        path = self.folder / f"{name}.kubeconfig"
        self._put_token(name)
        self.write_kubeconfig(path, {"tokenFile": f"{path}.token"})
        return str(path)

    def rotate_token(self, name):
        """Replaces the token of an account; the old one ends once the new one is there, as a kubelet does it."""
        old = self.bound[name]
        self._put_token(name)
        status, answer = self.json("DELETE", f"{SECRETS}/{old}")
        assert status == 200, answer

    def _put_token(self, name):
        token, self.bound[name] = self.new_token(name)
        path = self.folder / f"{name}.kubeconfig.token"
        fresh = path.with_suffix(".fresh")
        fresh.write_text(token)
        fresh.rename(path)

    def new_token(self, name):
        """(A token for an account of ours, the Secret with which it ends)."""
        spare = f"{name}-{time.monotonic_ns()}"
        status, secret = self.json("POST", SECRETS, {"metadata": {"name": spare}})
        assert status == 201, secret
        bound = {"kind": "Secret", "apiVersion": "v1", "name": spare, "uid": secret["metadata"]["uid"]}
        status, request = self.json("POST", f"/api/v1/namespaces/volcano-system/serviceaccounts/{name}/token",
                                    {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                                     "spec": {"expirationSeconds": 86400, "boundObjectRef": bound}})
        assert status == 201, request
        return request["status"]["token"], spare

    # --- what was asked

    def audit(self, text=""):
        """The finished requests so far, as the audit log has them: those in which a text occurs."""
        with open(self.audit_log, encoding="utf-8") as log:
            return [json.loads(line) for line in log if line.endswith("\n") and text in line]
