#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deletes each synchronising instruction of a package's PTX in turn and expects the simulator's sanitizer to say so.

scripts/delete_synchronization.py build/tools/attn-run/attn-run x.pkg \\
    --run "--q-len=130 --k-len=200 --grid=3"

Wrong numbers are not enough: a mutant counts as found only when a run prints a
finding. Survivors are listed with their line.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SYNCHRONIZATION = re.compile(
    r"^\s*(@!?%\w+\s+)?(bar(rier)?\.(?!warp)|cp\.async\.(commit_group|wait_group|wait_all)|fence\.|membar\.|mbarrier\."
    r"|wgmma\.(fence|commit_group|wait_group))[^;]*;"
)
# "  shared-race: line 12: `...`: block ..." in attn-run's output.
FINDING = re.compile(r"\s([a-z][a-z-]+): line (\d+): `")


def first_finding(package, ptx, options):
    """(check, line) of the first finding of the first run that has one; None when all are silent."""
    changed = dict(package, kernels=[dict(package["kernels"][0], ptx=ptx)])
    with tempfile.NamedTemporaryFile("w", suffix=".pkg") as file:
        json.dump(changed, file)
        file.flush()
        for run in options.run:
            command = [options.tool, file.name, "--device=sim", "--check", "--rows=1", *shlex.split(run)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
            if found := FINDING.search(done.stdout + done.stderr):
                return found.groups()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--run", action="append", required=True, help="options of one attn-run")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()

    package = json.loads(options.package.read_text())
    lines = package["kernels"][0]["ptx"].splitlines()
    if found := first_finding(package, "\n".join(lines) + "\n", options):
        sys.exit(f"the unchanged package has a finding: {found[0]} in line {found[1]}")
    places = [i for i, line in enumerate(lines) if SYNCHRONIZATION.match(line)]
    survivors = 0
    for place in places:
        mutant = lines[:place] + [""] + lines[place + 1 :]
        found = first_finding(package, "\n".join(mutant) + "\n", options)
        survivors += found is None
        verdict = f"{found[0]} in line {found[1]}" if found else "NOT FOUND"
        print(f"line {place + 1}: {lines[place].strip()}: {verdict}", flush=True)
    print(f"{len(places)} deletions, {len(places) - survivors} found")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
