#!/usr/bin/env python3
"""strata discover with an ibnetdiscover that hangs, floods or dies: put first on PATH, beside a good source."""
import os
import pathlib
import resource
import tempfile
import unittest

from strata_run import FIXTURES, PODS, Run, wait_until

SAMPLE = FIXTURES / "samples" / "ibnetdiscover-sample.txt"
TIMEOUT = 1  # seconds, for those that would never end; the others get plenty

# Each program notes the processes that nobody may find afterwards: `note PID`.
PRELUDE = f"""#!/bin/sh
note() {{ echo "$1" >> pids; }}
whole() {{ cat {SAMPLE}; }}
half() {{ head -c 3000 {SAMPLE}; }}
note $$
"""
TOO_LONG = f"ibnetdiscover: no complete answer within {TIMEOUT} s"
TOO_MUCH = "ibnetdiscover: more than 100 MiB, given up"


def has_ended(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(") ")[2].startswith("Z")  # dead, and its new parent has not looked yet


class DiscoverProgram(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def discover(self, script, *arguments, timeout=30):
        """The infiniband source with `script` as ibnetdiscover, beside topograph's graph from a file."""
        program = self.folder / "ibnetdiscover"
        program.write_text(PRELUDE + script + "\n", encoding="utf-8")
        program.chmod(0o755)
        entries = [
            {"source": "infiniband", "enabled": True, "timeout": f"{timeout}s"},
            {"source": "topograph", "enabled": True, "config": {"file": str(FIXTURES / "topograph-graph.json")}},
        ]
        path = f"{self.folder}:{os.environ['PATH']}"
        run = Run(self.folder, entries, ["-o", "json", *arguments], env={**os.environ, "PATH": path})
        pids = (self.folder / "pids").read_text(encoding="utf-8").split()
        wait_until(lambda: all(has_ended(pid) for pid in pids), 10, "the end of every process")
        return run

    def test_a_program_that_does_its_work_is_believed(self):
        run = self.discover("whole")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(run.tiers()[1], sorted(PODS + PODS))

    def test_what_a_program_leaves_behind_is_ended(self):
        run = self.discover("whole; sleep 600 >/dev/null 2>&1 & note $!")
        self.assertEqual((run.code, run.err), (0, ""))

    def test_a_program_that_fails_is_one_line_and_harms_nobody(self):
        previous = self.folder / "previous.json"
        previous.write_text(self.discover("whole").out, encoding="utf-8")
        for what, script, line in (
                ("never says a word", "sleep 600 & note $!; wait", TOO_LONG),
                ("stops half way", "half; sleep 600 & note $!; wait", TOO_LONG),
                ("says all and stays", "whole; sleep 600", TOO_LONG),
                ("closes its streams and stays", "whole; exec >&- 2>&-; sleep 600", TOO_LONG),
                ("does not want to be ended", "trap '' HUP INT TERM; while :; do sleep 1; done", TOO_LONG),
                ("complains without end", "yes error >&2", TOO_LONG),
                ("floods", "yes", TOO_MUCH),
                ("floods with blocks", "yes 'Switch 1 \"S-1\"'", TOO_MUCH),
                ("writes a line without end", "tr '\\0' x </dev/zero", TOO_MUCH),
                ("crashes half way", "half; kill -SEGV $$", "ibnetdiscover: ended by signal 11 (Segmentation fault)"),
                ("is killed", "half; kill -KILL $$", "ibnetdiscover: ended by signal 9 (Killed)"),
                ("fails half way", "half; echo; echo no umad >&2; exit 3", "ibnetdiscover: exit status 3: no umad"),
                ("ends half way, well", "half", "the answer is partial"),
                ("says nothing, well", ":", "no Switch and no Ca in it"),
                ("is not text", "head -c 100000 /bin/sh", "ibnetdiscover: line 1: ")):
            with self.subTest(what):
                timeout = TIMEOUT if line == TOO_LONG else 30
                run = self.discover(script, "--previous", str(previous), timeout=timeout)
                self.assertEqual(run.code, 1)
                self.assertEqual(run.err.count("\n"), 1, run.err)
                self.assertTrue(run.err.startswith("infiniband: "), run.err)
                self.assertIn(line, run.err)
                self.assertEqual(run.out, previous.read_text(encoding="utf-8"))
                self.assertLess(run.seconds, TIMEOUT + 10)
        alone = self.discover("exit 1")
        self.assertEqual((alone.code, alone.tiers()[1]), (1, PODS), "topograph's tree stands alone")
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kib, 400 * 1024)


if __name__ == "__main__":
    unittest.main()
