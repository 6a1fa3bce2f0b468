#!/usr/bin/env python3
"""Fails on words that make a reader stop, on wide pages and on links that lead nowhere.

* Documents (every *.md, the chart's notes and values, alerts, the dashboard) and code are searched for the habits
  below. CONTRIBUTING.md, "Words", says what to write instead.
* A line of a document has at most 120 columns; a table row may be longer only if a word of it is (a test's name).
* A relative link of a document leads to a file that exists, and to a heading of it.
* The log lines, events and conditions of docs/stable-lines.md are string literals in src/.
* What a page shows of `strata explain -f examples/X` is in the expected output of the scenario `example-X`.

Usage: tools/check_prose.py. Prints file:line: reason; exit status 1 on any.
"""
import pathlib
import re
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_COLUMNS = 120
LONG_WORD = 50
CODE = (".h", ".cc", ".py", ".sh", ".cmake", ".yaml", ".tpl")
DOCUMENTS = (".md", "NOTES.txt", "values.yaml", "rules.yaml", "dashboard.json")

# What is searched for, and what is said about it. A sentence begins after a full stop, a colon, or a comment's mark.
BEGINS = r"(?:^\W*|[.:;!] |(?://|#|\*) )"
HABITS = [(re.compile(pattern), advice) for pattern, advice in (
    (r"(?<!here )\b(?:is|are|was|were) no (?!longer\b|more\b|fewer\b|less\b|other\b)[\w`\"]",
     "\"is no X\": write \"is not a X\", \"invalid X\" or \"not found\""),
    (BEGINS + r"Who(?:ever)? (?!.*\?)", "\"Who ...\" as a subject: name the subject"),
    (r"\b[Ww](?:hoever|homever)\b", "\"whoever\": name the subject"),
    (r"(?:; |\b(?:for|to|by|of|with|from|so that) )who\b", "\"who\": name the person or the component"),
    (BEGINS + r"Of (?!course\b)", "\"Of ...\" at the beginning: say what is done with them"),
    (r"\bkMost[A-Z]|\b(?:k|K)Fewest[A-Z]", "the word for a limit is Max or Min"),
    (r"\b(?:bears?|bore|borne)\b|\bBear[A-Z]", "\"bear\": write \"have\" or \"create\""),
    (r"\b[Ll]ets? go\b|\bletting go\b", "\"let go\": write \"release\" or \"drop\""),
    (r"\b[Ll]ets? (?:it|them|him|her|nobody|somebody) in\b|\blet in\b|\bat the door\b",
     "\"let in\": write \"admit\""),
    (r"\b[Hh]omeless\b|\bbarred\b|\bkBarred\b|\bbars? the way\b", "an image: write \"without a node\", \"blocked\""),
    (r"\bdoes not mind\b|\bdo not mind\b|\bnobody minds\b", "\"mind\": write \"has no preference\""),
    (r"\bin silence\b", "\"in silence\": write \"silently\""),
    (r"\bthrows? dice\b|\bcomes? to the same\b|\bmean others\b|\bmeans others\b", "an image: write what happens"),
    (r"\bslept\b|\bsleeps too long\b|\bfor want of\b|\baway again\b", "an image: write what happens"),
    (r"\bthe (?:one|ones) before\b", "\"the one before\": write \"the previous X\""),
    (r"\b(?:is|are|was|were|be) told of\b|\btells of\b", "\"tell of\": write \"report\" or \"warn\""),
    (r"\btakes? (?:it|them|its objects|what is in it) along\b", "\"take along\": write what is deleted or moved"),
    (r"\b(?:is|are) there twice\b", "\"there twice\": write \"duplicate\""),
    (r"\bis not itself\b|\bnot itself\b(?= \()", "an image: write what is wrong"),
)]


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def is_document(path):
    return path.name.endswith(DOCUMENTS) and not path.is_relative_to(ROOT / "tests")


def is_too_wide(line):
    if columns(line) <= MAX_COLUMNS:
        return False
    return not (line.startswith("|") and max(len(word) for word in line.split()) > LONG_WORD)


def prose_of(path, lines):
    """The lines with their numbers, without the code blocks and quotes of a page: those show what programs print."""
    if path.suffix != ".md":
        yield from enumerate(lines, 1)
        return
    for number, line in enumerate(lines, 1):
        if not line.startswith(("    ", ">")):
            yield number, re.sub(r"`[^`]*`", "``", line)


def habits_of(path, lines):
    for number, line in prose_of(path, lines):
        for pattern, advice in HABITS:
            if pattern.search(line):
                yield number, advice


def anchors_of(path):
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links_of(path, lines):
    for number, line in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", "" if line.startswith("    ") else line):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            page = (path.parent / file).resolve() if file else path
            if not page.exists():
                yield number, f"{target} does not exist"
            elif anchor and page.suffix == ".md" and anchor not in anchors_of(page):
                yield number, f"{target}: there is no such heading"


def lost_lines(files):
    """What docs/stable-lines.md promises and no source says."""
    page = ROOT / "docs" / "stable-lines.md"
    sources = "".join(path.read_text() for path in files
                      if path.suffix == ".cc" and path.is_relative_to(ROOT / "src") and not path.stem.endswith("_test"))
    promised = page.read_text().split("## Metrics")[0]
    for number, line in enumerate(promised.splitlines(), 1):
        for text in re.findall(r"`([^`]+)`", line.split(" | ")[0]) if line.startswith("| `") else ():
            if f'"{text}"' not in sources:
                yield page, number, f"no source says \"{text}\" any more"


def stale_outputs_of(path, lines):
    """Lines below "$ strata explain -f examples/X" that the scenario example-X does not print."""
    expected = None
    for number, line in enumerate(lines, 1):
        command = re.match(r"    \$ (?:build/)?strata explain -f examples/([\w-]+) ", line)
        if command:
            expected = (ROOT / "tests/scenario/cases" / f"example-{command[1]}" / "explain.txt").read_text().splitlines()
        elif not line.startswith("    "):
            expected = None
        elif expected is not None and line.strip() != "..." and line.removeprefix("    ") not in expected:
            yield number, "the scenario of this example does not print that"


def findings(files):
    for path in files:
        code = path.suffix in CODE
        if not code and not is_document(path):
            continue
        lines = path.read_text().splitlines()
        for number, reason in habits_of(path, lines):
            yield path, number, reason
        if path.suffix == ".md" and is_document(path):
            for number, line in enumerate(lines, 1):
                if is_too_wide(line):
                    yield path, number, f"{columns(line)} columns, at most {MAX_COLUMNS}"
            for number, reason in [*broken_links_of(path, lines), *stale_outputs_of(path, lines)]:
                yield path, number, reason
    yield from lost_lines(files)


def main():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split("\n")
    own = pathlib.Path(__file__).resolve()
    files = [ROOT / name for name in names if name and (ROOT / name).is_file() and (ROOT / name) != own]
    found = list(findings(files))
    for path, number, reason in found:
        print(f"{path.relative_to(ROOT).as_posix()}:{number}: {reason}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
