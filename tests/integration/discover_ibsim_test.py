#!/usr/bin/env python3
"""strata discover with the real ibnetdiscover on fabrics that ibsim simulates, faults included."""
import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from strata_run import FIXTURES, PODS, Run, assert_golden, wait_until

IBSIM = FIXTURES / "ibsim"
PRELOAD = next(iter(glob.glob("/usr/lib/*/umad2sim/libumad2sim.so")), None)


class Simulator:
    """An ibsim of its own (by socket name), with its console for faults."""

    def __init__(self, folder, netlist, host, *arguments):
        self.socket = f"strata-{os.getpid()}-{time.monotonic_ns()}"
        self.folder = folder
        self.host = host
        self.log = open(pathlib.Path(folder) / "ibsim.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["ibsim", "-s", *arguments, str(netlist)], cwd=folder, stdin=subprocess.PIPE, stdout=self.log,
            stderr=subprocess.STDOUT, env={**os.environ, "IBSIM_SOCKNAME": self.socket})
        wait_until(lambda: f"@{self.socket}:ctl" in pathlib.Path("/proc/net/unix").read_text(), 60, "ibsim start")

    def prompts(self):
        return pathlib.Path(self.log.name).read_text(encoding="utf-8").count("sim> ")

    def say(self, command):
        before = self.prompts()
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        wait_until(lambda: self.prompts() > before, 60, f"ibsim's answer to {command}")

    def command(self):
        return ["env", "-C", str(self.folder), f"SIM_HOST={self.host}", f"LD_PRELOAD={PRELOAD}",
                f"IBSIM_SOCKNAME={self.socket}", "ibnetdiscover"]

    def discover(self, *arguments, timeout="30s"):
        entry = {"source": "infiniband", "enabled": True, "timeout": timeout, "config": {"command": self.command()}}
        return Run(self.folder, [entry], arguments)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.log.close()


class DiscoverIbsim(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def start(self, netlist, host, *arguments):
        simulator = Simulator(self.folder, netlist, host, *arguments)
        self.addCleanup(simulator.stop)
        return simulator

    def test_the_sample_fabric_is_two_pods_under_a_spine(self):
        simulator = self.start(IBSIM / "net.rail", "node-02 mlx5_0")
        run = simulator.discover("-o", "json")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(run.tiers()[1], PODS)
        self.assertEqual(run.tiers()[2], [["hn-infiniband-t1-leaf-01", "hn-infiniband-t1-leaf-03"]])

        assert_golden(self, "ibsim-rail.json", run.out)

    def test_aggregation_nodes_are_no_hosts(self):
        simulator = self.start(IBSIM / "net.sharp", "node-02 mlx5_0")
        assert_golden(self, "ibsim-rail.json", simulator.discover("-o", "json").out)

    def test_one_rail_makes_each_leaf_a_group(self):
        simulator = self.start(IBSIM / "net.2s4l8h", "node-02")
        run = simulator.discover("-o", "json")
        self.assertEqual((run.code, run.err), (0, ""))
        assert_golden(self, "ibsim-one-rail.json", run.out)

    def test_faults_that_redundancy_covers_change_nothing(self):
        simulator = self.start(IBSIM / "net.rail", "node-02 mlx5_0")
        previous = self.folder / "previous.yaml"
        previous.write_text(simulator.discover().out)
        spine, leaf, port = '"S-b83fd20300c06500"', '"S-b83fd20300c00300"', '"H-946dae0300a05000"[1]'

        def changes():
            run = simulator.discover("--previous", str(previous), "--diff")
            self.assertEqual(run.code, 0, run.err)
            return run.out

        for what, fault, repair in (("a spine", f"Unlink {spine}", f"ReLink {spine}"),
                                    ("a leaf", f"Unlink {leaf}", f"ReLink {leaf}"),
                                    ("a port", f"Unlink {port}", None)):
            with self.subTest(what):
                simulator.say(fault)
                self.assertEqual(changes(), "no changes\n")
            if repair:
                simulator.say(repair)
        with self.subTest("a host re-cabled"):
            simulator.say(f'Link {port} "S-b83fd20300c00100"[5]')
            run = simulator.discover("--previous", str(previous), "--diff")
            self.assertEqual(run.out, "no changes\n")
            self.assertIn("node-05 is also cabled to leaf-01", run.err)

    def test_a_switch_that_drops_what_it_is_asked_is_not_believed(self):
        simulator = self.start(IBSIM / "net.rail", "node-02 mlx5_0")
        previous = self.folder / "previous.yaml"
        previous.write_text(simulator.discover().out)
        simulator.say('Error "S-b83fd20300c00300" 100')
        run = simulator.discover("--previous", str(previous))
        self.assertEqual(run.code, 1)
        self.assertIn("infiniband: ", run.err)
        self.assertEqual(run.out, previous.read_text())

    def test_a_fabric_that_nobody_answers_for_is_given_up(self):
        simulator = self.start(IBSIM / "net.rail", "node-02 mlx5_0")
        previous = self.folder / "previous.yaml"
        previous.write_text(simulator.discover().out)
        simulator.process.kill()
        simulator.process.wait()
        run = simulator.discover("--previous", str(previous), timeout="1s")  # ibnetdiscover hangs now
        self.assertEqual((run.code, run.err), (1, "infiniband: env: no complete answer within 1 s\n"))
        self.assertEqual(run.out, previous.read_text())

    def test_512_hosts_with_8_rails_take_less_than_3_seconds(self):
        netlist = self.folder / "net.ft16"
        with open(netlist, "wb") as out:
            subprocess.run([sys.executable, IBSIM / "gen_ft.py", "16"], stdout=out, check=True)
        simulator = self.start(netlist, "node-0000 mlx5_0", "-N", "8192", "-S", "1024", "-P", "60000")
        run = simulator.discover("-o", "json")
        self.assertEqual((run.code, run.err), (0, ""))
        pods = run.tiers()[1]
        self.assertEqual(pods, [[f"node-{32 * pod + host:04d}" for host in range(32)] for pod in range(16)])
        self.assertEqual([len(top) for top in run.tiers()[2]], [16])
        seconds = [run.seconds]
        while min(seconds) >= 3 and len(seconds) < 5:  # others work on this machine, too
            seconds.append(simulator.discover("-o", "json").seconds)
        print(f"512 hosts, 4096 adapters: {min(seconds):.2f} s", file=sys.stderr)
        self.assertLess(min(seconds), 3)


if __name__ == "__main__":
    if PRELOAD is None:
        sys.exit("ibsim is missing: apt-get install ibsim-utils infiniband-diags")
    unittest.main()
