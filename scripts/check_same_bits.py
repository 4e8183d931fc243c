#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that must give the same bits, compared on the simulator or a GPU.

scripts/check_same_bits.py --device sim build/tools/attn-run/attn-run
scripts/check_same_bits.py --device sim --target sm_90a build/tools/attn-run/attn-run

Each property is two ways to ask for the same numbers: o and lse have to agree in
every bit. What Q, K and V hold is random, and the same for all.
"""

import argparse
import array
import ast
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

BATCH, HEADS, KV_HEADS, DIM = 2, 4, 2, 64
Q_LEN, K_LEN = 137, 281

SPEC = """import "std"
attention bits {{
  dtype {dtype}
  heads {heads} / {kv_heads}
  head_dim {dim}
  {fields}
}}
"""


class Rows:
    """f32 [batch, positions, heads, dim], as attn-run reads and writes it."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), values

    @staticmethod
    def random(seed, batch, positions, heads, dim):
        source = random.Random(seed)
        numbers = (source.gauss(0, 1) for _ in range(batch * positions * heads * dim))
        return Rows((batch, positions, heads, dim), array.array("f", numbers))

    @staticmethod
    def read(path):
        data = path.read_bytes()
        length = struct.unpack_from("<H", data, 8)[0]
        header = ast.literal_eval(data[10 : 10 + length].decode())
        if header["descr"] != "<f4" or header["fortran_order"]:
            sys.exit(f"{path}: expected f32 in C order, found {header}")
        return Rows(header["shape"], array.array("f", data[10 + length :]))

    def write(self, path):
        header = repr({"descr": "<f4", "fortran_order": False, "shape": self.shape})
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + self.values.tobytes())

    def take(self, axis, indices):
        """The slices of one axis, in the order of `indices`."""
        inner = 1
        for extent in self.shape[axis + 1 :]:
            inner *= extent
        outer = len(self.values) // (inner * self.shape[axis]) if self.values else 0
        result = array.array("f")
        for block in range(outer):
            for index in indices:
                start = (block * self.shape[axis] + index) * inner
                result.extend(self.values[start : start + inner])
        shape = self.shape[:axis] + (len(indices),) + self.shape[axis + 1 :]
        return Rows(shape, result)

    def transposed(self):
        """Axes 1 and 2 exchanged: bshd and bhsd."""
        batch, first, second, dim = self.shape
        result = array.array("f")
        for b in range(batch):
            for s in range(second):
                for f in range(first):
                    start = ((b * first + f) * second + s) * dim
                    result.extend(self.values[start : start + dim])
        return Rows((batch, second, first, dim), result)

    def without_batch(self):
        return Rows(self.shape[1:], self.values)

    def rounded_to_bf16(self):
        words = array.array("I", self.values.tobytes())
        rounded = array.array("I", (((w + 0x7FFF + ((w >> 16) & 1)) >> 16) << 16 for w in words))
        return Rows(self.shape, array.array("f", rounded.tobytes()))

    def difference(self, other):
        """Where two differ, or None."""
        if self.shape != other.shape:
            return f"shapes {self.shape} and {other.shape}"
        if self.values.tobytes() == other.values.tobytes():
            return None
        pairs = zip(array.array("I", self.values.tobytes()), array.array("I", other.values.tobytes()))
        places = [index for index, (a, b) in enumerate(pairs) if a != b]
        first = places[0]
        place = []
        for extent in reversed(self.shape):
            place.insert(0, first % extent)
            first //= extent
        a, b = self.values[places[0]], other.values[places[0]]
        return f"{len(places)} of {len(self.values)} numbers differ, first at {place}: {a} and {b}"


class Output:
    """o [batch, q_len, heads, dim] and lse [batch, heads, q_len]."""

    def __init__(self, o, lse):
        self.o, self.lse = o, lse

    def take_batch(self, indices):
        return Output(self.o.take(0, indices), self.lse.take(0, indices))

    def take_rows(self, rows):
        return Output(self.o.take(1, rows), self.lse.take(2, rows))

    def entry(self, index, rows):
        """The first rows of a batch entry, as `packed` has those of a sequence."""
        own = self.take_batch([index]).take_rows(list(range(rows)))
        return Output(own.o.without_batch(), own.lse.without_batch())

    def packed(self, start, rows):
        """A sequence of o [total_q, heads, dim] and lse [heads, total_q]."""
        own = list(range(start, start + rows))
        return Output(self.o.take(0, own), self.lse.take(1, own))

    def difference(self, other):
        for name in ("o", "lse"):
            if where := getattr(self, name).difference(getattr(other, name)):
                return f"{name}: {where}"
        return None


class Runner:
    def __init__(self, tool, device, target, folder):
        self.tool, self.device, self.folder = tool, device, folder
        self.target = [f"--target={target}"] if target else []
        self.q = Rows.random(1, BATCH, Q_LEN, HEADS, DIM)
        self.k = Rows.random(2, BATCH, K_LEN, KV_HEADS, DIM)
        self.v = Rows.random(3, BATCH, K_LEN, KV_HEADS, DIM)
        self.known = {}

    def run(self, fields, *options, q=None, k=None, v=None, dtype="bf16", bhsd=False):
        """What attn-run computes; the operands are those of all runs by default."""
        operands = [q or self.q, k or self.k, v or self.v]
        key = (fields, options, dtype, bhsd, *map(id, operands))
        if key not in self.known:
            # The operands are kept, so that their ids stay theirs.
            self.known[key] = (self.launch(fields, options, operands, dtype, bhsd), operands)
        return self.known[key][0]

    def made(self, fields, *options):
        """The same with operands of attn-run's making."""
        return self.launch(fields, options, [], "bf16", False)

    def launch(self, fields, options, operands, dtype, bhsd):
        heads, kv_heads = (operands[0].shape[2], operands[1].shape[2]) if operands else (HEADS, KV_HEADS)
        spec = self.folder / "bits.attn"
        spec.write_text(SPEC.format(dtype=dtype, heads=heads, kv_heads=kv_heads, dim=DIM, fields=fields))
        o, lse = self.folder / "o.npy", self.folder / "lse.npy"
        command = [self.tool, spec, f"--device={self.device}", f"--save-o={o}", f"--save-lse={lse}", *self.target, *options]
        command.append("--layout=bhsd" if bhsd else "--layout=bshd")
        for name, rows in zip("qkv", operands):
            path = self.folder / f"{name}.npy"
            (rows.transposed() if bhsd else rows).write(path)
            command.append(f"--{name}={path}")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{fields} {' '.join(options)}: exit code {done.returncode}: {done.stdout}")
        output = Rows.read(o)
        return Output(output.transposed() if bhsd else output, Rows.read(lse))


FULL = "mask true"
CAUSAL = "mask causal"
TOP_LEFT = "align top_left mask causal"
WINDOW = "param left : i32 = 9 param right : i32 = 0 mask window(q, k, left, right)"
SINKS = "param left : i32 = 9 param count : i32 = 4 mask causal && (first(k, count) || q - k <= left)"
MASKS = {"full": FULL, "causal": CAUSAL, "top left": TOP_LEFT, "window": WINDOW, "sinks": SINKS}


def grids(run):
    for name, mask in MASKS.items():
        for grid in (1, 2, 3, 7):
            yield f"grid {grid}, {name}", run(mask), run(mask, f"--grid={grid}")


def masks(run):
    yield "window past both ends = full", run(WINDOW, f"--param=left={K_LEN}", f"--param=right={K_LEN}"), run(FULL)
    unbounded = ["--param=left=unbounded", "--param=right=unbounded"]
    yield "unbounded window = full", run(WINDOW, *unbounded), run(FULL)
    yield "window past the start = causal", run(WINDOW, f"--param=left={K_LEN}"), run(CAUSAL)
    yield "window and no first tokens = window", run(SINKS, "--param=count=0"), run(WINDOW)
    yield "all tokens first = causal", run(SINKS, f"--param=count={K_LEN}"), run(CAUSAL)
    prefix = "param length : i32 = 0 mask prefix(q, k, length)"
    yield "no prefix = causal", run(prefix), run(CAUSAL)
    yield "a prefix of all = full", run(prefix, f"--param=length={K_LEN}"), run(FULL)
    table = "tensor seen : bool[q_len, k_len] mask (i, k) = seen[i, k]"
    yield "a table of ones = full", run(table, "--tensor=seen=ones"), run(FULL)
    documents = "tensor doc : i32[batch, k_len] mask (b, q, k) = causal && document(doc[b, q], doc[b, k])"
    yield "one document = causal", run(documents, "--tensor=doc=3"), run(CAUSAL)


def lengths(run, runner):
    # What a row sees decides its bits, not which rows or keys come with it.
    some = list(range(77))
    fewer = runner.q.take(1, some)
    for name in ("full", "top left"):
        yield f"first rows alone, {name}", run(MASKS[name]).take_rows(some), run(MASKS[name], q=fewer)
    last = list(range(Q_LEN - 1, Q_LEN))
    one = runner.q.take(1, last)
    for name in ("full", "causal", "window", "sinks"):
        yield f"last row alone, {name}", run(MASKS[name]).take_rows(last), run(MASKS[name], q=one)
    seen = list(range(Q_LEN))
    keys = {"k": runner.k.take(1, seen), "v": runner.v.take(1, seen)}
    yield "keys that no row sees, top left", run(TOP_LEFT), run(TOP_LEFT, **keys)
    length = "tensor length : i32[batch] mask (b, k) = k < length[b]"
    yield "lengths in a tensor = k_len", run(length, f"--tensor=length={Q_LEN}"), run(FULL, **keys)


def batches(run, runner):
    length = "tensor length : i32[batch] mask (b, q, k) = causal && k < length[b]"
    whole = run(length, "--tensor=length=100,281")
    for entry, value in enumerate((100, 281)):
        alone = {name: getattr(runner, name).take(0, [entry]) for name in "qkv"}
        yield f"entry {entry} alone", whole.take_batch([entry]), run(length, f"--tensor=length={value}", **alone)
    twice = {name: getattr(runner, name).take(0, [1, 0, 1]) for name in "qkv"}
    yield "entries in another order", run(CAUSAL).take_batch([1, 0, 1]), run(CAUSAL, **twice)


def heads(run, runner):
    group = HEADS // KV_HEADS
    expanded = [head // group for head in range(HEADS)]
    keys = {"k": runner.k.take(2, expanded), "v": runner.v.take(2, expanded)}
    for name, mask in MASKS.items():
        yield f"groups = repeated kv heads, {name}", run(mask), run(mask, **keys)


def memory(run):
    for name in ("causal", "window"):
        mask = MASKS[name]
        yield f"heads before positions, {name}", run(mask), run(mask, bhsd=True)
        yield f"rows in wider rows, {name}", run(mask), run(mask, "--row-gap=24")


def outputs(run):
    exact = run(f"out f32 {CAUSAL}")
    yield "f32 rounded = bf16", run(CAUSAL), Output(exact.o.rounded_to_bf16(), exact.lse)
    sink = "tensor sinks : f32[heads] mask causal sink (h) = sinks[h]"
    yield "a sink of -inf = none", run(sink, "--tensor=sinks=-inf"), run(CAUSAL)


def maxima(run, runner):
    # Whether a warp looks closer depends on all of its rows, what a row becomes does not.
    some = list(range(3, 77, 3))
    fewer = runner.q.take(1, some)
    fields = "schedule auto (tile = 128 x 32, max = {}) score (s, k) = k / 32 % 3 == 1 ? 40.0 * s : s"
    for name in ("exact", "lazy", "stale"):
        yield f"some rows alone, {name}", run(fields.format(name)).take_rows(some), run(fields.format(name), q=fewer)
    yield "stale = lazy", run(fields.format("stale")), run(fields.format("lazy"))


def sequences(runner):
    made = runner.made
    for name in ("full", "causal", "sinks"):
        mask = MASKS[name]
        equal = ["--batch=3", "--q-len=77", "--k-len=140"]
        dense, packed = made(mask, *equal), made(f"batch varlen {mask}", *equal)
        for b in range(3):
            yield f"sequence {b} of one length = dense, {name}", packed.packed(b * 77, 77), dense.entry(b, 77)
        mixed = ["--q-lens=70,0,130,1", "--k-lens=90,3,200,257"]
        packed, padded = made(f"batch varlen {mask}", *mixed), made(f"batch padded {mask}", *mixed)
        for packing in ("gaps", "batch"):
            yield f"packing {packing}, {name}", packed, made(f"batch varlen {mask}", *mixed, f"--kv-packing={packing}")
        for b, start, rows in ((0, 0, 70), (2, 70, 130), (3, 200, 1)):
            yield f"sequence {b} packed = padded, {name}", packed.packed(start, rows), padded.entry(b, rows)
        # All entries hold the same numbers, so that a sequence is known by its length.
        fills = ["--q-fill=mod:5", "--k-fill=mod:7", "--v-fill=pattern"]
        moved = made(f"batch varlen {mask}", "--q-lens=1,130,70", "--k-lens=257,200,90", *fills)
        first = made(f"batch varlen {mask}", *mixed, *fills)
        for rows, here, there in ((70, 0, 131), (130, 70, 1), (1, 200, 0)):
            yield f"{rows} rows in another order, {name}", first.packed(here, rows), moved.packed(there, rows)


def properties(runner):
    run = runner.run
    yield from grids(run)
    yield from masks(run)
    yield from lengths(run, runner)
    yield from batches(run, runner)
    yield from heads(run, runner)
    yield from memory(run)
    yield from outputs(run)
    yield from maxima(run, runner)
    yield from sequences(runner)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("--device", choices=["gpu", "sim"], required=True)
    parser.add_argument("--target", help="compile for this target, and so with its schedules (default: the device)")
    parser.add_argument("--json", type=pathlib.Path, help="write the results here too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        for name, one, other in properties(Runner(options.tool, options.device, options.target, pathlib.Path(folder))):
            where = one.difference(other)
            statuses.append({"name": name, "status": where or "passed"})
            print(f"{name}: {where or 'same bits'}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(statuses, indent=1))
    failed = sum(status["status"] != "passed" for status in statuses)
    print(f"{len(statuses) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
