#!/usr/bin/env python3
"""Runs clang-tidy over the files of build/compile_commands.json, on all cores.

A file that was clean is not looked at again until it, something it includes, its compile command,
a .clang-tidy file or clang-tidy itself changes (build/tidy-cache remembers). Tests and benchmarks are
held to tests/.clang-tidy wherever they stand; tests that are compiled together are looked at together.

Usage: tools/run_tidy.py [--fix] [--profile] [path-prefix...]. Exit status 1 when there are findings.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
CACHE = BUILD / "tidy-cache"
TIDY = "clang-tidy-14"
FOLDERS = ("src/", "tests/", "bench/")
TEST_FILES = r"/(src|tests|bench)/.*\.(h|cc)$"
FINDING = re.compile(r"^\S+?:\d+:\d+: (warning|error): ")


def sources(path):
    """The names of our files that a compile command is for: one, or those of a unity file."""
    if "/Unity/" in str(path):
        lines = path.read_text().splitlines()
        paths = [pathlib.Path(line.split('"')[1]) for line in lines if line.startswith("#include")]
    else:
        paths = [path]
    return [path.relative_to(ROOT).as_posix() for path in paths if path.is_relative_to(ROOT)]


def is_test(name):
    return name.startswith(("tests/", "bench/")) or name.endswith("_test.cc")


@functools.lru_cache(maxsize=None)
def stamp(path):
    """What tells one version of a file from another: its bytes if ours, else size and time."""
    try:
        if path.startswith(str(ROOT)):
            return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        info = os.stat(path)
        return f"{info.st_size}-{info.st_mtime_ns}"
    except FileNotFoundError:
        return "absent"


@functools.lru_cache(maxsize=None)
def setup_stamp():
    """What every file depends on: the tool, this script and the configuration."""
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    files = [ROOT / ".clang-tidy", ROOT / "tests/.clang-tidy", pathlib.Path(__file__).resolve()]
    return version + "".join(stamp(str(path)) for path in files)


def includes(entry):
    """Every file the compiler reads for this entry, by its own account."""
    command = shlex.split(entry["command"])
    command[command.index("-o"):command.index("-o") + 2] = ["-M", "-MF", "-"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    words = done.stdout.replace("\\\n", " ").split()[1:]
    return sorted({os.path.normpath(os.path.join(entry["directory"], word)) for word in words})


def digest(entry, files):
    text = "\n".join([setup_stamp(), entry["command"], *(f"{path} {stamp(path)}" for path in files)])
    return hashlib.sha256(text.encode()).hexdigest()


def was_clean(entry, note):
    try:
        known = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return known["digest"] == digest(entry, known["files"])


def tidy(entry, name, options):
    """Returns (findings as text, whether clean, seconds)."""
    started = time.monotonic()
    command = [TIDY, "--quiet", "-p", str(BUILD), entry["file"]]
    if is_test(name) and (ROOT / "tests/.clang-tidy").exists():
        command[1:1] = [f"--config-file={ROOT / 'tests/.clang-tidy'}", f"--header-filter={TEST_FILES}"]
    if options.profile:
        command.insert(1, "--enable-check-profile")
    if options.fix:
        command[1:1] = ["--fix", "--format-style=file"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    output = done.stdout
    if options.profile or (done.returncode != 0 and not FINDING.search(output)):
        output += done.stderr
    return output.strip(), done.returncode == 0, time.monotonic() - started


def work(entry, name, options):
    note = CACHE / (hashlib.sha256(name.encode()).hexdigest()[:24] + ".json")
    if not options.profile and was_clean(entry, note):
        return name, "", True, None
    output, clean, seconds = tidy(entry, name, options)
    if clean and not options.fix:
        files = includes(entry)
        if files:
            note.write_text(json.dumps({"name": name, "digest": digest(entry, files), "files": files}))
    return name, output, clean, seconds


def entries(prefixes):
    """One compile command per file of ours, or files compiled together, in the order of their names."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        names = [name for name in sources(pathlib.Path(entry["file"])) if name.startswith(FOLDERS)]
        if any(name.startswith(tuple(prefixes) or FOLDERS) for name in names):
            found.setdefault(names[0], entry)
    return sorted(found.items())


def without_repeats(output, seen):
    """Drops findings (with their notes) that another file already showed: those of shared headers."""
    kept, keep = [], True
    for line in output.splitlines():
        if FINDING.match(line):
            keep = line not in seen
            seen.add(line)
        if keep:
            kept.append(line)
    return "\n".join(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="repair what clang-tidy can, one file at a time")
    parser.add_argument("--profile", action="store_true", help="show what each check costs; ignores the cache")
    parser.add_argument("prefixes", nargs="*", help="only files whose path begins so, such as src/model")
    options = parser.parse_args()

    CACHE.mkdir(parents=True, exist_ok=True)
    setup_stamp()
    jobs = entries(options.prefixes)
    dirty, times, seen = 0, [], set()
    workers = 1 if options.fix else len(os.sched_getaffinity(0))  # two must not repair one header
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, entry, name, options) for name, entry in jobs]
        for future in concurrent.futures.as_completed(futures):
            name, output, clean, seconds = future.result()
            if seconds is not None:
                times.append((seconds, name))
            if not clean:
                dirty += 1
            shown = without_repeats(output, seen)
            if shown:
                print(shown, flush=True)
    slowest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(times, reverse=True)[:3])
    print(f"   {len(jobs)} files, {len(times)} looked at" + (f" (slowest: {slowest})" if slowest else "") +
          f", {dirty} with findings")
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
