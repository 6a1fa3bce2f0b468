#!/usr/bin/env python3
"""Runs the live tests on a real Kubernetes control plane, one program after the other, and prints how long each took.

    tools/e2e.py [name...]        default: all of SUITE

Needs build/strata; tools/build-control-plane.sh builds the rest where it is not there yet. Exit status 1 when a test fails (the others run all the same), 3
when the control plane cannot be had on this machine, which is said in one line and is not a failure."""
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "tools" / "build-control-plane.sh"
LIMIT = 900 + 30 * int(os.environ.get("STRATA_ROUNDS", "5"))  # seconds for one program
SUITE = {
    "deploy": "tests/kubernetes/deploy_test.py",
    "install": "tests/kubernetes/install_test.py",
    "objects": "tests/kubernetes/objects_test.py",
    "walkthrough": "tests/e2e/walkthrough_test.py",
    "virtual-nodes": "tests/e2e/virtual_nodes_test.py",
    "two-schedulers": "tests/e2e/two_schedulers_test.py",
    "eviction": "tests/e2e/eviction_test.py",
    "eviction-kill": "tests/e2e/eviction_kill_test.py",
    "rbac": "tests/kubernetes/rbac_test.py",
    "agent-policy": "tests/kubernetes/agent_policy_test.py",
    "webhooks": "tests/kubernetes/webhooks_test.py",
    "migrate": "tests/kubernetes/migrate_test.py",
    "faults": "tests/kubernetes/faults_test.py",
}


def programs_folder():
    where = subprocess.run([BUILD, "--where"], check=True, capture_output=True, text=True)
    return where.stdout.strip() + "/bin"


def run(name):
    """(verdict, seconds) of one program. The kubectl that was built goes before another one."""
    folders = [str(ROOT / "tests" / folder) for folder in ("integration", "e2e", "kubernetes")]
    environment = {**os.environ, "PATH": os.pathsep.join([programs_folder(), os.environ["PATH"]]),
                   "PYTHONPATH": os.pathsep.join(folders), "PYTHONDONTWRITEBYTECODE": "1",
                   "STRATA_BINARY": os.environ.get("STRATA_BINARY", str(ROOT / "build" / "strata")), "STRATA_CLUSTER": "kubernetes"}
    print(f"\n==== {name}", flush=True)
    started = time.monotonic()
    with subprocess.Popen([sys.executable, ROOT / SUITE[name], "-v"], env=environment, start_new_session=True) as program:
        try:
            verdict = "ok" if program.wait(LIMIT) == 0 else "FAILED"
        except subprocess.TimeoutExpired:
            verdict = "TIMEOUT"
        finally:
            end_group(program.pid)
    return verdict, time.monotonic() - started


def end_group(leader):
    """Ends what a program has started: one that was cut off leaves a control plane behind."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main(names):
    unknown = [name for name in names if name not in SUITE]
    if unknown:
        print(f"e2e: no test {unknown[0]}; there are {', '.join(SUITE)}", file=sys.stderr)
        return 2
    built = subprocess.run([BUILD], check=False).returncode
    if built != 0:
        return built
    results = {name: run(name) for name in names or SUITE}
    print("\n==== summary")
    for name, (verdict, seconds) in results.items():
        print(f"{verdict:<8} {seconds:6.0f} s  {name}")
    return 0 if all(verdict == "ok" for verdict, _ in results.values()) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left behind then, either
    sys.exit(main(sys.argv[1:]))
