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
        ("workspace", ctypes.c_uint64),
        ("workspace_bytes", ctypes.c_int64),
        ("params", ctypes.POINTER(Param)),
        ("param_count", ctypes.c_int64),
        ("tensors", ctypes.POINTER(Tensor)),
        ("tensor_count", ctypes.c_int64),
        ("grid", ctypes.c_int64),
    ]


class Runtime:
    """The library's functions with their types; errors become exceptions."""

    def __init__(self, path):
        # Absolute: dlopen looks a bare name up in the system's folders.
        self.library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        package, args = ctypes.c_void_p, ctypes.POINTER(LaunchArgs)
        signatures = {
            "attn_package_load": [ctypes.c_char_p, ctypes.POINTER(package)],
            "attn_query_workspace": [package, args, ctypes.POINTER(ctypes.c_int64)],
            "attn_prepare": [package, args],
            "attn_launch": [package, args, ctypes.c_void_p],
            "attn_explain": [package, args, ctypes.c_char_p, ctypes.c_int64],
        }
        for name, types in signatures.items():
            getattr(self.library, name).argtypes = types
            getattr(self.library, name).restype = ctypes.c_int
        self.library.attn_package_free.argtypes = [package]
        self.library.attn_package_free.restype = None
        self.library.attn_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            message = self.library.attn_last_error().decode(errors="replace")
            raise RuntimeError(f"{name}: {message}")
