#!/usr/bin/env python3
"""strata discover with real lldpd daemons, one per network namespace: 2 spines, 4 leaves, 8 hosts.

Needs root and network namespaces. Where the machine refuses them, only the saved outputs are tested, and
the test says so; in CI (CI=true) that is a failure.

lldpd comes from build/unpacked (tools/install-packages.sh test), where it is not a service of this machine, else from PATH. It
wants a user _lldpd to run as: the namespaces have an /etc/passwd with one, the machine's own is left alone.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from strata_run import FIXTURES, PODS, Run, wait_until

PREFIX = f"st{os.getpid()}-"
SWITCHES = [f"spine0{i}" for i in (1, 2)] + [f"leaf0{i}" for i in (1, 2, 3, 4)]
HOSTS = [f"node-0{i}" for i in range(1, 9)]
UNPACKED = pathlib.Path(__file__).resolve().parents[2] / "build" / "unpacked" / "lldpd" / "usr"
PROGRAMS = [UNPACKED / "sbin"] if UNPACKED.is_dir() else ["/usr/sbin"]
LIBRARIES = [str(folder) for folder in (UNPACKED / "lib").glob("*-linux-*")]
ENVIRONMENT = {**os.environ, "PATH": os.pathsep.join([*map(str, PROGRAMS), os.environ["PATH"]]), "LD_LIBRARY_PATH": os.pathsep.join(LIBRARIES)}
SYSTEM_FILES = {"passwd": "_lldpd:x:65533:65533::/run/lldpd:/usr/sbin/nologin", "group": "_lldpd:x:65533:"}


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def refusal():
    """Why namespaces cannot be used here; empty when they can."""
    name = PREFIX + "probe"
    try:
        ip("netns", "add", name)
        ip("link", "add", "probe0", "netns", name, "type", "veth", "peer", "name", "probe1", "netns", name)
        ip("netns", "del", name)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", b"") or b""
        return f"{error} {detail.decode().strip()}"
    return ""


class Fabric:
    """Hosts have a port in each leaf of their pod, leaves one in each spine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        self.folder.chmod(0o755)  # the daemons give up root
        os.makedirs("/run/lldpd", exist_ok=True)

    def begin(self):
        for name in SWITCHES + HOSTS:
            ip("netns", "add", PREFIX + name)
            self.add_user(name)
        for leaf in range(1, 5):
            for spine in (1, 2):
                self.cable(f"leaf0{leaf}", f"swp3{spine}", f"spine0{spine}", f"swp{leaf}")
        for host in range(8):
            for rail in (1, 2):
                self.cable(HOSTS[host], f"eth{1 + rail}", f"leaf0{host // 4 * 2 + rail}", f"swp{host % 4 + 1}")
        for name in SWITCHES + HOSTS:
            self.start(name)

    @staticmethod
    def add_user(name):
        """`ip netns exec` lays the files of /etc/netns/<name> over /etc."""
        folder = pathlib.Path("/etc/netns") / (PREFIX + name)
        folder.mkdir(parents=True)
        for file, line in SYSTEM_FILES.items():
            text = pathlib.Path("/etc", file).read_text()
            if not any(old.startswith("_lldpd:") for old in text.splitlines()):  # else lldpd is installed, with its user
                (folder / file).write_text(text.rstrip("\n") + "\n" + line + "\n")

    @staticmethod
    def cable(a, port_a, b, port_b):
        ip("link", "add", port_a, "netns", PREFIX + a, "type", "veth", "peer", "name", port_b, "netns", PREFIX + b)
        ip("-n", PREFIX + a, "link", "set", port_a, "up")
        ip("-n", PREFIX + b, "link", "set", port_b, "up")

    def start(self, name):
        lines = [f"configure system hostname {name}", "configure lldp tx-interval 1", "configure lldp tx-hold 30",
                 "configure lldp portidsubtype ifname"]
        if name in SWITCHES:
            lines.append("configure system capabilities enabled bridge,router")
        conf = self.folder / f"{name}.conf"
        conf.write_text("\n".join(lines) + "\n")
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons.append(subprocess.Popen(
                ["ip", "netns", "exec", PREFIX + name, "lldpd", "-d", "-u", self.folder / f"{name}.sock", "-O", conf,
                 "-L", shutil.which("lldpcli", path=ENVIRONMENT["PATH"])],
                env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def dump(self, name):
        done = subprocess.run(["lldpctl", "-u", self.folder / f"{name}.sock", "-f", "json0"], env=ENVIRONMENT,
                              capture_output=True, check=False)
        return done.stdout.decode() if done.returncode == 0 else ""

    def neighbours(self, name):
        text = self.dump(name)
        return sum(len(part.get("interface", [])) for part in json.loads(text)["lldp"]) if text else 0

    def save(self, names, folder):
        os.makedirs(folder, exist_ok=True)
        for name in names:
            (pathlib.Path(folder) / f"{name}.json0").write_text(self.dump(name))

    def stop(self):
        for daemon in self.daemons:
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait()
        for name in SWITCHES + HOSTS:
            subprocess.run(["ip", "netns", "del", PREFIX + name], capture_output=True, check=False)
            shutil.rmtree(pathlib.Path("/etc/netns") / (PREFIX + name), ignore_errors=True)


class DiscoverLldp(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def discover(self, lldp, *arguments, **config):
        entry = {"source": "roce", "enabled": True, "config": {"lldpDir": str(lldp), **config}}
        return Run(self.folder, [entry], arguments)

    def test_saved_outputs(self):
        self.assertEqual(self.discover(FIXTURES / "lldp", "-o", "json").tiers()[1], PODS)

    def test_daemons_in_namespaces(self):
        why = refusal()
        if why:
            print(f"\n*** NO NETWORK NAMESPACES HERE, lldpd WAS NOT TESTED: {why}\n", file=sys.stderr)
            self.assertNotEqual(os.environ.get("CI"), "true", "namespaces are required in CI")
            self.skipTest(why)
        fabric = Fabric(self.folder)
        self.addCleanup(fabric.stop)
        fabric.begin()
        wanted = {**{host: 2 for host in HOSTS}, **{s: 6 if s.startswith("leaf") else 4 for s in SWITCHES}}
        wait_until(lambda: all(fabric.neighbours(name) == count for name, count in wanted.items()), 120,
                   "every neighbour known")
        previous = self.folder / "previous.yaml"
        for what, names in (("all", SWITCHES + HOSTS), ("leaves", [s for s in SWITCHES if s.startswith("leaf")])):
            fabric.save(names, self.folder / what)
            run = self.discover(self.folder / what, "-o", "json")
            self.assertEqual((run.code, run.err), (0, ""), what)
            self.assertEqual(run.tiers()[1], PODS, what)
            self.assertEqual(len(run.tiers()[2]), 1, what)
            previous.write_text(run.out)
        fabric.save(HOSTS, self.folder / "hosts")
        self.assertEqual(self.discover(self.folder / "hosts", "-o", "json").tiers(), {1: PODS})
        ip("-n", PREFIX + "node-05", "link", "set", "eth2", "down")
        wait_until(lambda: fabric.neighbours("node-05") == 1 and fabric.neighbours("leaf03") == 5, 120,
                   "the link that is down forgotten")
        fabric.save(SWITCHES + HOSTS, self.folder / "down")
        run = self.discover(self.folder / "down", "--previous", str(previous), "--diff")
        self.assertEqual((run.code, run.out), (0, "no changes\n"), run.err)


if __name__ == "__main__":
    unittest.main()
