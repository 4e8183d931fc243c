#!/usr/bin/env python3
"""Prints `N passed, N failed` for a ctest log, lit's tests counted one by one.

usage: summarise_tests.py CTEST_LOG BUILD_DIR
"""
import json
import pathlib
import re
import sys


def ctest_counts(log: str):
    """Passed and failed ctest tests, without the one that runs lit."""
    results = re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+ *(\*\*\*)?(\w+)", log, re.M)
    others = [(name, marked) for name, marked, _ in results if name != "lit"]
    failed = sum(1 for _, marked in others if marked)
    return len(others) - failed, failed


def lit_counts(report: pathlib.Path):
    if not report.exists():
        return 0, 0
    codes = [test["code"] for test in json.loads(report.read_text())["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return passed, len(codes) - passed - skipped


def main():
    log = pathlib.Path(sys.argv[1]).read_text()
    passed, failed = ctest_counts(log)
    lit_passed, lit_failed = lit_counts(pathlib.Path(sys.argv[2]) / "lit.json")
    print(f"{passed + lit_passed} passed, {failed + lit_failed} failed")


main()
