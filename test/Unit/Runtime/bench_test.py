# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/ on the simulator: bench_test.py BENCH LIBRARY PACKAGE ATTN_OPT SPECS.

Without torch it runs up to the point where torch is needed.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

bench, library, package, tool, specs = sys.argv[1:6]


def run(*options):
    command = [sys.executable, f"{bench}/side_by_side.py", "--library", library, *options]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


class SideBySide(unittest.TestCase):
    def refused(self, code, message, *options):
        found, text = run(*options)
        self.assertIn(message, text)
        self.assertEqual(found, code)

    def test_what_is_refused(self):
        self.refused(1, "not a package", __file__)
        self.refused(1, "--param left: no package declares it; they declare none", package, "--param", "left=3")
        self.refused(1, "--tensor x: expected NAME=VALUE", package, "--tensor", "x")
        self.refused(2, "--peers cudnn: expected FA2, cuDNN or Flex", package, "--peers", "cudnn")
        self.refused(2, "--lengths 1k: expected numbers and commas", package, "--lengths", "1k")
        self.refused(2, "--rounds 0: expected 1 or more", package, "--rounds", "0")

    def test_a_row(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.json"
            small = ["--device", "sim", "--lengths", "33", "--batch", "1", "--rounds", "3", "--peers", "FA2"]
            code, text = run(package, *small, "--json", str(rows))
            if not importlib.util.find_spec("torch"):
                self.assertEqual(code, 3)
                self.assertIn("torch: No module named 'torch'", text)
                return
            self.assertEqual(code, 0, text)
            row = json.loads(rows.read_text())["rows"][0]
            self.assertEqual((row["length"], row["batch"], row["variant"]), (33, 1, "causal"))
            self.assertEqual(row["flop"], 2 * (64 + 64) * 33 * 34 / 2 * 4)
            self.assertEqual(len(row["samples"]["attn"]), 3)

    def test_a_wrong_result_is_not_timed(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("no torch")
        with tempfile.TemporaryDirectory() as folder:
            whole = json.loads(pathlib.Path(package).read_text())
            whole["problem"]["mask"] = None  # not what the kernel computes
            wrong = pathlib.Path(folder) / "wrong.pkg"
            wrong.write_text(json.dumps(whole))
            code, text = run(str(wrong), "--device", "sim", "--lengths", "33", "--batch", "1", "--rounds", "2")
            self.assertEqual(code, 1)
            self.assertIn("attn: WRONG: error is", text)

    def test_a_tensor_of_conditions(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("no torch")
        with tempfile.TemporaryDirectory() as folder:
            listed = str(pathlib.Path(folder) / "bigbird.pkg")
            subprocess.run([tool, f"{specs}/bigbird.attn", "--emit=package", "--target=sm_80", "-o", listed], check=True)
            small = [listed, "--device", "sim", "--lengths", "70", "--batch", "1", "--rounds", "2"]
            code, text = run(*small, "--tensor", "blocks=blocks:3")
            self.assertEqual(code, 0, text)
            code, text = run(*small, "--tensor", "blocks=random")
            self.assertIn("--tensor blocks=random: expected an f32, f16 or bf16, found bool", text)
            self.assertEqual(code, 1)


class FitTiles(unittest.TestCase):
    """Times made of known parts give those parts."""

    def fit(self, rows, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.json"
            path.write_text(json.dumps({"rows": rows}))
            command = [sys.executable, f"{bench}/fit_tiles.py", "--tool", tool, "--specs", specs, str(path), *options]
            result = subprocess.run(command, capture_output=True, text=True)
            return result.returncode, result.stdout + result.stderr

    def row(self, package, length, time, **params):
        return {
            "package": package, "length": length, "batch": 2, "heads": 4, "params": params, "tensors": {},
            "milliseconds": {"attn": {"median": time * 8}},
        }  # fmt: skip

    def test_parts(self):
        def causal(length):  # tiles of 128 x 128
            rows = length // 128
            return self.row("causal.pkg", length, 2e-4 * rows * (rows + 1) / 2 + 5e-4 * rows)

        def window(length, tiles):  # as many tiles of keys before the row tile's own
            rows = length // 128
            visited = sum(min(row, tiles) + 1 for row in range(rows))
            return self.row("window.pkg", length, 3e-4 * visited + 1e-4 * rows, left=128 * tiles - 1)

        rows = [causal(n) for n in (512, 1024, 2048)] + [window(n, tiles) for n in (1024, 2048) for tiles in (1, 4)]
        code, text = self.fit(rows)
        self.assertEqual(code, 0, text)
        found = {line.split()[0]: line.split()[1:] for line in text.splitlines()[1:]}
        self.assertEqual(found["causal"][:4], ["3", "200.000", "500.000", "1.000"], text)
        self.assertEqual(found["window"][:4], ["4", "300.000", "100.000", "1.500"], text)

    def test_one_length_is_not_enough(self):
        code, text = self.fit([self.row("causal.pkg", 512, 1.0)])
        self.assertEqual(code, 1)
        self.assertIn("needs lengths", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
