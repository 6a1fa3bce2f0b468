#!/usr/bin/env python3
"""The programs of examples/discovery, each over what its source really answers, and strata discover behind them.

Goldens are in golden/; STRATA_UPDATE_GOLDENS=1 writes them.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from strata_run import FIXTURES, PODS, Run, assert_golden

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "discovery"
SAMPLES = FIXTURES / "samples"
LABELS = FIXTURES / "k8s-nodes-labels.json"


def program(name, *arguments):
    return [sys.executable, str(EXAMPLES / name), *map(str, arguments)]


class DiscoverExamples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def discover(self, golden, entries, nodes=LABELS, pods=PODS):
        """One pass that must succeed, print the golden, and find `pods`."""
        entries = [{"enabled": True, **entry} for entry in entries]
        arguments = ["--nodes", str(nodes)]
        run = Run(self.folder, entries, [*arguments, "-o", "json"])
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.tiers()[1], pods)
        assert_golden(self, golden, Run(self.folder, entries, arguments).out)
        return run

    def nodes_of_cloud(self, prefix, first):
        """The eight nodes, with the providerIDs of a cloud."""
        nodes = json.loads(LABELS.read_text(encoding="utf-8"))
        for number, node in enumerate(nodes["items"], 1):
            node["spec"] = {"providerID": prefix + first.format(number)}
        path = self.folder / "nodes.json"
        path.write_text(json.dumps(nodes), encoding="utf-8")
        return path

    def cloud(self, golden, *arguments, **more):
        command = program("cloud_paths.py", golden, *arguments)
        self.discover(f"{golden}.yaml", [{"source": "exec", "config": {"command": command}}], **more)

    def test_aws_topology(self):
        nodes = self.nodes_of_cloud("aws:///us-east-1a/", "i-{:017d}")
        self.cloud("aws", "--nodes", nodes, FIXTURES / "aws-describe-instance-topology.json", nodes=nodes)

    def test_aws_pages_are_read_whole_or_not_at_all(self):
        nodes = self.nodes_of_cloud("aws:///us-east-1a/", "i-{:017d}")
        instances = json.loads((FIXTURES / "aws-describe-instance-topology.json").read_bytes())["Instances"]
        pages = [self.folder / "page1.json", self.folder / "page2.json"]
        pages[0].write_text(json.dumps({"Instances": instances[:5], "NextToken": "t"}), encoding="utf-8")
        pages[1].write_text(json.dumps({"Instances": instances[5:], "NextToken": None}), encoding="utf-8")
        self.cloud("aws", "--nodes", nodes, *pages, nodes=nodes)
        command = program("cloud_paths.py", "aws", pages[0])
        run = Run(self.folder, [{"source": "exec", "enabled": True, "config": {"command": command}}])
        self.assertEqual((run.code, run.out), (1, ""))
        self.assertIn("NextToken is set: there are more pages", run.err)

    def test_gcp_instances(self):
        self.cloud("gcp", FIXTURES / "gcp-instances-list.json")

    def test_oci_hosts(self):
        nodes = self.nodes_of_cloud("", "ocid1.instance..{}")
        self.cloud("oci", "--nodes", nodes, FIXTURES / "oci-compute-hosts.json", nodes=nodes)

    def test_oci_metadata(self):
        place = self.folder / "node-01.json"
        shutil.copy(FIXTURES / "oci-imds-rdmaTopologyData.json", place)
        self.cloud("oci-imds", place, pods=[["node-01"]])

    def infiniband(self, golden, *arguments):
        command = program("ib_ports.py", *arguments)
        return self.discover(f"{golden}.yaml", [{"source": "infiniband", "config": {"command": command}}])

    def test_iblinkinfo(self):
        self.infiniband("iblinkinfo", "iblinkinfo", SAMPLES / "iblinkinfo-sample.txt")

    def test_iblinkinfo_that_is_cut_off_is_not_believed(self):
        cut = self.folder / "cut.txt"
        lines = (SAMPLES / "iblinkinfo-sample.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        cut.write_text("".join(lines[:100]), encoding="utf-8")
        command = program("ib_ports.py", "iblinkinfo", cut)
        run = Run(self.folder, [{"source": "infiniband", "enabled": True, "config": {"command": command}}])
        self.assertEqual((run.code, run.out), (1, ""))
        self.assertIn("is not in the text: it is a part only", run.err)

    def test_ufm_links_and_systems(self):
        self.infiniband("ufm-links", "ufm", FIXTURES / "ufm-links.json", FIXTURES / "ufm-systems.json")

    def reports(self, golden, *arguments, **more):
        out = self.folder / "lldp"
        subprocess.run(program("lldp_reports.py", "--out", out, *arguments), check=True)
        return self.discover(f"{golden}.yaml", [{"source": "roce", "config": {"lldpDir": str(out)}}], **more)

    def test_sonic_switch(self):
        self.reports("sonic", "sonic", f"leaf-01={FIXTURES / 'sonic-appl-db-leaf-01.json'}", pods=PODS[:1])

    def test_openconfig_switch(self):
        self.reports("openconfig", "openconfig", f"leaf-01={FIXTURES / 'gnmi-openconfig-lldp-leaf-01.json'}",
                     pods=PODS[:1])

    def test_netbox(self):
        self.reports("netbox", "netbox", FIXTURES / "netbox-interfaces.json")

    def test_netbox_with_the_interfaces_of_switches(self):
        data = json.loads((FIXTURES / "netbox-interfaces.json").read_bytes())
        template = {"mgmt_only": False, "enabled": True}
        for leaf in ("leaf-01", "leaf-02", "leaf-03", "leaf-04"):
            for spine in ("spine-01", "spine-02"):
                ends = [{"name": "swp1", "device": {"name": spine}}]
                data["results"].append(
                    {"name": "swp32", "device": {"name": leaf}, "connected_endpoints": ends, **template})
        path = self.folder / "interfaces.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        self.reports("netbox-switches", "netbox", "--switches", "(leaf|spine)-.*", path)

    def test_netq(self):
        self.reports("netq", "netq", FIXTURES / "netq-topologygraph.json")

    def test_lldpctl_json_of_a_host(self):
        self.reports("lldpctl-node", "lldpctl", f"node-01={SAMPLES / 'lldpctl-node-sample.json'}", pods=[["node-01"]])

    def test_lldpctl_json_of_host_leaf_and_spine(self):
        self.reports("lldpctl-fabric", "lldpctl", f"node-01={SAMPLES / 'lldpctl-node-dualhomed-sample.json'}",
                     f"leaf01={SAMPLES / 'lldpctl-leaf-sample.json'}",
                     f"spine01={SAMPLES / 'lldpctl-spine-sample.json'}", pods=PODS[:1])

    def test_lldpctl_json_with_a_neighbour_without_name(self):
        self.reports("lldpctl-edge", "lldpctl",
                     f"node-01={SAMPLES / 'lldpctl-edge-noname-two-neighbours.json'}", pods=[["node-01"]])

    def cliques(self, golden, *arguments):
        """NVLink domains below the leaves of a fabric."""
        nodes = self.folder / "labelled.json"
        done = subprocess.run(program("nvlink_labels.py", arguments[0], "--nodes", LABELS, *arguments[1:]), check=True,
                              capture_output=True)
        nodes.write_bytes(done.stdout)
        fabric = {"source": "infiniband", "config": {"file": str(SAMPLES / "ibnetdiscover-sample.txt")}}
        return [fabric, {"source": "nvlink"}], nodes, f"{golden}.yaml"

    def test_nmx_domains(self):
        entries, nodes, golden = self.cliques("nmx", "nmx", FIXTURES / "nmx-compute-nodes.json")
        self.discover(golden, entries, nodes=nodes)

    def test_nvidia_smi(self):
        entries, nodes, golden = self.cliques("nvidia-smi", "nvidia-smi",
                                              f"node-01={FIXTURES / 'nvidia-smi-node-01.csv'}")
        self.discover(golden, entries, nodes=nodes, pods=[["node-01"]])

    def test_an_answer_of_another_kind_is_one_line(self):
        out = ("--out", self.folder / "x")
        for name, arguments in (("cloud_paths.py", ("aws", FIXTURES / "netbox-interfaces.json")),
                                ("cloud_paths.py", ("gcp", FIXTURES / "nmx-compute-nodes.json")),
                                ("ib_ports.py", ("iblinkinfo", LABELS)),
                                ("ib_ports.py", ("ufm", LABELS, LABELS)),
                                ("lldp_reports.py", (*out, "sonic", f"a={FIXTURES / 'ufm-links.json'}")),
                                ("lldp_reports.py", (*out, "sonic", FIXTURES / "none.json")),
                                ("nvlink_labels.py", ("nmx", "--nodes", LABELS, LABELS))):
            with self.subTest(name):
                done = subprocess.run(program(name, *arguments), check=False, capture_output=True)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertTrue(done.stderr.startswith(name.encode()), done.stderr)


if __name__ == "__main__":
    unittest.main()
