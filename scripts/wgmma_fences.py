# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which `wgmma.fence` of a PTX kernel can go, proven on its branches.

A fence orders what other instructions did with the registers of wgmmas before the
wgmmas behind it. It can go when, on every path to it, another fence comes first and
nothing behind that one touches a register that any wgmma of the kernel has.
"""

import re

from ptx_loops import control_flow

FENCE = re.compile(r"wgmma\.fence\.sync\.aligned\s*;")
WGMMA = re.compile(r"wgmma\.mma_async\b")
REGISTER = re.compile(r"%\w+")
FRAGMENT = re.compile(r"\{([^}]*)\}")  # accumulators, and A where it is in registers


def fences_to_spare(ptx):
    """The ordinals, from 1, of the fences that can go."""
    blocks, successors = control_flow(ptx)
    owned = set()
    for block in blocks:
        for text in block:
            if WGMMA.match(text):
                owned.update(REGISTER.findall(" ".join(FRAGMENT.findall(text))))

    def after(text, fenced):
        if FENCE.fullmatch(text):
            return True
        if WGMMA.match(text):
            return fenced
        return fenced and owned.isdisjoint(REGISTER.findall(text))

    # What holds at the start of each block, whichever way it was come to.
    starts, work = {0: False}, [0]
    while work:
        block = work.pop()
        fenced = starts[block]
        for text in blocks[block]:
            fenced = after(text, fenced)
        for successor in successors[block]:
            before = starts.get(successor)
            now = fenced if before is None else before and fenced
            if now != before:
                starts[successor] = now
                work.append(successor)
    spare, ordinal = set(), 0
    for number, block in enumerate(blocks):
        fenced = starts.get(number, True)
        for text in block:
            if FENCE.fullmatch(text):
                ordinal += 1
                if fenced:
                    spare.add(ordinal)
            fenced = after(text, fenced)
    return spare
