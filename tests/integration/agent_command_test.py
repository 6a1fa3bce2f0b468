#!/usr/bin/env python3
"""`strata-agent run` on `strata apiserver`, with a driver that loses GPUs, links and itself."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from api_server import ApiServer
from strata_run import wait_until

AGENT = os.environ["STRATA_AGENT"]
FAKE_NVML = os.environ["FAKE_NVML"]
REGISTER = "hami.io/node-nvidia-register"
SCORE = "hami.io/node-nvidia-score"
ABOUT = "strata.sh/agent"


class Agent:
    """A running agent of one machine, with its driver's state in files of its own."""

    def __init__(self, folder, kubeconfig, node, machine="dgx1v", starts=True):
        self.folder = pathlib.Path(folder) / f"{node}-{time.monotonic_ns()}"
        self.folder.mkdir()
        self.kubeconfig, self.node = kubeconfig, node
        self.log = self.folder / "log"
        os.mkfifo(self.folder / "events")
        self.events = os.open(self.folder / "events", os.O_RDWR)
        self.describe(machine)
        self.process = None
        if starts:
            self.start()

    def start(self, *flags, publish_only=True):
        environment = {**os.environ, "STRATA_FAKE_NVML_FILE": str(self.folder / "machine"),
                       "STRATA_FAKE_NVML_EVENTS": str(self.folder / "events")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [AGENT, "run", "--kubeconfig", self.kubeconfig, "--node-name", self.node, "--nvml", FAKE_NVML,
                 "--state-dir", str(self.folder / "state"), "--pages", "127.0.0.1:0", "--driver-limit", "2",
                 *(["--publish-only"] if publish_only else self.no_kubelet()), *flags],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)

    def no_kubelet(self):
        """Flags for a device plugin that finds no kubelet."""
        (self.folder / "plugins").mkdir(exist_ok=True)
        return ["--device-plugin-dir", str(self.folder / "plugins"), "--pods-api", str(self.folder / "none"), "--pod-resources",
                str(self.folder / "none")]

    def describe(self, machine):
        draft = self.folder / "machine.new"
        draft.write_text(machine)
        draft.rename(self.folder / "machine")

    def report(self, event):
        os.write(self.events, (event + "\n").encode())

    def page(self, path):
        """(status, text) of one of its pages."""
        def port():
            ports = re.findall(r'"serving pages" port="?(\d+)', self.log.read_text())
            return ports[-1] if ports else None
        wait_until(port, 60, "the agent serves its pages")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port()}{path}", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        if code != 0:
            raise AssertionError(f"exit {code}: {self.log.read_text()}")

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.events)


class AgentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.server = ApiServer(cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.scratch.cleanup()

    def make_node(self, name, **metadata):
        status, body = self.server.json("POST", "/api/v1/nodes",
                                        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}})
        self.assertEqual(status, 201, body)

    def start(self, node, machine="dgx1v", starts=True):
        agent = Agent(self.scratch.name, self.server.kubeconfig, node, machine, starts)
        self.addCleanup(agent.end)
        return agent

    def notes(self, node, part="annotations"):
        status, body = self.server.json("GET", f"/api/v1/nodes/{node}")
        self.assertEqual(status, 200, body)
        return body["metadata"].get(part, {})

    def health(self, node):
        """By index; [] when nothing is registered."""
        return [gpu.get("health", False) for gpu in json.loads(self.notes(node).get(REGISTER, "[]"))]

    def until(self, check, what):
        wait_until(check, 120, what)

    def test_the_node_says_what_the_machine_has(self):
        self.make_node("says", labels={"nvidia.com/gpu.product": "by-GFD"})
        agent = self.start("says")
        self.until(lambda: self.health("says") == [True] * 8, "eight GPUs")
        self.assertEqual(json.loads(self.notes("says")[ABOUT])["identity"], "none")
        self.assertEqual(json.loads(self.notes("says")[SCORE])[0]["score"]["GPU-fake-3"], 230)
        self.assertEqual(self.notes("says", "labels"), {"nvidia.com/gpu.product": "by-GFD", "nvidia.com/gpu.count": "8",
                                                        "nvidia.com/gpu.memory": "16384"})
        self.until(lambda: agent.page("/readyz")[0] == 200, "ready")
        self.assertIn('strata_agent_gpu_healthy{index="7",uuid="GPU-fake-7"} 1', agent.page("/metrics")[1])
        agent.stop()

    def test_a_gpu_that_is_lost_gets_no_pods_and_an_event_says_why(self):
        self.make_node("loses")
        agent = self.start("loses")
        self.until(lambda: self.health("loses") == [True] * 8, "eight GPUs")
        agent.describe("dgx1v lost=5")
        self.until(lambda: self.health("loses") == [True] * 5 + [False] + [True] * 2, "GPU 5 is not healthy")
        agent.report("2 79")
        self.until(lambda: not self.health("loses")[2], "GPU 2 is not healthy")

        def messages():
            status, body = self.server.json("GET", "/api/v1/namespaces/default/events")
            self.assertEqual(status, 200, body)
            return {event["message"] for event in body["items"] if event["involvedObject"]["name"] == "loses"}
        self.until(lambda: {"GPU 5 (GPU-fake-5) is not healthy: it does not answer",
                            "GPU 2 (GPU-fake-2) is not healthy: XID 79"} <= messages(), "two events")
        self.assertIn('strata_agent_xids_total{xid="79"} 1', agent.page("/metrics")[1])
        # The next process has not forgotten.
        agent.stop()
        agent.describe("dgx1v")
        agent.start()
        self.until(lambda: self.health("loses") == [True, True, False] + [True] * 5, "GPU 5 is back, GPU 2 is not")
        agent.stop()

    def test_a_driver_that_blocks_is_told_and_hangs_nothing(self):
        self.make_node("blocks")
        agent = self.start("blocks")
        self.until(lambda: self.health("blocks") == [True] * 8, "eight GPUs")
        (agent.folder / "block").touch()
        agent.describe(f"dgx1v block={agent.folder}/block")
        self.until(lambda: agent.page("/livez")[0] != 200, "the page says that a thread hangs")
        self.assertIn("gpus", agent.page("/livez")[1])
        self.assertEqual(agent.page("/metrics")[0], 200)
        agent.stop()

    def test_what_it_wrote_can_be_taken_back(self):
        self.make_node("takes", annotations={"kept": "yes"})
        agent = self.start("takes")
        self.until(lambda: self.health("takes") == [True] * 8, "eight GPUs")
        agent.stop()
        subprocess.run([AGENT, "withdraw", "--kubeconfig", self.server.kubeconfig, "--node-name", "takes"], check=True)
        self.assertEqual(self.notes("takes"), {"kept": "yes"})
        self.assertEqual(self.notes("takes", "labels"), {})

    def test_what_another_agent_registers_is_left_alone_until_told(self):
        self.make_node("hami", annotations={REGISTER: "[]"})
        agent = self.start("hami")
        self.until(lambda: "another agent has registered the GPUs" in agent.log.read_text(), "the log tells")
        self.assertEqual(self.notes("hami"), {REGISTER: "[]"})
        self.assertNotEqual(agent.page("/readyz")[0], 200)
        agent.stop()
        agent.start("--take-over")
        self.until(lambda: self.health("hami") == [True] * 8, "eight GPUs")
        agent.stop()

    def test_a_node_that_is_not_there_yet_is_waited_for(self):
        agent = self.start("late")
        self.until(lambda: "Node is not up to date" in agent.log.read_text(), "the log tells")
        self.make_node("late")
        self.until(lambda: self.health("late") == [True] * 8, "eight GPUs")
        agent.stop()

    def test_the_kubelet_is_asked_for_pods_where_it_has_no_pods_api(self):
        for node, flags, identity in (("asks-kubelet", ["--kubelet", "https://127.0.0.1:1", "--kubelet-skip-tls-verify"], "pods"),
                                      ("asks-server", [], "lock")):
            self.make_node(node)
            agent = self.start(node, starts=False)
            agent.start(*flags, publish_only=False)
            self.until(lambda node=node, identity=identity: json.loads(self.notes(node).get(ABOUT, "{}")).get("identity") == identity, identity)
            agent.stop()

    def test_cdi_names_that_nobody_defines_are_told_in_one_line(self):
        self.make_node("cdi")
        agent = self.start("cdi", starts=False)
        folder = agent.folder / "cdi"
        folder.mkdir()
        names = [{"name": f"GPU-fake-{i}"} for i in range(7)]
        (folder / "nvidia.json").write_text(json.dumps({"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": names}))
        flags = ("--cdi", "--cdi-vendor", "nvidia.com", "--cdi-dirs", str(folder))
        agent.start(*flags, publish_only=False)
        self.until(lambda: "CDI names are not defined" in agent.log.read_text(), "the log tells")
        lines = [line for line in agent.log.read_text().splitlines() if "CDI names are not defined" in line]
        self.assertEqual(len(lines), 1)
        self.assertIn("nvidia.com/gpu=GPU-fake-7", lines[0])
        self.assertNotIn("GPU-fake-6", lines[0])
        agent.stop()
        (folder / "more.yaml").write_text("cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices:\n- name: GPU-fake-7\n")
        agent.start("-v", "3", *flags, publish_only=False)
        self.until(lambda: "all CDI names are defined" in agent.log.read_text(), "the log tells")
        agent.stop()

    def test_bad_flags_are_one_line(self):
        for arguments, expected in ((["run", "--pages", "x"], "--pages"), (["run", "--ignore-xids", "abc"], "--ignore-xids"),
                                    (["fly"], "fly")):
            done = subprocess.run([AGENT, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
