#!/usr/bin/env python3
"""What `make run` shows: a whole cluster on this machine, a topology of eight nodes and its training job, where it went and why.

Stays up on a terminal, until Ctrl-C; ends otherwise."""
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRATA = ROOT / "build" / "strata"
EXAMPLE = ROOT / "examples" / "training"
JOB = "pytorch-distributed-training"
LIMIT = 60  # seconds


def fail(message):
    sys.exit(f"make run: {message}")


def title(text):
    print(f"\n== {text}\n", flush=True)


class Cluster:
    """`strata up` with the nodes of the example."""

    def __init__(self, *files):
        folder = ROOT / "build" / "run"
        folder.mkdir(parents=True, exist_ok=True)
        self.kubeconfig = folder / "kubeconfig"
        command = [STRATA, "up", "--kubeconfig", self.kubeconfig, *(word for file in files for word in ("-f", file))]
        # A session of its own: Ctrl-C is for this program, which then ends the cluster.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        ready = self.process.stdout.readline().decode()
        if not ready.startswith("ready "):
            fail(f"the cluster did not start (exit {self.process.wait()})")
        self.url = ready.split()[1]
        text = self.kubeconfig.read_text()
        self.token = re.search(r"token: \"?([^\"\s]+)", text)[1]
        authority = re.search(r"certificate-authority-data: \"?([^\"\s]+)", text)[1]
        pem = base64.b64decode(authority).decode()
        self.context = ssl.create_default_context(cadata=pem)

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return json.load(answer)

    def workers(self):
        return [pod for pod in self.get("/api/v1/namespaces/default/pods")["items"]
                if pod["metadata"].get("labels", {}).get("volcano.sh/job-name") == JOB]

    def wait_for_job(self):
        end = time.monotonic() + LIMIT
        while True:
            workers = self.workers()
            if len(workers) == 4 and all(pod["status"].get("phase") == "Running" for pod in workers):
                return
            if self.process.poll() is not None:
                fail(f"the cluster ended (exit {self.process.returncode})")
            if time.monotonic() > end:
                fail(f"the job does not run after {LIMIT} s")
            time.sleep(0.05)

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


def show(command, environment):
    print("$ " + " ".join(str(word) for word in command), flush=True)
    subprocess.run(command, env=environment, check=True)
    print(flush=True)


def demonstrate(cluster, kubectl):
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    if kubectl:
        title("Topology and job, with kubectl")
        for file in ("hypernodes.yaml", "job.yaml"):
            show([kubectl, "apply", "-f", EXAMPLE / file], environment)
    cluster.wait_for_job()
    title("Where it runs")
    if kubectl:
        show([kubectl, "get", "pods", "-o", "wide"], environment)
    else:
        for pod in cluster.workers():
            print(f"{pod['metadata']['name']}  {pod['status']['phase']}  {pod['spec']['nodeName']}")
    title("Why there")
    show([STRATA, "explain", f"default/{JOB}"], environment)


def main():
    kubectl = shutil.which("kubectl")
    title("A cluster on this machine: strata up, eight nodes")
    cluster = Cluster(*([EXAMPLE / "nodes.yaml"] if kubectl else [EXAMPLE]))
    print(f"ready {cluster.url} kubeconfig={cluster.kubeconfig}")
    try:
        demonstrate(cluster, kubectl)
        if sys.stdin.isatty() and sys.stdout.isatty():
            print(f"It stays up until Ctrl-C. In another terminal:\n\n  export KUBECONFIG={cluster.kubeconfig}\n"
                  "  kubectl get nodes,hypernodes,vcjob,podgroups,pods -o wide\n"
                  "  kubectl logs -n volcano-system -l app=volcano-scheduler\n", flush=True)
            cluster.process.wait()
    except KeyboardInterrupt:
        print()
    except subprocess.CalledProcessError as error:
        fail(str(error))
    finally:
        code = cluster.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
