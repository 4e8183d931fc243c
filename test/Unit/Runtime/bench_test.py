# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/side_by_side.py on the simulator: bench_test.py BENCH LIBRARY PACKAGE.

Without torch it runs up to the point where torch is needed.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

bench, library, package = sys.argv[1:4]


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
