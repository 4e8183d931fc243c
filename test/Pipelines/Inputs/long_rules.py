# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""long_rules.py KIND COUNT: a specification whose rule is a balanced tree of COUNT terms."""

import sys

TERMS = {
    "keys": ("mask", "&&", lambda i: f"k != {2 * i + 1}"),
    "bands": ("mask", "||", lambda i: f"(k <= q - {7 * i} && k >= q - {7 * i + 3})"),
    "remainders": ("mask", "||", lambda i: f"((q * {i + 3} + k) % {i + 7} == {i % 5})"),
    "waves": ("score", "+", lambda i: f"0.01 * tanh(s * {1 + i / 100:.2f})"),
    "reads": ("score", "+", lambda i: f"t[h, abs(q - k + {i}) % 1024]"),
}
rule, operator, term = TERMS[sys.argv[1]]
terms = [term(i) for i in range(int(sys.argv[2]))]
while len(terms) > 1:
    terms = ["(" + f" {operator} ".join(terms[i : i + 2]) + ")" for i in range(0, len(terms), 2)]
print("attention long {\n  dtype bf16\n  heads 4\n  head_dim 128\n  tensor t : f32[heads, 1024]")
print(f"  {rule} {'s + ' if rule == 'score' else ''}{terms[0]}\n}}")
