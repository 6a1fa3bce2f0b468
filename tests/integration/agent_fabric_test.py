#!/usr/bin/env python3
"""What `strata-agent run` sees of the network, and the tree that discovery makes of it: real libibumad on ibsim's fabric."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from agent_command_test import AGENT, ApiServer
from discover_ibsim_test import IBSIM, PRELOAD, Simulator
from strata_run import Run, wait_until

FABRIC = "strata.sh/fabric"
NODES = [f"node-{i:02}" for i in range(1, 5)]
LLDP = {"lldp": [{"interface": [{"name": "eth0", "port": [{"id": [{"type": "ifname", "value": "swp1"}]}], "chassis": [{
    "id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": "leaf01"}],
    "capability": [{"type": "Bridge", "enabled": True}]}]}]}]}


class AgentFabric(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.server = ApiServer(scratch.name)
        self.addCleanup(self.server.stop)

    def start(self, node, *flags, environment=None):
        """An agent on a machine without GPUs."""
        self.assertEqual(self.server.json("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})[0], 201)
        home = self.folder / node
        home.mkdir()
        with open(home / "log", "wb") as log:
            process = subprocess.Popen(
                [AGENT, "run", "--kubeconfig", self.server.kubeconfig, "--node-name", node, "--publish-only", "--state-dir", str(home / "state"), *flags],
                cwd=home, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def stop():
            if process.poll() is None:
                process.terminate()
            self.assertEqual(process.wait(timeout=120), 0, (home / "log").read_text())
        self.addCleanup(stop)
        return stop

    def node(self, name):
        return self.server.json("GET", f"/api/v1/nodes/{name}")[1]

    def report(self, name):
        return json.loads(self.node(name)["metadata"].get("annotations", {}).get(FABRIC, "{}"))

    def test_agents_find_their_leaf_and_discovery_makes_the_tree_of_it(self):
        simulator = Simulator(self.folder, IBSIM / "net.rail", "node-02 mlx5_0")
        self.addCleanup(simulator.stop)
        for node in NODES:
            self.start(node, environment={"LD_PRELOAD": PRELOAD, "IBSIM_SOCKNAME": simulator.socket, "SIM_HOST": f"{node} mlx5_0"})
        for node in NODES:
            wait_until(lambda node=node: self.report(node).get("infiniband", [{}])[0].get("leaf"), 120, f"{node} has published its leaf")
        self.assertEqual(self.report("node-02")["infiniband"][0]["leaf"], {"guid": "b83fd20300c00100", "name": "MF0;leaf-01:MQM8700/U1"})
        nodes = self.folder / "nodes.json"
        nodes.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [self.node(name) for name in NODES]}))
        found = Run(self.folder, [{"source": "infiniband", "enabled": True, "config": {"from": "nodes"}}], ["--nodes", str(nodes), "-o", "json"])
        self.assertEqual((found.code, found.err), (0, ""))
        self.assertEqual(found.tiers(), {1: [NODES]})
        self.assertIn("hn-infiniband-t1-leaf-01", found.out)

    def test_neighbours_are_published_and_gone_when_nobody_reads_them(self):
        (self.folder / "neighbours.json").write_text(json.dumps(LLDP))
        stop = self.start("a", "--lldp-command", f"cat {self.folder}/neighbours.json")
        wait_until(lambda: self.report("a").get("lldp"), 120, "the neighbours are published")
        self.assertEqual(self.report("a")["lldp"], [
            {"interface": "eth0", "chassis": "02:00:00:00:00:01", "name": "leaf01", "port": "swp1", "forwards": True}])
        stop()
        withdrawn = subprocess.run([AGENT, "withdraw", "--kubeconfig", self.server.kubeconfig, "--node-name", "a"], check=False, timeout=120)
        self.assertEqual(withdrawn.returncode, 0)
        self.assertNotIn(FABRIC, self.node("a")["metadata"].get("annotations", {}))

    def test_a_command_that_fails_is_a_line_in_the_log(self):
        self.start("b", "--lldp-command", "/no/such/lldpctl")
        wait_until(lambda: "network cannot be read" in (self.folder / "b" / "log").read_text(), 120, "the log names it")
        self.assertIn("/no/such/lldpctl", (self.folder / "b" / "log").read_text())


if __name__ == "__main__":
    unittest.main()
