#!/usr/bin/env python3
"""tools/check_layers.py over small trees: what it refuses, and what it lets pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
LAYERS = """\
0 base
1 low side
2 server
allow side low
inside server store request verbs
"""


class CheckLayersTest(unittest.TestCase):
    def check(self, files):
        """The tool's exit status and lines for a tree of {path below src: text}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"cmake/layers.txt": LAYERS, **{f"src/{n}": t for n, t in files.items()}}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout.splitlines()

    def refused(self, name, text):
        status, lines = self.check({name: text})
        self.assertEqual((status, len(lines)), (1, 1), lines)
        return lines[0]

    def accepted(self, name, text):
        self.assertEqual(self.check({name: text}), (0, []))

    def test_module_may_include_lower_layers_and_allowed_neighbours(self):
        self.accepted("server/verbs/get.cc", '#include "low/a.h"\n#include "base/b.h"\n')
        self.accepted("side/a.cc", '#include "low/a.h"\n')

    def test_module_may_not_include_its_own_layer_or_a_higher_one(self):
        self.assertEqual(self.refused("low/a.cc", '\n#include "server/api.h"\n'),
                         "src/low/a.cc:2: low (layer 1) may not include server (layer 2)")
        self.assertIn("low (layer 1) may not include side (layer 1)", self.refused("low/a.cc", '#include "side/a.h"\n'))

    def test_unknown_module_is_refused(self):
        self.assertIn("module util/ is not in cmake/layers.txt", self.refused("low/a.cc", '#include "util/a.h"\n'))
        self.assertIn("folder 'util' is not in cmake/layers.txt", self.refused("util/a.cc", ""))

    def test_folder_may_include_itself_and_lower_folders(self):
        self.accepted("server/request/call.cc", '#include "server/request/call.h"\n#include "server/store/store.h"\n')
        self.accepted("server/server.cc", '#include "server/verbs/get.h"\n#include "server/server.h"\n')

    def test_folder_may_not_include_higher_folders(self):
        self.assertEqual(self.refused("server/store/store.cc", '#include "server/request/call.h"\n'),
                         "src/server/store/store.cc:1: server/store may not include server/request, "
                         "which is above it ('inside server' in cmake/layers.txt)")

    def test_folder_may_not_include_files_beside_the_folders(self):
        self.assertIn("server/verbs may not include server,", self.refused("server/verbs/get.cc", '#include "server/server.h"\n'))

    def test_folder_that_is_not_declared_is_refused(self):
        self.assertIn("folder server/misc is not in the line 'inside server'", self.refused("server/misc/a.cc", ""))

    def test_tests_may_include_any_folder_of_their_module(self):
        self.accepted("server/store/store_test.cc", '#include "server/test_server.h"\n#include "server/verbs/get.h"\n')

    def test_reviewed_exception_is_accepted(self):
        self.accepted("server/store/store.cc", '#include "server/verbs/get.h"  // LAYER-OK(shown in a test)\n')

    def test_pure_layer_may_not_read_clocks(self):
        self.assertIn("ambient time or environment in a pure layer",
                      self.refused("base/a.cc", "auto now = std::chrono::system_clock::now();\n"))


if __name__ == "__main__":
    unittest.main()
