#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits time = a x visited tiles + b x row tiles to what side_by_side.py measured.

bench/side_by_side.py ... --save-tensors values --json rows.json causal.pkg window.pkg
bench/fit_tiles.py --tool attn-opt --specs specs --unit causal rows.json...

The tiles of NAME.pkg come from NAME.attn in --specs: the map of `attn-opt
--emit=tile-map-json` at the row's length, params and tensors. a is the time of a tile that
is visited, b what a tile of rows costs besides, both for one head on the whole GPU.
Lengths at which not every multiprocessor has work should be left out (--least). Rows of
one package with other params are points of one fit.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys


def least_squares(points):
    """a, b of time = a x visited + b x rows, each point weighted by 1 / time: what is
    least is the sum of the squares of relative errors."""
    vv = vr = rr = v1 = r1 = 0.0
    for visited, rows, time in points:
        v, r = visited / time, rows / time
        vv, vr, rr, v1, r1 = vv + v * v, vr + v * r, rr + r * r, v1 + v, r1 + r
    determinant = vv * rr - vr * vr
    # Where visited tiles are as many times the row tiles at each length, any split will do.
    if len(points) < 2 or determinant < 1e-6 * vv * rr:
        return None
    return (v1 * rr - r1 * vr) / determinant, (r1 * vv - v1 * vr) / determinant


def tiles_of(options, name, row):
    """Visited tiles and tiles of rows of one head."""
    specification = options.specs / f"{name}.attn"
    command = [options.tool, str(specification), "--emit=tile-map-json", f"--target={options.target}"]
    command += [f"--alternative={options.alternative}"] if options.alternative else []
    command += [f"--q-len={row['length']}", f"--k-len={row['length']}", f"--batch={row['batch']}"]
    declared = specification.read_text()
    for kind in ("param", "tensor"):
        mask = declared.partition("mask")[2]
        command += [f"--{kind}={key}={value}" for key, value in row[f"{kind}s"].items() if re.search(rf"\b{key}\b", mask)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()}")
    tiles = json.loads(result.stdout)
    return tiles["tiles"]["visited"], len(tiles["kernel"])


def read_points(options):
    """For each package the points (visited, rows, milliseconds of one head)."""
    points = {}
    for path in options.rows:
        for row in json.loads(path.read_text())["rows"]:
            if row["length"] < options.least:
                continue
            name = pathlib.Path(row["package"]).stem
            time = row["milliseconds"]["attn"]["median"] / (row["heads"] * row["batch"])
            points.setdefault(name, []).append((*tiles_of(options, name, row), time))
    return points


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="+", type=pathlib.Path, help="--json of side_by_side.py")
    parser.add_argument("--tool", required=True, help="attn-opt")
    parser.add_argument("--specs", required=True, type=pathlib.Path, help="folder of NAME.attn for each NAME.pkg")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--unit", default="causal", help="the package to whose a others are compared")
    parser.add_argument("--least", type=int, default=0, help="leave out shorter lengths")
    parser.add_argument("--alternative", help="the schedule that ran, where it is not the first")
    options = parser.parse_args()
    points = read_points(options)
    fits = {name: least_squares(mine) for name, mine in points.items()}
    unit = fits.get(options.unit)
    print(f"{'package':24} {'points':>6} {'a, ns per tile':>15} {'b, ns per row tile':>19} {'a / unit':>9} {'worst error':>12}")
    for name, fit in fits.items():
        if not fit:
            print(f"{name:24} {len(points[name]):>6}  needs lengths at which visited tiles differ from row tiles by other factors")
            continue
        a, b = fit
        worst = max(abs((a * visited + b * rows) / time - 1) for visited, rows, time in points[name])
        ratio = f"{a / unit[0]:.3f}" if unit else "-"
        print(f"{name:24} {len(points[name]):>6} {a * 1e6:>15.3f} {b * 1e6:>19.3f} {ratio:>9} {worst:>11.1%}")
    return 0 if all(fits.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
