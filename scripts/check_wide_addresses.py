#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of 5 to 10 GB, whose strides and offsets pass 2^31, against dense ones: equal bits.

scripts/check_wide_addresses.py build/tools/attn-opt/attn-opt build/lib/Runtime/libattn_runtime.so

On the simulator, whose memory is sparse: only the rows themselves are ever touched,
and an address that lost its upper half hits nothing. Each axis in turn is the wide one. A
stride that no tensor map has must take the kernel of the package that needs none.
"""

import argparse
import array
import ctypes
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import attn_runtime  # noqa: E402

BATCH, HEADS, DIM, Q_LEN, K_LEN = 2, 2, 64, 70, 200
BYTES = 2  # of an element
SPEC = """import "std"
attention wide {{
  dtype bf16
  heads {heads}
  head_dim {dim}
  schedule {schedule}
  mask causal
}}
"""
# (target, schedule, the alternative that needs no tensor map)
KERNELS = [
    ("sm_80", "auto", None),
    ("sm_90a", "auto", "cp_async"),
    ("sm_90a", "fa3 (store = tma)", "cp_async"),
    ("sm_90a", "fa2 (store = tma)", "direct"),  # a map of o alone
]


@dataclass
class Layout:
    """Strides in elements for tensors of `positions`."""

    name: str
    stride_b: int
    stride_h: int
    stride_s: int

    def place(self, b, h, s):
        return BYTES * (b * self.stride_b + h * self.stride_h + s * self.stride_s)

    def bytes(self, positions):
        return self.place(BATCH - 1, HEADS - 1, positions - 1) + BYTES * DIM


def layouts(positions):
    """The dense layout, and one for each axis that is wide."""
    wide = 5 * 2**30 // BYTES  # elements
    terabyte = 2**40 // BYTES
    row, head = DIM, positions * DIM
    return {
        "dense": Layout("dense", HEADS * head, head, row),
        "batch": Layout("batch", wide, head, row),
        "head": Layout("head", HEADS * wide // 2, wide // 2, row),
        # Sequences of 10 GB: offsets beyond 2^32, strides above 2^24.
        "position": Layout("position", HEADS * row, row, 2 * wide // positions // 8 * 8),
        # No tensor map has such a stride.
        "terabyte": Layout("terabyte", terabyte, head, row),
    }


class Simulator:
    def __init__(self, library):
        self.runtime = attn_runtime.Runtime(library)
        self.device = ctypes.c_void_p()
        self.runtime.call("attn_device_open", b"sim", ctypes.byref(self.device))

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.runtime.call("attn_device_allocate", self.device, size, ctypes.byref(address))
        return address.value

    def write(self, address, data):
        self.runtime.call("attn_device_write", self.device, address, data, len(data))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.runtime.call("attn_device_read", self.device, data, address, size)
        return data.raw

    def explain(self, package, args):
        """Which kernel these arguments choose, and why."""
        text = ctypes.create_string_buffer(1000)
        self.runtime.call("attn_explain", package, ctypes.byref(args), text, len(text))
        return text.value.decode()

    def package(self, path):
        package = ctypes.c_void_p()
        self.runtime.call("attn_package_load", str(path).encode(), ctypes.byref(package))
        self.runtime.call("attn_package_use", package, self.device)
        return package


def rows(seed, positions):
    """{(b, h, s): the bytes of a row of bf16}."""
    source = random.Random(seed)

    def row():
        words = array.array("I", array.array("f", (source.gauss(0, 1) for _ in range(DIM))).tobytes())
        return struct.pack(f"<{DIM}H", *(word >> 16 for word in words))

    return {(b, h, s): row() for b in range(BATCH) for h in range(HEADS) for s in range(positions)}


def run(simulator, package, name):
    """The kernel, and the bytes of o and lse, with tensors of layout `name`."""
    args = attn_runtime.LaunchArgs(batch=BATCH, q_len=Q_LEN, k_len=K_LEN)
    args.struct_bytes = ctypes.sizeof(args)
    addresses = []

    def view(positions, contents=None):
        layout = layouts(positions)[name]
        base = simulator.allocate(layout.bytes(positions))
        addresses.append(base)
        for place, data in (contents or {}).items():
            simulator.write(base + layout.place(*place), data)
        return attn_runtime.View(base, layout.stride_b, layout.stride_h, layout.stride_s)

    args.q = view(Q_LEN, rows(1, Q_LEN))
    args.k = view(K_LEN, rows(2, K_LEN))
    args.v = view(K_LEN, rows(3, K_LEN))
    args.o = view(Q_LEN)
    lse_bytes = 4 * BATCH * HEADS * Q_LEN
    lse = simulator.allocate(lse_bytes)
    args.lse = attn_runtime.View(lse, HEADS * Q_LEN, Q_LEN, 1)
    size = ctypes.c_int64()
    simulator.runtime.call("attn_query_workspace", package, ctypes.byref(args), ctypes.byref(size))
    if size.value:
        args.workspace_bytes = size.value
        args.workspace = simulator.allocate(size.value)
        addresses.append(args.workspace)
        simulator.write(args.workspace, bytes(size.value))
    kernel = simulator.explain(package, args)
    simulator.runtime.call("attn_launch", package, ctypes.byref(args), None)
    simulator.runtime.call("attn_device_synchronize", simulator.device)
    layout = layouts(Q_LEN)[name]
    o = b"".join(simulator.read(args.o.data + layout.place(*place), BYTES * DIM) for place in rows(1, Q_LEN))
    result = o, simulator.read(lse, lse_bytes)
    for address in [*addresses, lse]:
        simulator.runtime.call("attn_device_release", simulator.device, address)
    return kernel, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attn_opt")
    parser.add_argument("library", help="libattn_runtime.so")
    parser.add_argument("--targets", nargs="+", default=["sm_80", "sm_90a"])
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        spec = pathlib.Path(work) / "wide.attn"
        for target, schedule, fallback in KERNELS:
            if target not in options.targets:
                continue
            spec.write_text(SPEC.format(heads=HEADS, dim=DIM, schedule=schedule))
            command = [options.attn_opt, spec, "--emit=package", f"--target={target}"]
            path = pathlib.Path(work) / f"{target}.pkg"
            subprocess.run([*command, "-o", path], check=True)
            # Each has room for a few tensors of a terabyte.
            simulator = Simulator(options.library)
            package = simulator.package(path)
            kernel, dense = run(simulator, package, "dense")
            if not any(dense[0]):
                sys.exit(f"{target}: o is all 0")
            for name in ("batch", "head", "position", "terabyte"):
                chosen, wide = run(simulator, package, name)
                # Another kernel may add up in another order; so far none does.
                same = wide == dense
                expected = name == "terabyte" and fallback is not None
                fell_back = chosen.startswith(f"wide_{fallback} (") and "2^40" in chosen
                failed += not same or fell_back != expected or (not expected and chosen != kernel)
                size = layouts(K_LEN)[name].bytes(K_LEN) / 2**30
                print(f"{target}, {schedule}, wide {name} stride, K of {size:.1f} GiB: {'equal bits' if same else 'DIFFERENT'}, {chosen}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
