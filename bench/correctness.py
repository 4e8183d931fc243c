# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a problem computes, from its rules: which pairs are visible, and rows in fp64."""

import torch
from rules import indices, is_constant

# docs/Numerics.md, section 2.
TOLERANCE = {"bf16": 4e-3, "f16": 1e-3}
LSE_TOLERANCE = 1e-3
SAMPLED_ROWS = 64


class Visibility:
    """Every pair of the mask, in slices of rows: how many are visible, and whether the
    mask is one that torch has a name for."""

    def __init__(self, shape):
        mask, length = shape.problem["mask"], shape.length
        if is_constant(mask, True):
            self.pairs, self.full, self.causal = float(shape.batch * shape.heads) * length**2, True, False
            return
        visible = shape.rules(torch.float64).function("mask", ["b", "h", "q_idx", "kv_idx"])
        used = indices(mask)
        entries = range(shape.batch if "b" in used else 1)
        heads = range(shape.heads if used & {"h", "g"} else 1)
        self.pairs, self.full, self.causal = 0.0, True, True
        k = torch.arange(length, device=shape.place.name)[None]
        for b in entries:
            for h in heads:
                for first in range(0, length, 1024):
                    q = torch.arange(first, min(first + 1024, length), device=shape.place.name)[:, None]
                    rows = torch.as_tensor(visible(b, h, q, k), device=shape.place.name)
                    rows = rows.expand(q.shape[0], length)
                    self.pairs += float(rows.sum())
                    self.full = self.full and bool(rows.all())
                    self.causal = self.causal and bool((rows == (k <= q)).all())
        self.pairs *= shape.batch / len(entries) * shape.heads / len(heads)


def variant_of(problem, visibility):
    """"full" or "causal" when torch has the same under that name, else "own"."""
    if problem["score"] or problem["sink"] or not problem["output_o"]:
        return "own"
    return "full" if visibility.full else "causal" if visibility.causal else "own"


class Judge:
    """Sampled rows of the first, a middle and the last head against fp64."""

    def __init__(self, shape):
        self.shape = shape
        device = shape.place.name
        rows = torch.linspace(0, shape.length - 1, min(SAMPLED_ROWS, shape.length), device=device)
        self.rows = rows.long().unique()
        rules = shape.rules(torch.float64)
        arguments = ["b", "h", "q_idx", "kv_idx"]
        problem = shape.problem
        self.mask = None if is_constant(problem["mask"], True) else rules.function("mask", arguments)
        self.score = rules.function("score", ["score"] + arguments) if problem["score"] else None
        self.sink = rules.function("sink", ["b", "h"]) if problem["sink"] else None
        self.references = {}
        for b in sorted({0, shape.batch - 1}):
            for h in sorted({0, shape.heads // 2, shape.heads - 1}):
                self.references[b, h] = self.reference(b, h)

    def reference(self, b, h):
        """o, its bound on |error|, and lse."""
        shape = self.shape
        g = h // (shape.heads // shape.kv_heads)
        q, k, v = shape.q[b, self.rows, h].double(), shape.k[b, :, g].double(), shape.v[b, :, g].double()
        q_idx = self.rows[:, None]
        kv_idx = torch.arange(shape.length, device=q.device)[None]
        at = [torch.tensor(b, device=q.device), torch.tensor(h, device=q.device), q_idx, kv_idx]
        logits = q @ k.T * shape.scale()
        if self.score:
            logits = self.score(logits, *at).expand_as(logits)
        visible = torch.ones_like(logits, dtype=torch.bool)
        if self.mask:
            visible = torch.as_tensor(self.mask(*at), device=q.device).expand_as(logits)
            logits = logits.masked_fill(~visible, -torch.inf)
        lse = torch.logsumexp(logits, -1)
        if self.sink:
            lse = torch.logaddexp(lse, torch.as_tensor(self.sink(*at[:2]), device=q.device, dtype=lse.dtype))
        weights = torch.exp(logits - lse[:, None]).nan_to_num(0.0)  # rows that see nothing
        o = weights @ v
        largest = torch.stack([v[row].abs().max() if row.any() else v.new_zeros(()) for row in visible])
        # Half an ulp of the output, and tol * max|V| over what the row sees.
        eps = {"bf16": torch.finfo(torch.bfloat16).eps, "f16": torch.finfo(torch.float16).eps, "f32": 0.0}[shape.problem["out"]]
        bound = eps / 2 * o.abs() + TOLERANCE[shape.problem["dtype"]] * largest[:, None]
        return o, bound, lse

    def worst_error(self, o, lse=None):
        """Largest |error| over its bound; more than 1, or NaN, is wrong."""
        worst = 0.0
        for (b, h), (expected, bound, expected_lse) in self.references.items():
            error = (o[b, self.rows, h].double() - expected).abs()
            # Where nothing is allowed, only nothing is right.
            ratio = torch.where(error > 0, error / bound.clamp(min=1e-300), error)
            worst = max(worst, self.largest(ratio))
            if lse is not None:
                got = lse[b, h, self.rows].double()
                same = got == expected_lse  # infinities
                error = torch.where(same, torch.zeros_like(got), (got - expected_lse).abs() / LSE_TOLERANCE)
                worst = max(worst, self.largest(error))
        return worst

    @staticmethod
    def largest(errors):
        return float("inf") if errors.isnan().any() else float(errors.max())
