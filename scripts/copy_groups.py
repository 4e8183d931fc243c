# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which `cp.async.commit_group` of a PTX kernel can go, proven on its branches.

Without a commit, its copies join the group of the commit behind it. `wait_group N`
leaves the last N groups in flight: if more than N commits lie between, neither group
is among them, and every later wait finds the same groups as before. So a commit can
go when that holds of the first wait behind it on every path, and every path has one
(or ends, with nothing left that could read).
"""

import re

from ptx_loops import control_flow

COMMIT = re.compile(r"(?:@!?%\w+\s+)?cp\.async\.commit_group\s*;")
WAIT = re.compile(r"(?:@!?%\w+\s+)?cp\.async\.wait_(?:group\s+(\d+)|all)\s*;")


def first_waits(blocks, successors, block, index, most):
    """(N of the first wait, commits before it) of all paths from a statement.

    More commits than `most` are not told apart.
    """
    work, seen = [(block, index + 1, 0)], set()
    while work:
        block, index, commits = work.pop()
        for text in blocks[block][index:]:
            if wait := WAIT.fullmatch(text):
                yield int(wait.group(1) or 0), commits
                break
            if COMMIT.fullmatch(text):
                commits = min(commits + 1, most)
        else:
            for after in successors[block]:
                if (after, commits) not in seen:
                    seen.add((after, commits))
                    work.append((after, 0, commits))


def commits_to_spare(ptx):
    """The ordinals, from 1, of the commits that can go."""
    blocks, successors = control_flow(ptx)
    texts = [text for block in blocks for text in block]
    most = 1 + max((int(wait.group(1) or 0) for wait in map(WAIT.fullmatch, texts) if wait), default=0)
    spare, ordinal = set(), 0
    for number, block in enumerate(blocks):
        for index, text in enumerate(block):
            if COMMIT.fullmatch(text):
                ordinal += 1
                waits = first_waits(blocks, successors, number, index, most)
                if not text.startswith("@") and all(commits > n for n, commits in waits):
                    spare.add(ordinal)
    return spare
