#!/usr/bin/env python3
"""The command of docs/gpu-topology.md that builds the probe with a compiler alone, without cmake."""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ProbeBuild(unittest.TestCase):
    def test_the_documented_command_builds_a_probe_that_runs(self):
        page = (ROOT / "docs" / "gpu-topology.md").read_text()
        command = re.search(r"^    (g\+\+ (?:.*\\\n)*.*)$", page, re.MULTILINE)[1].replace("-O2", "-O0")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "strata-agent"
            command = command.replace("-o strata-agent", f"-o {program}")
            built = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
            self.assertEqual(built.returncode, 0, built.stderr)
            helped = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
            self.assertIn("usage: strata-agent probe", helped.stdout)
            refused = subprocess.run([program, "probe", "--fast"], capture_output=True, text=True, check=False)
            self.assertEqual((refused.returncode, refused.stderr),
                             (2, 'strata-agent: unknown flag "--fast" (see strata-agent --help)\n'))


if __name__ == "__main__":
    unittest.main()
