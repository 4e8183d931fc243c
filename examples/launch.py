#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package launched from Python, with nothing but ctypes.

  attn-opt examples/gqa.attn --emit=package --target=sm_80 -o gqa.pkg
  examples/launch.py build/lib/Runtime/libattn_runtime.so gpu|sim gqa.pkg

Made-up inputs, one launch, and a comparison with the definition. Every buffer lies
between guard bands and starts as NaN, so that what the kernel did not write, or
should not have, shows. It launches any package: one that needs neither a workspace
nor a plan gets empty ones.
"""

import array
import ctypes
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from attn_runtime import BF16, LaunchArgs, Problem, Runtime, View  # noqa: E402

# No multiples of any tile.
BATCH, Q_LEN, K_LEN = 1, 21, 35
GUARD_BYTES = 256


def to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def from_bf16(value):
    return struct.unpack("<f", struct.pack("<I", value << 16))[0]


class Buffer:
    """Device memory between guard bands; all of it starts as NaN."""

    def __init__(self, runtime, device, size):
        self.runtime, self.device, self.size = runtime, device, size
        self.poison = b"\xff" * (size + 2 * GUARD_BYTES)
        base = ctypes.c_uint64()
        runtime.call("attn_device_allocate", device, len(self.poison), ctypes.byref(base))
        runtime.call("attn_device_write", device, base, self.poison, len(self.poison))
        self.base, self.data = base.value, base.value + GUARD_BYTES

    def write(self, contents):
        self.runtime.call("attn_device_write", self.device, self.data, bytes(contents), self.size)

    def read(self):
        image = ctypes.create_string_buffer(len(self.poison))
        self.runtime.call("attn_device_read", self.device, image, self.base, len(self.poison))
        before, after = image.raw[:GUARD_BYTES], image.raw[GUARD_BYTES + self.size :]
        if before + after != self.poison[: 2 * GUARD_BYTES]:
            raise SystemExit("FAIL: a guard band was written")
        return image.raw[GUARD_BYTES : GUARD_BYTES + self.size]

    def release(self):
        self.runtime.call("attn_device_release", self.device, self.base)


class Operand:
    """bf16 [batch, position, head, dim] on the host and the device."""

    def __init__(self, make_buffer, positions, heads, dim):
        self.positions, self.heads, self.dim = positions, heads, dim
        self.buffer = make_buffer(2 * BATCH * positions * heads * dim)

    def fill(self):
        bits = [to_bf16(random.uniform(-2, 2)) for _ in range(self.buffer.size // 2)]
        self.buffer.write(array.array("H", bits))
        self.values = [from_bf16(x) for x in bits]
        return self

    def fetch(self):
        self.values = [from_bf16(x) for x in array.array("H", self.buffer.read())]

    def row(self, b, s, h):
        start = ((b * self.positions + s) * self.heads + h) * self.dim
        return self.values[start : start + self.dim]

    def view(self):
        return View(self.buffer.data, self.positions * self.heads * self.dim, self.dim, self.heads * self.dim)


def compare_row(q, k, v, o, lse, b, h, i):
    """Row i of a head by the definition; the last query sees all keys."""
    g, visible = h // (q.heads // k.heads), i + K_LEN - Q_LEN + 1
    query = q.row(b, i, h)
    logits = [math.fsum(x * y for x, y in zip(query, k.row(b, j, g))) / math.sqrt(q.dim) for j in range(visible)]
    largest = max(logits)
    p = [math.exp(x - largest) for x in logits]
    total = math.fsum(p)
    # Negated comparisons, so that NaN fails too.
    if not abs(lse - (largest + math.log(total))) < 1e-3:
        raise SystemExit(f"FAIL: lse at b = {b}, h = {h}, i = {i} is {lse}")
    values = [v.row(b, j, g) for j in range(visible)]
    for d, got in enumerate(o.row(b, i, h)):
        expected = math.fsum(x * value[d] for x, value in zip(p, values)) / total
        if not abs(got - expected) < 0.02:
            raise SystemExit(f"FAIL: o at b = {b}, h = {h}, i = {i}, d = {d} is {got}, expected {expected}")


def launch(runtime, device, package):
    problem = Problem(struct_bytes=ctypes.sizeof(Problem))
    runtime.call("attn_query_problem", package, ctypes.byref(problem))
    if (problem.q_type, problem.kv_type, problem.o_type) != (BF16, BF16, BF16) or not (problem.has_o and problem.has_lse):
        raise SystemExit("this example wants a bf16 package with o and lse")
    buffers = []

    def make_buffer(size):
        buffers.append(Buffer(runtime, device, size))
        return buffers[-1]

    q = Operand(make_buffer, Q_LEN, problem.heads, problem.head_dim_qk).fill()
    k = Operand(make_buffer, K_LEN, problem.kv_heads, problem.head_dim_qk).fill()
    v = Operand(make_buffer, K_LEN, problem.kv_heads, problem.head_dim_v).fill()
    o = Operand(make_buffer, Q_LEN, problem.heads, problem.head_dim_v)
    lse = make_buffer(4 * BATCH * problem.heads * Q_LEN)
    args = LaunchArgs(struct_bytes=ctypes.sizeof(LaunchArgs), batch=BATCH, q_len=Q_LEN, k_len=K_LEN)
    args.q, args.k, args.v, args.o = q.view(), k.view(), v.view(), o.view()
    args.lse = View(lse.data, problem.heads * Q_LEN, Q_LEN, 1)
    needed = ctypes.c_int64()
    runtime.call("attn_query_workspace", package, ctypes.byref(args), ctypes.byref(needed))
    workspace = make_buffer(needed.value)
    workspace.write(bytes(needed.value))
    args.workspace, args.workspace_bytes = workspace.data, needed.value
    # Once for all launches with these lengths, params and tensors.
    runtime.call("attn_plan_size", package, ctypes.byref(args), ctypes.byref(needed))
    plan, plan_memory = ctypes.c_void_p(), make_buffer(needed.value)
    runtime.call("attn_plan_create", ctypes.byref(plan))
    runtime.call("attn_plan_build", package, ctypes.byref(args), plan, plan_memory.data, needed.value, None)
    args.plan = plan

    line = ctypes.create_string_buffer(512)
    runtime.call("attn_explain", package, ctypes.byref(args), line, len(line))
    print(f"{problem.name.decode()}: {line.value.decode()}")
    runtime.call("attn_launch", package, ctypes.byref(args), None)
    runtime.call("attn_device_synchronize", device)

    o.fetch()
    sums = array.array("f", lse.read())
    for b in range(BATCH):
        for h in range(q.heads):
            for i in range(Q_LEN):
                compare_row(q, k, v, o, sums[(b * q.heads + h) * Q_LEN + i], b, h, i)
    for buffer in buffers:
        buffer.read()  # its guard bands
        buffer.release()
    runtime.library.attn_plan_free(plan)
    print("PASS")


def main():
    if len(sys.argv) != 4:
        raise SystemExit("usage: launch.py LIBATTN_RUNTIME gpu|sim PACKAGE")
    runtime = Runtime(sys.argv[1])
    device, package = ctypes.c_void_p(), ctypes.c_void_p()
    runtime.call("attn_device_open", sys.argv[2].encode(), ctypes.byref(device))
    runtime.call("attn_package_load", sys.argv[3].encode(), ctypes.byref(package))
    runtime.call("attn_package_use", package, device)
    random.seed(0)
    launch(runtime, device, package)
    runtime.library.attn_package_free(package)
    runtime.library.attn_device_close(device)


if __name__ == "__main__":
    main()
