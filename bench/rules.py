# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks, scores and sinks of a package's manifest as functions on torch tensors.

A rule in a manifest is a list of nodes, operands before their users, the root last
(docs/SpecLanguage.md says what they mean). Here it becomes the text of a Python
function, one line for each node, which FlexAttention's compiler reads as well as one
written by hand.
"""

import linecache
import math
import struct

import torch


def number(value):
    """A float of a manifest: a number, or "inf", "-inf", "nan"."""
    return float(value)


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0] if math.isfinite(value) else value


def indices(nodes):
    """Names of the index variables that a rule uses."""
    return {node["name"] for node in nodes or [] if node["op"] == "index"}


def is_constant(nodes, value):
    return not nodes or (len(nodes) == 1 and nodes[0]["op"] == "bool" and bool(nodes[0]["value"]) == value)


# --- What has no operator that works on tensors and on Python's numbers alike ----


def real(x, dtype):
    return x.to(dtype) if isinstance(x, torch.Tensor) else float(x)


def apply(function, x):
    if isinstance(x, torch.Tensor):
        return function(x)
    return float(function(torch.tensor(x, dtype=torch.float64)))


def negate(x):
    return torch.logical_not(x) if isinstance(x, torch.Tensor) else not x


def smaller(x, y):
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        return torch.minimum(x, y)
    if isinstance(x, torch.Tensor):
        return torch.clamp(x, max=y)
    return torch.clamp(y, max=x) if isinstance(y, torch.Tensor) else min(x, y)


def larger(x, y):
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        return torch.maximum(x, y)
    if isinstance(x, torch.Tensor):
        return torch.clamp(x, min=y)
    return torch.clamp(y, min=x) if isinstance(y, torch.Tensor) else max(x, y)


def select(condition, x, y):
    if not isinstance(condition, torch.Tensor):
        return x if condition else y
    return torch.where(condition, x, y)


def floor_remainder(x, y):
    """Of ints; by 0 it is 0."""
    if isinstance(y, torch.Tensor):
        return torch.where(y == 0, 0, x % torch.where(y == 0, 1, y))
    return x % y if y != 0 else 0


def floor_quotient(x, y):
    """Of ints; by 0 it is 0."""
    if isinstance(y, torch.Tensor):
        divisor = torch.where(y == 0, 1, y)
        return torch.where(y == 0, 0, (x - x % divisor) // divisor)
    return (x - x % y) // y if y != 0 else 0


def inside(at, size):
    return torch.clamp(at, 0, size - 1) if isinstance(at, torch.Tensor) else min(max(at, 0), size - 1)


HELPERS = (torch, real, apply, negate, smaller, larger, select, floor_remainder, floor_quotient, inside)

# --- Text -------------------------------------------------------------------------

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and": "&", "or": "|",
}  # fmt: skip
FUNCTIONS = {"exp", "exp2", "log", "log2", "tanh", "sigmoid", "sqrt"}


def literal(value):
    """A float as Python text."""
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def node_text(node, params, indexed):
    """The right-hand side of a node's line; `indexed` spells the index of a read."""
    operands = [f"n{at}" for at in node.get("args", [])]
    op = node["op"]
    if op in ("int", "bool"):
        return repr(bool(node["value"]) if op == "bool" else node["value"])
    if op == "float":
        return literal(as_f32(number(node["value"])))
    if op == "index":
        return node["name"]
    if op == "param":
        value = params[node["name"]]
        return literal(value) if isinstance(value, float) else repr(value)
    if op == "read":
        return f"tensor_{node['name']}[{indexed(node)}]"
    if op in BINARY:
        return f"{operands[0]} {BINARY[op]} {operands[1]}"
    if op == "div" and node["type"] == "float":
        return f"{operands[0]} / {operands[1]}"
    if op in ("div", "mod"):
        return f"{'floor_remainder' if op == 'mod' else 'floor_quotient'}({operands[0]}, {operands[1]})"
    if op in FUNCTIONS:
        return f"apply(torch.{op}, {operands[0]})"
    if op == "to_float":
        return f"real({operands[0]}, dtype)"
    calls = {"neg": "-", "abs": "abs", "not": "negate", "select": "select", "min": "smaller", "max": "larger"}
    return f"{calls[op]}({', '.join(operands)})"


class Rules:
    """The rules of a problem for one pair of lengths.

    `dtype` is the torch type of floats; `params` and `tensors` hold a value for each
    name that the problem declares.
    """

    def __init__(self, problem, q_len, k_len, params, tensors, dtype):
        self.problem, self.q_len, self.k_len = problem, q_len, k_len
        self.params, self.dtype = params, dtype
        self.tensors = {name: self.widened(tensor) for name, tensor in tensors.items()}

    def widened(self, tensor):
        """As a rule computes with it. A condition stays one: `~` of the number 1 is not 0."""
        if tensor.dtype == torch.bool:
            return tensor
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor.long()

    def indexed(self, nodes, node):
        """The index of a read, kept inside where it might not be: what FlexAttention
        compiles should hold no more than a user would write."""
        extents = {"h": self.problem["heads"], "g": self.problem["kv_heads"]}
        texts = []
        for at, size in zip(node["args"], self.tensors[node["name"]].shape):
            safe = nodes[at]["op"] == "index" and extents.get(nodes[at]["name"], size + 1) <= size
            texts.append(f"n{at}" if safe else f"inside(n{at}, {size})")
        return ", ".join(texts)

    def function(self, rule, parameters):
        """Rule "mask", "score" or "sink" as a function of `parameters`, named as
        FlexAttention names them: score, b, h, q_idx, kv_idx."""
        nodes = self.problem[rule]
        group = self.problem["heads"] // self.problem["kv_heads"]
        shift = self.k_len - self.q_len if self.problem["align"] == "bottom_right" else 0
        # Only what the rule uses: a line that nothing needs may still cost.
        spelled = {
            "s": "score", "b": "b", "h": "h", "g": f"h // {group}", "i": "q_idx", "k": "kv_idx",
            "q": f"q_idx + {shift}" if shift else "q_idx", "q_len": str(self.q_len), "k_len": str(self.k_len),
        }  # fmt: skip
        lines = [f"    {name} = {spelled[name]}" for name in sorted(indices(nodes)) if spelled[name] != name]
        for at, node in enumerate(nodes):
            lines.append(f"    n{at} = {node_text(node, self.params, lambda read: self.indexed(nodes, read))}")
        body = "\n    ".join(lines + [f"    return n{len(nodes) - 1}"])
        # Tensors are variables of the function around it, as FlexAttention wants them.
        captured = {f"tensor_{name}": tensor for name, tensor in self.tensors.items()}
        text = (
            f"def make({', '.join(['dtype', *captured])}):\n    def {rule}({', '.join(parameters)}):\n    {body}\n    return {rule}\n"
        )
        file = f"{self.problem['name']}_{rule}.py"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope = {helper.__name__: helper for helper in HELPERS}
        exec(compile(text, file, "exec"), scope)
        return scope["make"](self.dtype, **captured)
