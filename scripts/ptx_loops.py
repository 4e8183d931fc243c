# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The innermost loops of a PTX kernel, found from its branches."""

import re

LABEL = re.compile(r"(\$\w+):")
BRANCH = re.compile(r"(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$\w+)\s*;")
POLL = re.compile(r"\b(mbarrier\.(try|test)_wait)\b")
LEAVES = re.compile(r"(?:ret|exit|trap)\s*;")


def statements(ptx):
    """Labels and instructions of the first entry; an instruction may take lines."""
    lines = iter(ptx[ptx.index(".entry") :].splitlines())
    for line in lines:
        if line.strip() == "{":
            break
    text, scopes = "", 1
    for line in lines:
        line = line.split("//", 1)[0].strip()
        # Inline assembly has scopes of its own.
        if not text and line in ("{", "}"):
            scopes += 1 if line == "{" else -1
            if scopes == 0:
                return
            continue
        if not line or line.startswith("."):
            continue
        text = f"{text} {line}".strip()
        if text.endswith((";", ":")):
            yield text
            text = ""


def control_flow(ptx):
    """(blocks, successors): lists of instructions, and where each block goes on."""
    blocks, starts, branches = [[]], {}, {}
    for text in statements(ptx):
        if label := LABEL.fullmatch(text):
            blocks.append([])
            starts[label.group(1)] = len(blocks) - 1
            continue
        blocks[-1].append(text)
        branch = BRANCH.fullmatch(text)
        if branch or LEAVES.fullmatch(text):
            target = branch.group(2) if branch else None
            branches[len(blocks) - 1] = (target, bool(branch and branch.group(1)))
            blocks.append([])
    successors = []
    for block in range(len(blocks)):
        target, goes_on = branches.get(block, (None, True))
        after = [starts[target]] if target else []
        # A wait that asks again and again is no loop of the program.
        if after == [block] and any(POLL.search(text) for text in blocks[block]):
            after = []
        successors.append(after + [block + 1] if goes_on and block + 1 < len(blocks) else after)
    return blocks, successors


def reachable(start, successors, inside):
    """Blocks of `inside` that some path of at least one step from `start` meets."""
    seen, work = set(), [start]
    while work:
        for after in successors[work.pop()]:
            if after in inside and after not in seen:
                seen.add(after)
                work.append(after)
    return seen


def innermost(successors, inside, outside):
    """Sets of blocks: the cycles of `inside` that hold no smaller one."""
    from_block = {block: reachable(block, successors, inside) for block in inside}
    left = {block for block in inside if block in from_block[block]}
    while left:
        block = min(left)
        cycle = {other for other in from_block[block] if block in from_block[other]}
        left -= cycle
        entries = {b for b in cycle for other in outside - cycle if b in successors[other]}
        inner = list(innermost(successors, cycle - (entries or {block}), outside))
        yield from inner or [cycle]


def innermost_loops(ptx):
    """The instructions of each innermost loop."""
    blocks, successors = control_flow(ptx)
    everything = {0} | reachable(0, successors, set(range(len(blocks))))
    for cycle in innermost(successors, everything, everything):
        yield [text for block in sorted(cycle) for text in blocks[block]]
