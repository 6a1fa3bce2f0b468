"""Which sources a change can have affected, for checks that take long: tools/run_tidy.py and tools/compile_alone.py.

A check that found nothing at some commit finds nothing now in a source that is the same as it was then, if everything that
it includes and the configuration of the check are the same, too. The commit to compare with is the one of STRATA_LINT_BASE, or
of the file .ci/linted: `make lint-all` writes there the commit at which it found nothing in any source. A commit that is
unknown here, or that is not an ancestor of this one, says nothing: then every source counts as affected.
"""
import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = ROOT / ".ci" / "linted"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# What every source is compiled or checked with, as beginnings of paths.
CONFIGURATION = (".clang-tidy", "tests/.clang-tidy", "CMakeLists.txt", "CMakePresets.json", "cmake/StrataFlags.cmake",
                 "cmake/StrataLibraries.cmake", "cmake/StrataModule.cmake", "tools/packages.txt", "tools/changes.py", "tools/run_tidy.py",
                 "tools/compile_alone.py")


def git(*arguments):
    """What git prints, or None when it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def base_commit():
    """(commit, "") to compare with, or (None, why there is none)."""
    named = os.environ.get("STRATA_LINT_BASE") or (RECORD.read_text().strip() if RECORD.exists() else "")
    if not named:
        return None, "no commit to compare with (.ci/linted)"
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", named + "^{commit}")
    if commit is None:
        return None, f"commit {named} is not in this clone"
    if git("merge-base", "--is-ancestor", commit.strip(), "HEAD") is None:
        return None, f"commit {named} is not an ancestor of this one"
    return commit.strip(), ""


@functools.lru_cache(maxsize=None)
def included(name):
    """The files of ours that `name` includes itself; None for one that cannot be found."""
    found = []
    for text in INCLUDE.findall((ROOT / name).read_text()):
        if text.endswith(".pb.h"):
            text = text.removesuffix(".pb.h") + ".proto"
        folders = (pathlib.PurePosixPath(name).parent, pathlib.PurePosixPath("src"), pathlib.PurePosixPath("."))
        paths = [(folder / text).as_posix() for folder in folders]
        found.append(next((path for path in paths if (ROOT / path).exists()), None))
    return found


def closure(name):
    """`name` and every file of ours that it includes, by way of others, too; None among them for one that cannot be found."""
    seen, left = {name}, [name]
    while left:
        current = left.pop()
        if current is not None and current.endswith((".h", ".cc")):
            for other in included(current):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
    return seen


def defines_changed(commit, lists):
    """Whether a folder's CMakeLists.txt gives other definitions or options to its sources than before."""
    lines = (git("diff", "--unified=0", commit, "--", lists) or "").splitlines()
    return any(re.match(r"[+-].*(DEFINES|_definitions|_options|\.proto)", line) for line in lines)


def affected(names):
    """(those of `names` that the change can have affected, a line that says why these)."""
    commit, why_not = base_commit()
    if commit is None:
        return list(names), f"all: {why_not}"
    changed = git("diff", "--name-only", commit)
    new = git("ls-files", "--others", "--exclude-standard")
    if changed is None or new is None:
        return list(names), "all: git cannot tell what changed"
    changed = (set(changed.split("\n")) | set(new.split("\n"))) - {""}
    for path in sorted(changed):
        if path.startswith(CONFIGURATION):
            return list(names), f"all: {path} differs from commit {commit[:12]}"
    folders = tuple(path.removesuffix("CMakeLists.txt") for path in changed
                    if path.endswith("/CMakeLists.txt") and defines_changed(commit, path))
    changed.add(None)
    kept = [name for name in names if name.startswith(folders) or not changed.isdisjoint(closure(name))]
    return kept, f"those that differ from commit {commit[:12]}, by what they include, too"
