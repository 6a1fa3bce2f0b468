#!/usr/bin/env python3
"""Fails when an #include points up a layer, or when a pure layer touches the outside world.

Usage: tools/check_layers.py [root]. Layers, and the folders inside a module, come from
cmake/layers.txt. Prints file:line: reason; exit status 1 on any. Only tests may include tests/. A reviewed exception is a line that ends in
`// LAYER-OK(why)`.
"""
import pathlib
import re
import sys

PURE = {"base", "model", "sched"}
IMPURE = [
    (re.compile(r"#include <(thread|mutex|shared_mutex|condition_variable|atomic|future|stop_token|semaphore)>"),
     "thread header"),
    (re.compile(r'#include "base/mutex\.h"'), "locks"),
    (re.compile(r"#include <(iostream|fstream|filesystem|sys/|unistd\.h|fcntl\.h|spdlog/|sqlite3|grpc)"),
     "I/O or log header"),
    (re.compile(r"\b(v?f?printf|f?puts|fputc|putchar|fopen|fread|fwrite|perror)\("), "output or file access"),
    (re.compile(r"#include <(nlohmann/|simdjson|yaml-cpp/|yaml\.h|CLI/)"), "JSON, YAML or command line header"),
    (re.compile(r"#include <re2/"), "RE2 (only model/name_pattern.cc may use it)"),
    (re.compile(r"#include <random>|\bstd::rand\b"), "random numbers"),
    (re.compile(r"_clock::now\b|\btime\((nullptr|NULL|0)\)|\bgetenv\("), "ambient time or environment"),
    (re.compile(r"\bstd::unordered_(multi)?(map|set)\b"), "unordered container (its order is not stable)"),
    (re.compile(r"\bfloat\b|\bstd::pow\b"), "float or pow (formulas are double, multiplied in a fixed order)"),
    (re.compile(r"\bthrow\b|\bcatch\b"), "exception"),
]
# The files of pure layers that wrap an outside thing, and how the lines that do begin.
WRAPPERS = {
    "base/check.h": ("std::fprintf(stderr",),  # CHECK prints before it aborts
    "base/mutex.h": ("#include <",),  # for modules with threads
    "model/name_pattern.cc": ("#include <re2/",),
}
ALLOW = re.compile(r"//\s*LAYER-OK\([^)]+\)")
INCLUDE = re.compile(r'#include "(([a-z_0-9]+)/[^"]+)"')
STRING = re.compile(r'"(\\.|[^"\\])*"')


class Layers:
    """What cmake/layers.txt says."""

    def __init__(self, path):
        self.layer = {}  # module: number
        self.same_layer = set()  # (user, used) within a layer
        self.folders = {}  # module: its folders, lowest first
        for line in path.read_text().splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "allow":
                self.same_layer.add((words[1], words[2]))
            elif words[0] == "inside":
                self.folders[words[1]] = words[2:]
            else:
                self.layer.update({module: int(words[0]) for module in words[1:]})

    def upward(self, module, target):
        """Why `module` may not use the module `target`, or None."""
        if target == module or (module, target) in self.same_layer:
            return None
        if target not in self.layer:
            return f"module {target}/ is not in cmake/layers.txt"
        if self.layer[target] >= self.layer[module]:
            return f"{module} (layer {self.layer[module]}) may not include {target} (layer {self.layer[target]})"
        return None

    def folder_problem(self, name):
        """Why the file `name` may not lie where it does, or None."""
        parts = name.split("/")
        known = self.folders.get(parts[0])
        if known is None or len(parts) == 2 or parts[1] in known:
            return None
        return f"folder {parts[0]}/{parts[1]} is not in the line 'inside {parts[0]}' of cmake/layers.txt"

    def upward_inside(self, name, included):
        """Why the file `name` may not include `included`, a file of the same module, or None."""
        module = name.split("/")[0]
        known = self.folders.get(module)
        if known is None or included.split("/")[0] != module:
            return None

        def place(file):
            parts = file.split("/")
            return known.index(parts[1]) if len(parts) > 2 and parts[1] in known else len(known)

        if place(included) <= place(name):
            return None
        below, above = (file.rsplit("/", 1)[0] for file in (name, included))
        return f"{below} may not include {above}, which is above it ('inside {module}' in cmake/layers.txt)"


def impurities(code, wrapped):
    if code.startswith(wrapped):
        return
    if not code.startswith("#include"):
        code = STRING.sub('""', code)
    for pattern, why in IMPURE:
        if pattern.search(code):
            yield why


def check(path, src, layers):
    """Yields (line number, reason) for every violation in one file of src/."""
    name = path.relative_to(src).as_posix()
    module = name.split("/")[0]
    if module not in layers.layer:
        yield 1, f"folder '{module}' is not in cmake/layers.txt"
        return
    if why := layers.folder_problem(name):
        yield 1, why
    is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if ALLOW.search(line):
            continue
        code = line.split("//")[0].strip()
        include = INCLUDE.match(code)
        if include and not (is_test and include.group(2) == "tests"):
            why = layers.upward(module, include.group(2))
            if why is None and not is_test:
                why = layers.upward_inside(name, include.group(1))
            if why:
                yield number, why
        if module in PURE and not is_test:
            for why in impurities(code, WRAPPERS.get(name, ())):
                yield number, f"{why} in a pure layer"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    layers = Layers(root / "cmake" / "layers.txt")
    bad = 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in {".h", ".cc"}:
            for number, why in check(path, root / "src", layers):
                print(f"{path.relative_to(root)}:{number}: {why}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
