# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python binding of bench/ against the library: ctypes_test.py BENCH LIBRARY.

Needs no GPU: a launch gets as far as looking for the driver, past the check of
the structure's size.
"""

import ctypes
import sys
import unittest

bench, library = sys.argv[1:3]
sys.path.insert(0, bench)
import attn_runtime  # noqa: E402


class Binding(unittest.TestCase):
    def setUp(self):
        self.runtime = attn_runtime.Runtime(library)
        self.args = attn_runtime.LaunchArgs()
        self.args.struct_bytes = ctypes.sizeof(self.args)

    def message(self, name, *arguments):
        with self.assertRaises(RuntimeError) as caught:
            self.runtime.call(name, *arguments)
        return str(caught.exception)

    def test_structure_matches_the_header(self):
        # The package is looked at after the arguments' size and arrays.
        message = self.message("attn_launch", None, ctypes.byref(self.args), None)
        self.assertEqual(message, "attn_launch: package: null pointer")

    def test_problem_matches_the_header(self):
        problem = attn_runtime.Problem(struct_bytes=ctypes.sizeof(attn_runtime.Problem))
        message = self.message("attn_query_problem", None, ctypes.byref(problem))
        self.assertEqual(message, "attn_query_problem: package: null pointer")

    def test_devices(self):
        device, address = ctypes.c_void_p(), ctypes.c_uint64()
        message = self.message("attn_device_open", b"tpu", ctypes.byref(device))
        self.assertEqual(message, "attn_device_open: device 'tpu': expected gpu, gpu:N or sim")
        self.runtime.call("attn_device_open", b"sim", ctypes.byref(device))
        self.runtime.call("attn_device_allocate", device, 4, ctypes.byref(address))
        self.runtime.call("attn_device_write", device, address, b"abcd", 4)
        back = ctypes.create_string_buffer(4)
        self.runtime.call("attn_device_read", device, back, address, 4)
        self.assertEqual(back.raw, b"abcd")
        message = self.message("attn_device_read", device, back, address.value + 1, 4)
        self.assertIn("4-byte allocation", message)
        self.runtime.call("attn_device_release", device, address)
        self.runtime.library.attn_device_close(device)

    def test_plans(self):
        plan, size = ctypes.c_void_p(), ctypes.c_int64()
        self.runtime.call("attn_plan_create", ctypes.byref(plan))
        self.assertIsNotNone(plan.value)
        self.runtime.call("attn_plan_invalidate", plan)
        message = self.message("attn_plan_build", None, ctypes.byref(self.args), plan, 0, 0, None)
        self.assertEqual(message, "attn_plan_build: package: null pointer")
        message = self.message("attn_plan_size", None, ctypes.byref(self.args), ctypes.byref(size))
        self.assertEqual(message, "attn_plan_size: package: null pointer")
        self.runtime.library.attn_plan_free(plan)
        self.runtime.library.attn_plan_free(None)

    def test_another_size_is_refused(self):
        self.args.struct_bytes -= 8
        message = self.message("attn_launch", None, ctypes.byref(self.args), None)
        self.assertIn("header and library differ", message)

    def test_arrays_are_read_where_they_are_written(self):
        params = (attn_runtime.Param * 1)()
        self.args.params, self.args.param_count = params, 1
        message = self.message("attn_launch", None, ctypes.byref(self.args), None)
        self.assertEqual(message, "attn_launch: name of a param: null pointer")
        params[0].name = b"left"
        tensors = (attn_runtime.Tensor * 1)()
        self.args.tensors, self.args.tensor_count = tensors, 1
        message = self.message("attn_launch", None, ctypes.byref(self.args), None)
        self.assertEqual(message, "attn_launch: name of a tensor: null pointer")

    def test_missing_package(self):
        package = ctypes.c_void_p()
        message = self.message("attn_package_load", b"/no/such/file", ctypes.byref(package))
        self.assertEqual(message, "attn_package_load: /no/such/file: cannot read the file")
        self.assertIsNone(package.value)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
