#!/usr/bin/env python3
"""Fails on what neither the compiler nor clang-tidy sees in our C++ files.

* a source, or a header of a module, that no CMakeLists.txt of its folder (or one above) names: it would
  never be built, run or checked;
* a source that does not include its own header first: nothing else shows that the header compiles alone;
* a `using a::b;` of a source that nothing in it needs: clang-tidy looks at several sources at a time;
* a file longer than 800 lines, or a header without #pragma once;
* `.dump(` outside src/json and tests: DumpJson (json/dump.h) is the one way to write JSON, and never throws;
* notes to self in place of work (markers such as "FIXME").

Usage: tools/check_tree.py [root]. Prints file:line: reason; exit status 1 on any.
"""
import pathlib
import re
import sys

FOLDERS = ("src", "tests", "bench")
MAX_LINES = 800
USING = re.compile(r"^using [\w:]*::(\w+);")
DUMP = re.compile(r"\.dump\(")
NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def is_listed(path, root):
    """Whether a CMakeLists.txt between `path` and `root` names it, relative to its own folder."""
    for folder in path.parents:
        if folder == root:
            return False
        lists = folder / "CMakeLists.txt"
        if lists.exists():
            name = re.escape(path.relative_to(folder).as_posix())
            if re.search(rf"(?<![\w/.-]){name}(?![\w/.-])", lists.read_text()):
                return True
    return False


def must_be_listed(path, root):
    helps_tests = path.stem.startswith("test_") or path.relative_to(root).parts[0] != "src"
    return path.suffix == ".cc" or not helps_tests


def hides_own_header(path, root, lines):
    """Whether x.cc beside x.h includes something else before it."""
    if path.suffix != ".cc" or not path.with_suffix(".h").exists():
        return False
    own = f'#include "{path.with_suffix(".h").relative_to(root).as_posix().removeprefix("src/")}"'
    return next((line for line in lines if line.startswith("#include")), own) != own


def idle_usings(path, lines):
    """The lines of a source whose `using a::b;` is followed by no plain b."""
    if path.suffix == ".cc":
        code = [line.split("//")[0] for line in lines]
        for number, line in enumerate(code, 1):
            name = USING.match(line)
            if name and not re.search(rf"(?<!::)\b{name[1]}\b", "\n".join(code[number:])):
                yield number


def must_use_dump_json(path, root):
    """Whether the rule about `.dump(` holds for this file: sources of src/, but not the module json and not tests."""
    parts = path.relative_to(root).parts
    is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
    return parts[0] == "src" and parts[1] != "json" and not is_test


def check(path, root):
    lines = path.read_text().splitlines()
    if hides_own_header(path, root, lines):
        yield 1, "the first include is not this file's own header"
    if len(lines) > MAX_LINES:
        yield MAX_LINES + 1, f"{len(lines)} lines, more than {MAX_LINES}: split it"
    if path.suffix == ".h" and "#pragma once" not in lines:
        yield 1, "no #pragma once"
    for number in idle_usings(path, lines):
        yield number, "a using declaration that nothing uses"
    for number, line in enumerate(lines, 1):
        if DUMP.search(line) and must_use_dump_json(path, root):
            yield number, "write JSON by DumpJson (json/dump.h): .dump() throws on bytes that are not UTF-8"
        if NOTE.search(line):
            yield number, "a note to self: do it, or open an issue"
    if must_be_listed(path, root) and not is_listed(path, root):
        yield 1, "not named in a CMakeLists.txt"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    bad = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cc"}:
                for number, why in check(path, root):
                    print(f"{path.relative_to(root)}:{number}: {why}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
