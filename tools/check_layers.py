#!/usr/bin/env python3
"""Fails when an #include points up a layer, or when a pure layer touches the outside world.

Usage: tools/check_layers.py [root]. Layers come from cmake/layers.txt. Prints file:line: reason;
exit status 1 on any. Only tests may include tests/. A reviewed exception is a line that ends in
`// LAYER-OK(why)`.
"""
import pathlib
import re
import sys

PURE = {"base", "model", "sched"}
IMPURE = [
    (re.compile(r"#include <(thread|mutex|shared_mutex|condition_variable|atomic|future|stop_token|semaphore)>"),
     "thread header"),
    (re.compile(r"#include <(iostream|fstream|filesystem|sys/|unistd\.h|fcntl\.h|spdlog/|sqlite3|grpc)"),
     "I/O or log header"),
    (re.compile(r"\b(v?f?printf|f?puts|fputc|putchar|fopen|fread|fwrite|perror)\("), "output or file access"),
    (re.compile(r"#include <(nlohmann/|simdjson|yaml-cpp/|CLI/)"), "JSON, YAML or command line header"),
    (re.compile(r"#include <re2/"), "RE2 (only model/name_pattern.cc may use it)"),
    (re.compile(r"#include <random>|\bstd::rand\b"), "random numbers"),
    (re.compile(r"_clock::now\b|\btime\((nullptr|NULL|0)\)|\bgetenv\("), "ambient time or environment"),
    (re.compile(r"\bstd::unordered_(multi)?(map|set)\b"), "unordered container (its order is not stable)"),
    (re.compile(r"\bfloat\b|\bstd::pow\b"), "float or pow (formulas are double, multiplied in a fixed order)"),
    (re.compile(r"\bthrow\b|\bcatch\b"), "exception"),
]
# The one file that wraps an outside thing for the pure layers, and how the line that does begins.
WRAPPERS = {
    "base/check.h": "std::fprintf(stderr",  # CHECK prints before it aborts
    "base/mutex.h": "#include <mutex>",
    "model/name_pattern.cc": "#include <re2/",
}
ALLOW = re.compile(r"//\s*LAYER-OK\([^)]+\)")
INCLUDE = re.compile(r'#include "([a-z_0-9]+)/')
STRING = re.compile(r'"(\\.|[^"\\])*"')


def read_layers(path):
    """Returns {module: layer} and the set of (user, used) pairs allowed within a layer."""
    layers, same_layer = {}, set()
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "allow":
            same_layer.add((words[1], words[2]))
        else:
            layers.update({module: int(words[0]) for module in words[1:]})
    return layers, same_layer


def upward(module, target, layers, same_layer):
    if target == module or (module, target) in same_layer:
        return None
    if target not in layers:
        return f"{target}/ is no module of cmake/layers.txt"
    if layers[target] >= layers[module]:
        return f"{module} (layer {layers[module]}) may not include {target} (layer {layers[target]})"
    return None


def impurities(code, wrapped):
    if wrapped and code.startswith(wrapped):
        return
    if not code.startswith("#include"):
        code = STRING.sub('""', code)
    for pattern, why in IMPURE:
        if pattern.search(code):
            yield why


def check(path, src, layers, same_layer):
    """Yields (line number, reason) for every violation in one file of src/."""
    name = path.relative_to(src).as_posix()
    module = name.split("/")[0]
    if module not in layers:
        yield 1, f"folder '{module}' is not in cmake/layers.txt"
        return
    is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if ALLOW.search(line):
            continue
        code = line.split("//")[0].strip()
        include = INCLUDE.match(code)
        if include and not (is_test and include.group(1) == "tests"):
            why = upward(module, include.group(1), layers, same_layer)
            if why:
                yield number, why
        if module in PURE and not is_test:
            for why in impurities(code, WRAPPERS.get(name)):
                yield number, f"{why} in a pure layer"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    layers, same_layer = read_layers(root / "cmake" / "layers.txt")
    bad = 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in {".h", ".cc"}:
            for number, why in check(path, root / "src", layers, same_layer):
                print(f"{path.relative_to(root)}:{number}: {why}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
