#!/usr/bin/env python3
"""Runs the programs of build/bench and shows all figures as one table.

p50 and p99 are over the repetitions of a scenario; GROWTH is the p50 against the same scenario at the size before, with
the growth in nodes behind it. Everything is also written to build/bench/results.json.

--check compares with bench/budgets.json and fails when a figure is more than 1.5 times its budget, or grows 1.5 times
as much as the nodes from the smallest to the largest size of a scenario. A budget in `instructions` (of one cycle's
actions, counted by valgrind) does not depend on how busy the machine is; the others do.

Usage: tools/bench_table.py [--check] [--filter REGEX]
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "build/bench"
BUDGETS = ROOT / "bench/budgets.json"
SLACK = 1.5
TO_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
COUNTED = "strata::Scheduler::RunActions()"
REPEATS = re.compile(r"/repeats:(\d+)")
SETUP = re.compile(r"/(iterations:\d+|repeats:\d+|manual_time|real_time|\d+(?=/iterations:))(?=/|$|_)")


def programs():
    return sorted(path for path in PROGRAMS.iterdir() if path.is_file() and os.access(path, os.X_OK))


def scenario_of(name):
    """The name that bench/README.md uses: without what Google Benchmark adds."""
    return SETUP.sub("", name)


def run(program, wanted):
    """{scenario: {p50, p99 in ms, and its counters}} of one program."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, f"--benchmark_out={out.name}", "--benchmark_out_format=json",
                   f"--benchmark_filter={wanted}"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        text = pathlib.Path(out.name).read_text()
    if done.returncode != 0 or not text:
        if "Failed to match" in done.stderr:
            return {}
        raise SystemExit(f"{program.name}: {done.stderr.strip() or 'printed nothing'}")
    figures = {}
    for row in json.loads(text)["benchmarks"]:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
        figure = figures.setdefault(scenario_of(row["run_name"]), {})
        aggregate = row.get("aggregate_name", "p50")
        if aggregate in ("p50", "p99"):
            figure[aggregate] = row["real_time"] * TO_MS[row["time_unit"]]
        if aggregate == "p50":
            for counter in ("nodes", "pods", "bytes_per_node", "bytes_per_pod", "percent"):
                if counter in row:
                    figure[counter] = row[counter]
    return figures


def instructions_of(scenario):
    """Instructions of the actions of one cycle."""
    program = PROGRAMS / "cycle"
    listed = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
    full = next((name for name in listed.split() if scenario_of(name) == scenario), None)
    if full is None:
        raise SystemExit(f"{BUDGETS.name}: {scenario}: no such scenario of {program.name}")
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
                   f"--toggle-collect={COUNTED}", program, f"--benchmark_filter=^{full}$"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    return int(collected.group(1)) / int(REPEATS.search(full).group(1))


def duration(ms):
    if ms is None:
        return ""
    if ms < 0.001:
        return f"{ms * 1e6:.0f} ns"
    if ms < 1:
        return f"{ms * 1e3:.3g} us"
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"


def family_of(scenario):
    return scenario.rpartition("/")[0]


def growth(scenario, figures):
    """This size against the next smaller one of the same family."""
    mine = figures[scenario]
    smaller = [other for name, other in figures.items()
               if family_of(name) == family_of(scenario) and other.get("nodes", 0) < mine.get("nodes", 0)]
    if not smaller or not mine.get("p50"):
        return ""
    before = max(smaller, key=lambda other: other["nodes"])
    if not before.get("p50"):
        return ""
    return f"{mine['p50'] / before['p50']:.1f}x / {mine['nodes'] / before['nodes']:.0f}x nodes"


def check_growth(figures):
    """Prints how each family grows from its smallest to its largest size; returns how many grow too much."""
    families = {}
    for name, figure in figures.items():
        if figure.get("nodes") and figure.get("p50") and "bytes_per_node" not in figure:
            families.setdefault(family_of(name), []).append(figure)
    over = 0
    for family, sizes in families.items():
        first, last = (pick(sizes, key=lambda figure: figure["nodes"]) for pick in (min, max))
        nodes = last["nodes"] / first["nodes"]
        if nodes == 1:
            continue
        grown = last["p50"] / first["p50"]
        bad = grown > SLACK * nodes
        over += bad
        print(f"{'OVER' if bad else 'ok':4}  {family}: grows {grown:,.3g} times, nodes {nodes:,.3g} times")
    return over


def show(figures):
    rows = [("SCENARIO", "P50", "P99", "PODS/S", "B/NODE", "B/POD", "GROWTH")]
    for scenario, figure in figures.items():
        memory = "bytes_per_node" in figure
        pods, p50 = figure.get("pods", 0), figure.get("p50")
        rows.append((scenario,
                     "" if memory else duration(p50),
                     "" if memory else duration(figure.get("p99")),
                     f"{pods / p50 * 1000:,.0f}" if pods and p50 else "",
                     f"{figure['bytes_per_node']:.0f}" if memory else "",
                     f"{figure['bytes_per_pod']:.0f}" if memory else "",
                     "" if memory else growth(scenario, figures)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def check(figures, wanted):
    """Prints each budget with what was measured; returns how many are overdrawn."""
    over = 0
    print()
    for scenario, budget in json.loads(BUDGETS.read_text()).items():
        if not re.search(wanted, scenario):
            continue
        for what, limit in budget.items():
            found = instructions_of(scenario) if what == "instructions" else figures.get(scenario, {}).get(what)
            if found is None:
                raise SystemExit(f"{BUDGETS.name}: {scenario}: no figure {what}")
            bad = found > SLACK * limit
            over += bad
            print(f"{'OVER' if bad else 'ok':4}  {scenario}: {what} {found:,.4g}, budget {limit:,.4g}")
    return over


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when a figure is 1.5 times its budget")
    parser.add_argument("--filter", default=".", help="only scenarios that match this regular expression")
    options = parser.parse_args()
    figures = {}
    for program in programs():
        figures.update(run(program, options.filter))
    if not figures:
        raise SystemExit(f"no scenario matches {options.filter}")
    show(figures)
    results = PROGRAMS / "results.json"
    results.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"\nwritten to {results.relative_to(ROOT)}")
    return 1 if options.check and check(figures, options.filter) + check_growth(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
