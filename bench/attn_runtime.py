# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libattn_runtime through ctypes: include/attn/Runtime/attn_runtime.h.

The library checks `struct_bytes`, so a structure here that no longer matches
the header is refused at the first call.
"""

import ctypes
import pathlib


class View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_uint64),
        ("stride_b", ctypes.c_int64),
        ("stride_h", ctypes.c_int64),
        ("stride_s", ctypes.c_int64),
    ]


class Param(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("is_float", ctypes.c_int32),
        ("int_value", ctypes.c_int64),
        ("float_value", ctypes.c_double),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_uint64),
        ("elements", ctypes.c_int64),
    ]


class LaunchArgs(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("q_len", ctypes.c_int64),
        ("k_len", ctypes.c_int64),
        ("q", View),
        ("k", View),
        ("v", View),
        ("o", View),
        ("lse", View),
        ("q_lens", ctypes.c_uint64),
        ("k_lens", ctypes.c_uint64),
        ("cu_seqlens_q", ctypes.c_uint64),
        ("cu_seqlens_k", ctypes.c_uint64),
        ("total_q", ctypes.c_int64),
        ("total_k", ctypes.c_int64),
        ("workspace", ctypes.c_uint64),
        ("workspace_bytes", ctypes.c_int64),
        ("params", ctypes.POINTER(Param)),
        ("param_count", ctypes.c_int64),
        ("tensors", ctypes.POINTER(Tensor)),
        ("tensor_count", ctypes.c_int64),
        ("grid", ctypes.c_int64),
        ("plan", ctypes.c_void_p),
    ]


class Problem(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_int64),
        ("name", ctypes.c_char_p),
        ("heads", ctypes.c_int64),
        ("kv_heads", ctypes.c_int64),
        ("head_dim_qk", ctypes.c_int64),
        ("head_dim_v", ctypes.c_int64),
        ("q_type", ctypes.c_int32),
        ("kv_type", ctypes.c_int32),
        ("o_type", ctypes.c_int32),
        ("has_o", ctypes.c_int32),
        ("has_lse", ctypes.c_int32),
    ]


BF16, F16, F32, E4M3, E5M2 = range(5)


class Runtime:
    """The library's functions with their types; errors become exceptions."""

    def __init__(self, path):
        # Absolute: dlopen looks a bare name up in the system's folders.
        self.library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        package, device, plan, args = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(LaunchArgs)
        address, pointer, size = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64
        signatures = {
            "attn_package_load": [ctypes.c_char_p, ctypes.POINTER(package)],
            "attn_package_parse": [ctypes.c_char_p, size, ctypes.POINTER(package)],
            "attn_package_use": [package, device],
            "attn_query_problem": [package, ctypes.POINTER(Problem)],
            "attn_query_workspace": [package, args, ctypes.POINTER(size)],
            "attn_prepare": [package, args],
            "attn_launch": [package, args, ctypes.c_void_p],
            "attn_explain": [package, args, ctypes.c_char_p, size],
            "attn_plan_size": [package, args, ctypes.POINTER(size)],
            "attn_plan_create": [ctypes.POINTER(plan)],
            "attn_plan_build": [package, args, plan, address, size, ctypes.c_void_p],
            "attn_plan_invalidate": [plan],
            "attn_device_open": [ctypes.c_char_p, ctypes.POINTER(device)],
            "attn_device_allocate": [device, size, ctypes.POINTER(address)],
            "attn_device_release": [device, address],
            "attn_device_write": [device, address, pointer, size],
            "attn_device_read": [device, pointer, address, size],
            "attn_device_synchronize": [device],
        }
        for name, types in signatures.items():
            getattr(self.library, name).argtypes = types
            getattr(self.library, name).restype = ctypes.c_int
        for name, handle in (("attn_package_free", package), ("attn_plan_free", plan), ("attn_device_close", device)):
            getattr(self.library, name).argtypes = [handle]
            getattr(self.library, name).restype = None
        self.library.attn_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            message = self.library.attn_last_error().decode(errors="replace")
            raise RuntimeError(f"{name}: {message}")
