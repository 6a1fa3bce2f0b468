#!/usr/bin/env python3
"""The commands that guides for Volcano users give: to set up network topologies, and to find out why a job waits."""
import os
import pathlib
import subprocess
import unittest

from live import EXAMPLES
from walkthrough_test import NODE, Fabric, Walk

CONTROLLER_CONF = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-controller-configmap
  namespace: volcano-system
data:
  volcano-controller.conf: |
    networkTopologyDiscovery:
      - source: ufm
        enabled: true
        interval: 10m
        credentials:
          secretRef:
            name: ufm-credentials
            namespace: volcano-system
        config:
          endpoint: %s
          insecureSkipVerify: true
      - source: roce
        enabled: false
        interval: 15m
        config:
          endpoint: https://roce-server:9090
      - source: label
        enabled: false
        config: {}
"""
LABEL_CONF = """networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {
  topologyA2: [{nodeLabel: volcano.sh/tor}, {nodeLabel: kubernetes.io/hostname}],
  topologyA3: [{nodeLabel: volcano.sh/hypercluster}, {nodeLabel: volcano.sh/hypernode}, {nodeLabel: kubernetes.io/hostname}]}}}]"""


class Guide(Walk):
    def shell(self, line):
        """What a line typed into a shell prints; "" when its last command fails, as grep does that finds nothing."""
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "KUBECONFIG": self.server.kubeconfig}
        done = subprocess.run(["bash", "-c", line], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.stdout if done.returncode == 0 else ""

    def apply_example(self, name):
        for file in ("nodes", "hypernodes", "job"):
            if file == "job":
                self.until(lambda: not any(node["spec"].get("taints") for node in self.items("/api/v1/nodes")), "the nodes take pods")
            self.kubectl("apply", "-f", str(EXAMPLES / name / f"{file}.yaml"))

    def edit(self, configmap, editor):
        """`kubectl edit` with a program for an editor, which gets the file as its last argument."""
        return self.kubectl("-n", "volcano-system", "edit", "configmap", configmap, KUBE_EDITOR=editor)


class TopologyGuide(Guide):
    found = "kubectl get hypernodes -l volcano.sh/network-topology-source=label --no-headers"

    def label_switches(self):
        self.apply("".join(NODE % i for i in range(4)))
        for i in range(4):
            self.kubectl("label", "node", f"node{i}", f"volcano.sh/tor=tor-{i // 2}", f"kubernetes.io/hostname=node{i}")

    def test_hypernodes_made_by_hand_hold_the_job_below_one_switch(self):
        self.apply_example("mindspore")
        self.until(lambda: self.runs(3, "mindspore-cpu"), "three pods run")
        halves = ({f"node-{i}" for i in range(4)}, {f"node-{i}" for i in range(4, 8)})
        self.assertTrue(any(self.places("mindspore-cpu") <= half for half in halves), self.places("mindspore-cpu"))

    def test_without_hypernodes_the_job_runs_as_any_other(self):
        self.kubectl("apply", "-f", str(EXAMPLES / "mindspore" / "nodes.yaml"))
        self.kubectl("apply", "-f", str(EXAMPLES / "mindspore" / "job.yaml"))
        self.until(lambda: self.runs(3, "mindspore-cpu"), "three pods run")

    def test_discovery_is_configured_verified_and_found(self):
        fabric = Fabric(self)
        self.shell("kubectl create secret generic ufm-credentials --from-literal=username='admin' "
                   "--from-literal=password='hush' -n volcano-system")
        for i in range(1, 9):
            self.apply((NODE % i).replace(f"node{i}", f"node-{i:02d}"))
        self.apply(CONTROLLER_CONF % fabric.url)
        self.until(lambda: self.shell(
            "kubectl logs -n volcano-system -l app=volcano-controllers -c volcano-controllers | "
            'grep "Successfully started all network topology discoverers"'), "the line in the log")
        self.until(lambda: self.shell("kubectl get hypernodes -l volcano.sh/network-topology-source=ufm --no-headers"),
                   "HyperNodes of the fabric")

    def test_the_configuration_of_discovery_is_edited_while_it_runs(self):
        self.label_switches()
        conf = " ".join(LABEL_CONF.split())
        self.edit("volcano-controller-configmap", f"""sed -i 's#^  volcano-controller.conf:.*#  volcano-controller.conf: "{conf}"#;/^    /d'""")
        self.until(lambda: len(self.shell(self.found).splitlines()) == 2, "a HyperNode for each of two switches")
        self.kubectl("label", "node", "node3", "volcano.sh/tor=tor-2", "--overwrite")
        self.until(lambda: len(self.shell(self.found).splitlines()) == 3, "one more when a node moves")


    def test_a_file_in_place_of_the_configmap_is_read_again_when_it_changes(self):
        conf = pathlib.Path(self.folder) / "volcano-controller.conf"
        conf.write_text("networkTopologyDiscovery: []\n")
        self.server.stop()
        self.start("--controller-conf", str(conf))
        self.label_switches()
        conf.write_text("networkTopologyDiscovery: {}\n")
        log = "kubectl logs -n volcano-system volcano-controllers"
        self.until(lambda: self.shell(f"{log} | grep 'keeping the previous one'"), "a broken one is refused")
        conf.with_suffix(".new").write_text(LABEL_CONF)
        conf.with_suffix(".new").rename(conf)
        self.until(lambda: len(self.shell(self.found).splitlines()) == 2, "a HyperNode for each of two switches")


class DebuggingGuide(Guide):
    arguments = ("-v", "5")
    log = "kubectl logs -n volcano-system -l app=volcano-scheduler --tail=-1"

    def test_eight_gpus_come_from_one_switch(self):
        self.apply_example("debugging-guide")
        self.until(lambda: self.runs(8, "train-8gpu"), "eight workers run")
        wide = self.shell("kubectl get pods -l volcano.sh/job-name=train-8gpu -o wide --no-headers")
        places = {line.split()[6] for line in wide.splitlines()}
        self.assertIn(places, [{f"node-{i}", f"node-{i + 1}"} for i in (1, 3, 5, 7)])
        self.assertIn("tor-1", self.shell("kubectl get hypernodes -o wide"))
        self.assertTrue(self.shell("kubectl get crd hypernodes.topology.volcano.sh"))
        self.assertIn("highestTierAllowed: 2", self.shell("kubectl get vcjob train-8gpu -o yaml | grep -A5 networkTopology"))
        for line in ("hyperNode in session", "HyperNodesReadyToSchedule", "networkTopologyAware hyperNode score",
                     "networkTopologyAware node score", "hyperNode binpacking score calculation", "AllocatedHyperNode"):
            self.assertTrue(self.shell(f'{self.log} | grep "{line}"'), line)
        self.assertEqual(self.shell(f'{self.log} | grep "build hyperNode gradient fail"'), "")
        self.assertRegex(self.shell(f"{self.log} | grep AllocatedHyperNode"), 'AllocatedHyperNode="tor-[1-4]"')

    def test_a_search_that_finds_nothing_says_so(self):
        self.apply_example("debugging-guide")
        job = (EXAMPLES / "debugging-guide" / "job.yaml").read_text()
        self.apply(job.replace("train-8gpu", "too-large").replace("highestTierAllowed: 2", "highestTierAllowed: 1")
                   .replace(": 8", ": 9"))
        self.until(lambda: self.shell(f'{self.log} | grep "build hyperNode gradient fail" | grep too-large'), "the line")

    def test_the_configuration_is_edited(self):
        self.until(lambda: self.shell(f"{self.log} | grep 'configuration read'"), "it is read")
        self.edit("volcano-scheduler-configmap", "sed -i s/backfill/backfil/")
        self.until(lambda: self.shell(f"{self.log} | grep -w backfil"), "an action that nobody knows is refused")
        self.until(lambda: "InvalidConfiguration" in self.kubectl("get", "events", "-n", "volcano-system"), "an event")
        self.edit("volcano-scheduler-configmap", "sed -i 's/, backfil\\b//'")
        self.until(lambda: self.shell(f"{self.log} | grep -c 'configuration read'").strip() == "2", "it is read again")


if __name__ == "__main__":
    unittest.main()
