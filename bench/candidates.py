# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What side_by_side.py times: a package, and torch's attention on the same memory."""

import ctypes
import math

import torch
from attn_runtime import LaunchArgs, Param, Runtime, Tensor, View
from rules import Rules, as_f32, indices, is_constant, number

DTYPES = {
    "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "i32": torch.int32, "i64": torch.int64,
    "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
}  # fmt: skip


class Unsupported(Exception):
    """A candidate that cannot compute this; the text says why."""


# --- Where tensors lie ----------------------------------------------------------


class OnGpu:
    """torch's own memory and current stream."""

    name = "cuda"

    def __init__(self, runtime):
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # makes the primary context current

    def use(self, package):
        pass

    def address(self, tensor):
        return tensor.data_ptr()

    def stream(self):
        return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def fetch(self, tensor):
        pass

    def synchronize(self):
        torch.cuda.synchronize()


class OnSimulator:
    """Copies in the simulator's memory: for trying the script, not for timing."""

    name = "cpu"

    def __init__(self, runtime):
        self.runtime, self.device, self.copies = runtime, ctypes.c_void_p(), {}
        runtime.call("attn_device_open", b"sim", ctypes.byref(self.device))

    def use(self, package):
        self.runtime.call("attn_package_use", package, self.device)

    def address(self, tensor):
        size = max(tensor.numel(), 1) * tensor.element_size()
        if tensor.data_ptr() not in self.copies:
            address = ctypes.c_uint64()
            self.runtime.call("attn_device_allocate", self.device, size, ctypes.byref(address))
            # Kept with the tensor, so that no other takes its place.
            self.copies[tensor.data_ptr()] = (address.value, tensor)
        address = self.copies[tensor.data_ptr()][0]
        self.runtime.call("attn_device_write", self.device, address, tensor.data_ptr(), size)
        return address

    def stream(self):
        return None

    def fetch(self, tensor):
        size = tensor.numel() * tensor.element_size()
        self.runtime.call("attn_device_read", self.device, tensor.data_ptr(), self.copies[tensor.data_ptr()][0], size)

    def synchronize(self):
        self.runtime.call("attn_device_synchronize", self.device)


def view(place, tensor):
    """[batch, position, head, dim] as the library sees it."""
    stride_b, stride_s, stride_h, inner = tensor.stride()
    assert inner == 1
    return View(place.address(tensor), stride_b, stride_h, stride_s)


def truth(text):
    """A bool of a manifest or of the command line."""
    words = {"true": True, "1": True, "false": False, "0": False}
    if str(text).lower() not in words:
        raise Unsupported(f"'{text}': expected true or false")
    return words[str(text).lower()]


# --- A problem at one size ------------------------------------------------------


def fill_of(tensor, words):
    """The value given for a tensor, or what a benchmark may assume of it."""
    if tensor["name"] in words:
        return words[tensor["name"]]
    if tensor["type"] != "f32":
        raise Unsupported(f"tensor '{tensor['name']}' ({tensor['type']}): give it a value with --tensor")
    return "random"


class Shape:
    """A package's problem at one length, with its random inputs, params and tensors."""

    def __init__(self, problem, place, batch, length, options):
        self.problem, self.place, self.batch, self.length = problem, place, batch, length
        self.heads, self.kv_heads = problem["heads"], problem["kv_heads"]
        self.dqk, self.dv = problem["head_dim_qk"], problem["head_dim_v"]
        self.dtype = DTYPES[problem["dtype"]]
        self.generator = torch.Generator(device=place.name).manual_seed(options.seed)
        self.q = self.normal(self.heads, self.dqk)
        self.k = self.normal(self.kv_heads, self.dqk)
        self.v = self.normal(self.kv_heads, self.dv)
        self.params = {p["name"]: self.param(p, options.param) for p in problem["params"]}
        self.tensors = {t["name"]: self.tensor(t, fill_of(t, options.tensor)) for t in problem["tensors"]}

    def normal(self, heads, dim):
        size = (self.batch, self.length, heads, dim)
        return torch.randn(size, device=self.place.name, generator=self.generator).to(self.dtype)

    def param(self, declared, given):
        text = given.get(declared["name"], declared["default"])
        if declared["type"] == "bool":
            return truth(text)
        return as_f32(number(text)) if declared["type"] == "f32" else int(text)

    def tensor(self, declared, fill):
        sizes = {
            "batch": self.batch, "heads": self.heads, "kv_heads": self.kv_heads, "q_len": self.length,
            "k_len": self.length, "total_q": self.batch * self.length, "total_k": self.batch * self.length,
        }  # fmt: skip
        shape = [sizes[dim] if isinstance(dim, str) else dim for dim in declared["dims"]]
        dtype = DTYPES[declared["type"]]
        if fill == "random" and dtype.is_floating_point:
            return torch.rand(shape, device=self.place.name, generator=self.generator).to(dtype)
        if fill == "random":  # of other numbers it would be 0, of conditions true
            raise Unsupported(f"--tensor {declared['name']}=random: expected an f32, f16 or bf16, found {declared['type']}")
        if fill == "alibi":  # slopes 2^(-8 (h + 1) / heads) along the first axis
            slopes = 2.0 ** (-8.0 * (torch.arange(shape[0], device=self.place.name) + 1) / shape[0])
            return slopes.to(dtype).reshape([-1] + [1] * (len(shape) - 1)).expand(shape).contiguous()
        what, _, count = fill.partition(":")
        if what == "blocks":
            return self.blocks(shape, int(count)).to(dtype)
        if what in ("documents", "starts", "ends"):
            return self.packed(shape, what, int(count)).to(dtype)
        return torch.full(shape, float(fill), device=self.place.name).to(dtype)

    def packed(self, shape, what, count):
        """Of `count` documents of random lengths along the last axis: the number, the first
        position or the position behind the last one of each token's document."""
        length = shape[-1]
        cuts = torch.rand([*shape[:-1], count - 1], device=self.place.name, generator=self.generator)
        cuts = (cuts * length).long().sort(dim=-1).values
        tokens = torch.arange(length, device=self.place.name).expand(shape).contiguous()
        documents = torch.searchsorted(cuts, tokens, right=True)
        edge = torch.zeros_like(cuts[..., :1])
        if what == "starts":
            return torch.cat([edge, cuts], dim=-1).gather(-1, documents)
        if what == "ends":
            return torch.cat([cuts, edge + length], dim=-1).gather(-1, documents)
        return documents

    def blocks(self, shape, count):
        """BigBird's: of each block of queries, along the axis before the last, the first and the
        last block of keys, its own and the two beside it, and `count` others at random; the
        first and the last block of queries see all."""
        device = self.place.name
        queries, keys = (torch.arange(size, device=device) for size in shape[-2:])
        seen = (queries[:, None] - keys).abs() <= 1
        for ends in (seen, seen.T):
            ends[:, [0, -1]] = True
        drawn = torch.rand(shape, device=device, generator=self.generator).argsort(dim=-1)[..., :count]
        return seen.expand(shape).clone().scatter(-1, drawn, True)

    def scale(self):
        if self.problem["scale_param"]:
            return float(self.params[self.problem["scale_param"]])
        return self.problem["scale"] or 1 / math.sqrt(self.dqk)

    def rules(self, dtype):
        return Rules(self.problem, self.length, self.length, self.params, self.tensors, dtype)


# --- The product ----------------------------------------------------------------


class Product:
    name = "attn"

    def __init__(self, runtime, path, shape):
        self.runtime, self.shape, self.place = runtime, shape, shape.place
        self.package, self.plan, self.plan_bytes = ctypes.c_void_p(), ctypes.c_void_p(), 0
        runtime.call("attn_package_load", str(path).encode(), ctypes.byref(self.package))
        try:
            self.place.use(self.package)
            self.prepare()
        except RuntimeError:
            self.close()
            raise

    def prepare(self):
        shape, problem, device = self.shape, self.shape.problem, self.place.name
        poison = float("nan")
        self.o = torch.full(
            (shape.batch, shape.length, shape.heads, shape.dv), poison, device=device, dtype=DTYPES[problem["out"]]
        )
        self.lse = torch.full((shape.batch, shape.heads, shape.length), poison, device=device)
        self.args = self.arguments()
        needed = ctypes.c_int64()
        self.runtime.call("attn_query_workspace", self.package, ctypes.byref(self.args), ctypes.byref(needed))
        # Zeros, as a work counter in it wants.
        self.workspace = torch.zeros(max(needed.value, 1), device=device, dtype=torch.uint8)
        if needed.value:
            self.args.workspace = self.place.address(self.workspace)
            self.args.workspace_bytes = needed.value
        self.place.synchronize()
        self.runtime.call("attn_prepare", self.package, ctypes.byref(self.args))
        self.make_plan()

    def make_plan(self):
        """What all launches read, where the kernel needs that; it is not timed with them."""
        needed = ctypes.c_int64()
        self.runtime.call("attn_plan_size", self.package, ctypes.byref(self.args), ctypes.byref(needed))
        self.plan_bytes = needed.value
        if self.plan_bytes:
            self.plan_memory = torch.zeros(self.plan_bytes, device=self.place.name, dtype=torch.uint8)
            self.runtime.call("attn_plan_create", ctypes.byref(self.plan))
            self.build_plan()
            self.args.plan = self.plan

    def build_plan(self):
        memory = self.place.address(self.plan_memory)
        self.runtime.call(
            "attn_plan_build", self.package, ctypes.byref(self.args), self.plan, memory, self.plan_bytes, self.place.stream()
        )

    def arguments(self):
        shape, args = self.shape, LaunchArgs()
        args.struct_bytes = ctypes.sizeof(LaunchArgs)
        args.batch, args.q_len, args.k_len = shape.batch, shape.length, shape.length
        args.q, args.k, args.v = (view(self.place, x) for x in (shape.q, shape.k, shape.v))
        if shape.problem["output_o"]:
            args.o = view(self.place, self.o)
        if shape.problem["output_lse"]:
            args.lse = View(self.place.address(self.lse), *self.lse.stride())
        self.params = (Param * len(shape.params))()
        for slot, (name, value) in zip(self.params, shape.params.items()):
            slot.name, slot.is_float = name.encode(), isinstance(value, float)
            if slot.is_float:
                slot.float_value = value
            else:
                slot.int_value = value
        self.tensors = (Tensor * len(shape.tensors))()
        for slot, (name, tensor) in zip(self.tensors, shape.tensors.items()):
            slot.name, slot.data, slot.elements = name.encode(), self.place.address(tensor), tensor.numel()
        args.params, args.param_count = self.params, len(self.params)
        args.tensors, args.tensor_count = self.tensors, len(self.tensors)
        return args

    def explain(self):
        text = ctypes.create_string_buffer(512)
        self.runtime.call("attn_explain", self.package, ctypes.byref(self.args), text, len(text))
        return text.value.decode(errors="replace")

    def run(self):
        self.runtime.call("attn_launch", self.package, ctypes.byref(self.args), self.place.stream())
        return self.o

    def fetch(self):
        for output, present in ((self.o, "output_o"), (self.lse, "output_lse")):
            if self.shape.problem[present]:
                self.place.fetch(output)

    def close(self):
        self.place.synchronize()
        self.runtime.library.attn_plan_free(self.plan)
        self.runtime.library.attn_package_free(self.package)


# --- Its peers ------------------------------------------------------------------


class Sdpa:
    """scaled_dot_product_attention with one back end."""

    def __init__(self, name, backend, shape, variant):
        if variant not in ("full", "causal"):
            raise Unsupported("it has neither masks nor scores of a user")
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
        except ImportError as error:
            raise Unsupported(f"this torch has no choice of back ends ({error})") from None
        self.name, self.causal, self.scale = name, variant == "causal", shape.scale()
        self.kernel, self.backend = sdpa_kernel, getattr(SDPBackend, backend)
        # The same memory; torch names the axes [batch, head, position, dim].
        self.q, self.k, self.v = (x.transpose(1, 2) for x in (shape.q, shape.k, shape.v))
        self.grouped = {"enable_gqa": True} if shape.heads != shape.kv_heads else {}

    def run(self):
        with self.kernel(self.backend):
            o = torch.nn.functional.scaled_dot_product_attention(
                self.q, self.k, self.v, is_causal=self.causal, scale=self.scale, **self.grouped
            )
        return o.transpose(1, 2)


class Flex:
    """FlexAttention with the package's own mask and score."""

    name = "Flex"

    def __init__(self, shape):
        problem = shape.problem
        if problem["sink"]:
            raise Unsupported("it has no sinks")
        try:
            from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        except ImportError as error:
            raise Unsupported(f"this torch has no FlexAttention ({error})") from None
        rules = shape.rules(torch.float32)
        options = {"scale": shape.scale()}
        if shape.heads != shape.kv_heads:
            options["enable_gqa"] = True
        if problem["score"]:
            options["score_mod"] = rules.function("score", ["score", "b", "h", "q_idx", "kv_idx"])
        if not is_constant(problem["mask"], True):
            used = indices(problem["mask"])
            options["block_mask"] = create_block_mask(
                rules.function("mask", ["b", "h", "q_idx", "kv_idx"]),
                shape.batch if "b" in used else None,
                shape.heads if used & {"h", "g"} else None,
                shape.length,
                shape.length,
                device=shape.place.name,
            )
        # One compilation for each shape, as its users do for speed.
        torch._dynamo.reset()
        self.compiled, self.options = torch.compile(flex_attention, dynamic=False), options
        self.q, self.k, self.v = (x.transpose(1, 2) for x in (shape.q, shape.k, shape.v))

    def run(self):
        return self.compiled(self.q, self.k, self.v, **self.options).transpose(1, 2)


PEERS = {
    "FA2": lambda shape, variant: Sdpa("FA2", "FLASH_ATTENTION", shape, variant),
    "cuDNN": lambda shape, variant: Sdpa("cuDNN", "CUDNN_ATTENTION", shape, variant),
    "Flex": lambda shape, variant: Flex(shape),
}


def default_peers(variant):
    return ["FA2", "cuDNN"] if variant in ("full", "causal") else ["Flex"]


def open_library(path):
    return Runtime(path)
