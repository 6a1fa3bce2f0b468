#!/usr/bin/env python3
"""Runs one file of tests/web/units in chromium.

Usage: units_test.py NAME, with STRATA_ESBUILD and NODE_PATH as tests/web/CMakeLists.txt sets them.
"""
import os
import pathlib
import subprocess
import sys

import browser

UNITS = pathlib.Path(__file__).resolve().parent / "units"
OPTIONS = ["--bundle", "--format=iife", "--target=es2022", "--jsx=automatic", "--jsx-import-source=preact", "--charset=utf8"]


def main():
    script = subprocess.run([os.environ["STRATA_ESBUILD"], str(UNITS / f"{sys.argv[1]}_test.ts"), *OPTIONS], check=True, stdout=subprocess.PIPE)
    chromium = browser.Browser()
    try:
        chromium.driver.get("about:blank")
        results = chromium.run(script.stdout.decode() + "\nreturn window.results;")
    finally:
        chromium.close()
    for result in results:
        print(f"{'FAILED' if result['failure'] else 'OK':6} {result['name']}")
        if result["failure"]:
            print(result["failure"])
    if not results or any(result["failure"] for result in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
