#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints `N passed, N failed` for a ctest log, and how long the tests took.

usage: summarise_tests.py CTEST_LOG REPORTS_DIR

A ctest test NAME that consists of many leaves REPORTS_DIR/NAME.json, lit's report or
run_cases.py's; those are counted one by one. The exit code is 0 when none failed.
"""
import collections
import json
import pathlib
import re
import sys

# A parametrised test's name may hold spaces and be followed by "  # GetParam() = ...": its first word is enough.
# After the dots comes `Passed`, `***Failed`, or words before the stars: `Subprocess aborted***Exception:`.
RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+).*? \.{3,}(.*?) +[\d.]+ sec *$", re.M)
TESTS = re.compile(r"tests? failed out of (\d+)$", re.M)
TIME = re.compile(r"^Total Test time \(real\) = +([\d.]+) sec", re.M)
# Of ctest, of lit and of run_cases.py.
PASSED = {"Passed", "PASS", "XFAIL", "FLAKYPASS", "passed"}
SKIPPED = {"Skipped", "UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def kind_of(status):
    return "passed" if status in PASSED else "skipped" if status in SKIPPED else "failed"


def parts_of(report):
    """How many parts of a test passed, failed, were skipped, by its report."""
    tests = json.loads(report.read_text())
    if isinstance(tests, dict):
        tests = [{"status": test["code"]} for test in tests["tests"]]
    return collections.Counter(kind_of(test["status"]) for test in tests)


def count(log, reports):
    total = collections.Counter()
    results = RESULT.findall(log)
    tests = TESTS.search(log)
    if not tests or int(tests.group(1)) != len(results):
        sys.exit(f"expected the results of {tests.group(1) if tests else 'some'} tests, found {len(results)}")
    for name, words in results:
        report = reports / f"{name}.json"
        # A parameter's text may hold dots of its own: the last ones count.
        kind = kind_of(re.split(r"\.{3,}|\*{3}", words)[-1].strip())
        parts = parts_of(report) if report.exists() else collections.Counter()
        # A test can fail as a whole: no time left, a list that is not complete.
        if not parts or (kind == "failed" and not parts["failed"]):
            parts[kind] += 1
        total += parts
    return total


def main():
    log = pathlib.Path(sys.argv[1]).read_text()
    total = count(log, pathlib.Path(sys.argv[2]))
    seconds = TIME.search(log)
    took = f" in {float(seconds.group(1)):.0f} s" if seconds else ""
    print(f"tests ended{took}; {total['skipped']} skipped")
    print(f"{total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
