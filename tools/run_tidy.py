#!/usr/bin/env python3
"""Runs clang-tidy over the files of build/compile_commands.json, on all cores.

Most of the time goes into headers, so the files of one library or program are looked at several at a
time, joined to one text in build/tidy-batches. All of that text is the main file, which matters to the
analyzer and to some checks. The analyzer looks at a function with unknown arguments only if it has seen
no call of it: therefore a source is never joined with one whose header it includes. Where the joined
text has a finding, each of its files is looked at alone, and what is found then is the answer.

What was clean is not looked at again until it, something it includes, its compile command, a
.clang-tidy file or clang-tidy itself changes (build/tidy-cache remembers). Tests and benchmarks are
held to tests/.clang-tidy wherever they stand.

Usage: tools/run_tidy.py [--changed] [--fix] [--profile] [path-prefix...]. --changed leaves out the files that a change cannot have
affected (tools/changes.py). Exit status 1 when there are findings.
"""
import argparse
import collections
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

import changes

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
CACHE = BUILD / "tidy-cache"
BATCHES = BUILD / "tidy-batches"
BATCH_SIZE = 10
TIDY = "clang-tidy-14"
FOLDERS = ("src/", "tests/", "bench/")
FINDING = re.compile(r"^\S+?:\d+:\d+: (warning|error): ", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)

# What one run of clang-tidy looks at: `file`, compiled with `flags` in `directory`. It is the one file
# named in `parts`, or the batch of all of them.
Job = collections.namedtuple("Job", "parts file directory flags")


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


def flags(entry):
    """The compile command without compiler, input and output, what only g++ understands, and how well to optimize."""
    words = shlex.split(entry["command"])[1:]
    for option in ("-o", "-c"):
        place = words.index(option)
        del words[place:place + 2]
    return [word for word in words if not word.startswith(("--param=", "-O", "-g"))]


def includes(job):
    """Every file the compiler reads for this job, by its own account."""
    done = subprocess.run(["g++", *job.flags, "-w", "-M", job.file], cwd=job.directory, capture_output=True,
                          text=True, check=False)
    words = done.stdout.replace("\\\n", " ").split()[1:]
    return sorted({os.path.normpath(os.path.join(job.directory, word)) for word in words})


def digest(job, files):
    text = "\n".join([setup_stamp(), *job.flags, *(f"{path} {stamp(path)}" for path in files)])
    return hashlib.sha256(text.encode()).hexdigest()


def was_clean(job, note):
    try:
        known = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return known["digest"] == digest(job, known["files"])


def tidy(job, options):
    """Returns (findings as text, whether clean, seconds)."""
    started = time.monotonic()
    command = [TIDY, "--quiet", job.file]
    if is_test(job.parts[0]):
        command.insert(1, f"--config-file={ROOT / 'tests/.clang-tidy'}")
    if options.profile:
        command.insert(1, "--enable-check-profile")
    if options.fix:
        command[1:1] = ["--fix", "--format-style=file"]
    done = subprocess.run([*command, "--", *job.flags], cwd=job.directory, capture_output=True, text=True,
                          check=False)
    output = done.stdout
    if options.profile or (done.returncode != 0 and not FINDING.search(output)):
        output += done.stderr
    clean = done.returncode == 0
    if not clean and len(job.parts) > 1:
        alone = [tidy(job_for([part], job.directory, job.flags), options) for part in job.parts]
        output = "\n".join(text for text, _, _ in alone)
        clean = all(good for _, good, _ in alone)
        if clean:
            output = f"   {' '.join(job.parts)}: clean, but not when joined (slow: a name that two of them use?)"
    return output.strip(), clean, time.monotonic() - started


def text_of(name):
    return (ROOT / name).read_text().rstrip("\n") + "\n"


def work(job, options):
    name = job.parts[0] + (f" and {len(job.parts) - 1} more" if len(job.parts) > 1 else "")
    note = CACHE / (hashlib.sha256(job.file.encode()).hexdigest()[:24] + ".json")
    if not options.profile and was_clean(job, note):
        return name, "", True, None
    output, clean, seconds = tidy(job, options)
    if clean and not options.fix:
        files = includes(job)
        if files:
            note.write_text(json.dumps({"name": name, "digest": digest(job, files), "files": files}))
    return name, output, clean, seconds


def batches(names, size):
    """Groups of at most `size` names, in which no source includes the header of another."""
    used = {name: {"src/" + header for header in INCLUDE.findall((ROOT / name).read_text())} for name in names}
    found = []
    for name in names:
        header = name.removesuffix(".cc") + ".h"
        for group in found:
            if len(group) < size and not any(
                    header in used[other] or other.removesuffix(".cc") + ".h" in used[name] for other in group):
                group.append(name)
                break
        else:
            found.append([name])
    return found


def job_for(group, directory, words):
    path = ROOT / group[0]
    if len(group) > 1:
        path = BATCHES / f"{hashlib.sha256(' '.join(group).encode()).hexdigest()[:24]}.cc"
        path.write_text("".join(text_of(part) for part in group))
    return Job(group, str(path), directory, words)


def jobs_for(prefixes, size, only_changed):
    """Every file of ours whose path begins with a prefix, once; the largest jobs first."""
    wanted = tuple(prefixes) or FOLDERS
    targets, seen = {}, set()
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        target = re.search(r" -o (\S+\.dir)/", entry["command"])[1]
        for name in sources(pathlib.Path(entry["file"])):
            if name.startswith(FOLDERS) and name.startswith(wanted) and name not in seen:
                seen.add(name)
                targets.setdefault((target, is_test(name)), (entry, []))[1].append(name)
    if only_changed:
        kept, why = changes.affected(seen)
        print(f"   {len(kept)} files: {why}", flush=True)
        targets = {key: (entry, [name for name in names if name in set(kept)]) for key, (entry, names) in targets.items()}
    jobs = [job_for(group, entry["directory"], flags(entry))
            for entry, names in targets.values() for group in batches(sorted(names), size)]
    return sorted(jobs, key=lambda job: (-sum(len(text_of(part)) for part in job.parts), job.parts))


def without_repeats(output, seen):
    """Drops findings (with their notes) that another job already showed: those of shared headers."""
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
    parser.add_argument("--changed", action="store_true", help="only what a change can have affected")
    parser.add_argument("--fix", action="store_true", help="repair what clang-tidy can, one file at a time")
    parser.add_argument("--profile", action="store_true", help="show what each check costs; ignores the cache")
    parser.add_argument("prefixes", nargs="*", help="only files whose path begins so, such as src/model")
    options = parser.parse_args()

    CACHE.mkdir(parents=True, exist_ok=True)
    BATCHES.mkdir(parents=True, exist_ok=True)
    setup_stamp()
    jobs = jobs_for(options.prefixes, 1 if options.fix else BATCH_SIZE, options.changed)
    dirty, times, seen = 0, [], set()
    workers = 1 if options.fix else len(os.sched_getaffinity(0))  # two must not repair one header
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, job, options) for job in jobs]
        for future in concurrent.futures.as_completed(futures):
            name, output, clean, seconds = future.result()
            if seconds is not None:
                times.append((seconds, name))
            if not clean:
                dirty += 1
            shown = without_repeats(output, seen)
            if shown:
                print(shown, flush=True)
    files = sum(len(job.parts) for job in jobs)
    slowest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(times, reverse=True)[:3])
    looked_at = f"{len(times)} looked at" + (f" (slowest: {slowest})" if slowest else "")
    print(f"   {files} files in {len(jobs)} jobs, {looked_at}, {dirty} with findings")
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
