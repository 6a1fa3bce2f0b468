"""What the integration tests share: running build/strata, and pictures of what it printed."""
import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import time

STRATA = os.environ["STRATA_BINARY"]
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "discovery"


class Run:
    """One finished `strata discover`."""

    def __init__(self, folder, entries, arguments=(), limit=60, env=None):
        conf = pathlib.Path(folder) / "discover.conf"
        conf.write_text(json.dumps({"networkTopologyDiscovery": entries}))
        started = time.monotonic()
        done = subprocess.run(
            [STRATA, "discover", "--config", str(conf), *arguments],
            cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False)
        self.seconds = time.monotonic() - started
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    def tiers(self):
        """{tier: [members of each HyperNode, sorted]}, of -o json."""
        tiers = {}
        for item in json.loads(self.out)["items"]:
            members = sorted(m["selector"]["exactMatch"]["name"] for m in item["spec"]["members"])
            tiers.setdefault(item["spec"]["tier"], []).append(members)
        return {tier: sorted(groups) for tier, groups in tiers.items()}


def assert_golden(test, name, text):
    """What was printed is golden/<name>, byte by byte; STRATA_UPDATE_GOLDENS=1 writes it instead."""
    path = HERE / "golden" / name
    if os.environ.get("STRATA_UPDATE_GOLDENS") == "1":
        path.write_text(text, encoding="utf-8")
    test.assertEqual(text, path.read_text(encoding="utf-8"), path)


def nodes(first, last):
    return [f"node-{i:02d}" for i in range(first, last + 1)]


# What every saved fabric of eight hosts is: two pods of four.
PODS = [nodes(1, 4), nodes(5, 8)]


def free_port():
    """One that stays free until it is used, and while its server is away: below those that the kernel hands out."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.SystemRandom().randrange(20_000, 32_000)))
            return probe.getsockname()[1]


def wait_until(condition, limit, what):
    """Polls until condition() is true; fails after `limit` seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {limit} s")
        time.sleep(0.1)
