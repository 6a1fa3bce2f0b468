#!/usr/bin/env python3
"""Compiles every source, and every header that has no source of its name, by itself: missing includes show.

A build compiles several sources of a folder as one, and clang-tidy looks at them so, too: there a source can use what another one
included. Here each is a file of its own for clang, which checks only: it makes no code, and with -Wthread-safety it checks the
locks (base/mutex.h).

Usage: tools/compile_alone.py [--changed] [--headers] [path-prefix...]. Needs build/compile_commands.json. --changed leaves out
what a change cannot have affected (tools/changes.py); --headers leaves out the sources. Exit status 1 when something does not compile.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import changes
import run_tidy

ROOT = changes.ROOT
COMPILER = "clang++-14"
# build/ is configured for g++: clang must forgive what it does not know, and look at the locks.
OPTIONS = ["-Wno-unknown-warning-option", "-Wthread-safety", "-Werror"]


def commands():
    """{source or header: (directory, flags)} for everything that is compiled, headers by the first target of their folder."""
    found, folders = {}, {}
    for entry in json.loads((run_tidy.BUILD / "compile_commands.json").read_text()):
        command = entry["directory"], run_tidy.flags(entry)
        for name in run_tidy.sources(pathlib.Path(entry["file"])):
            if name.startswith(run_tidy.FOLDERS):
                found.setdefault(name, command)
                folders.setdefault(pathlib.PurePosixPath(name).parent, command)
    for path in sorted(path for folder in run_tidy.FOLDERS for path in (ROOT / folder).rglob("*.h")):
        name = path.relative_to(ROOT)
        if not path.with_suffix(".cc").exists():
            near = next((folders[folder] for folder in name.parents if folder in folders), None)
            found[name.as_posix()] = near or folders[pathlib.PurePosixPath("tests/scenario")]
    return found


def compile_alone(name, directory, flags):
    """What the compiler says against the file; empty when it compiles."""
    file, text = (ROOT / name, None) if name.endswith(".cc") else ("-", f'#include "{ROOT / name}"\n')
    done = subprocess.run([COMPILER, *flags, *OPTIONS, f"-I{ROOT}", "-fsyntax-only", "-x", "c++", file], cwd=directory, input=text,
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"{name}: {COMPILER} failed ({done.returncode})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changed", action="store_true", help="only what a change can have affected")
    parser.add_argument("--headers", action="store_true", help="only headers")
    parser.add_argument("prefixes", nargs="*", help="only files whose path begins so, such as src/model")
    options = parser.parse_args()

    known = commands()
    names = sorted(name for name in known if not options.prefixes or name.startswith(tuple(options.prefixes)))
    if options.headers:
        names = [name for name in names if name.endswith(".h")]
    if options.changed:
        names, why = changes.affected(names)
        print(f"   {len(names)} files: {why}", flush=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for text in pool.map(lambda name: compile_alone(name, *known[name]), names):
            if text:
                bad += 1
                print(text, flush=True)
    print(f"   {len(names)} files compiled alone, {bad} with errors")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
