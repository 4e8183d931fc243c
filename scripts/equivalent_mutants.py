# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutants of delete_synchronization.py that change nothing: equivalent_mutants.txt.

Line numbers and register names move whenever the compiler changes, and so does how
many barriers a kernel has. What a barrier stands between does not: a statement is told
by its context, the nearest landmarks in front of it and behind it in the text, and by
which one it is there. A run of equal landmarks counts once.
"""

import fnmatch
import pathlib
import re

PATH = pathlib.Path(__file__).with_suffix(".txt")
AROUND = 2  # landmarks on either side
TO_SPARE = "to spare"  # the place of what copy_groups.py and wgmma_fences.py prove

# The first that matches names the landmark. Statements without one do not count.
LANDMARKS = [
    (re.compile(pattern), name)
    for pattern, name in [
        (r"mbarrier\.init", "init"),
        (r"mbarrier\.(try|test)_wait", "wait"),
        (r"mbarrier\.arrive.*expect_tx", "expect"),
        (r"mbarrier\.arrive", "arrive"),
        (r"mbarrier\.", "mbarrier"),
        (r"fence\.mbarrier_init", "fence.init"),
        (r"fence\.proxy", "fence.proxy"),
        (r"bar(rier)?\.warp", "bar.warp"),
        (r"bar(rier)?\.(cta\.)?arrive", "bar.arrive"),
        (r"bar(rier)?\.", "bar.sync"),
        (r"wgmma\.fence", "wgmma.fence"),
        (r"wgmma\.commit", "wgmma.commit"),
        (r"wgmma\.wait", "wgmma.wait"),
        (r"wgmma\.", "wgmma"),
        (r"mma\.", "mma"),
        (r"ldmatrix", "ldmatrix"),
        (r"stmatrix", "stmatrix"),
        (r"cp\.async\.bulk\.tensor.*shared.*global", "tma"),
        (r"cp\.async\.bulk\.(commit|wait)", "bulk.wait"),
        (r"cp\.async\.bulk", "bulk"),
        (r"cp\.async\.commit", "commit"),
        (r"cp\.async\.wait", "cp.wait"),
        (r"cp\.async\.", "cp.async"),
        (r"ld(\.volatile)?\.shared", "ld.shared"),
        (r"st(\.volatile)?\.shared", "st.shared"),
        (r"st\.global", "st.global"),
        (r"(atom|red)\.", "atomic"),
        (r"setmaxnreg", "setmaxnreg"),
        (r"ret$", "ret"),
    ]
]


def landmark(opcode):
    return next((name for pattern, name in LANDMARKS if pattern.match(opcode)), None)


def contexts_of(opcodes):
    """For every statement "two landmarks in front of it _ two behind it @N".

    It is the N-th with its opcode there.
    """
    runs = []  # [name, first statement, last statement]
    for index, opcode in enumerate(opcodes):
        name = landmark(opcode)
        if name and runs and runs[-1][0] == name:
            runs[-1][2] = index
        elif name:
            runs.append([name, index, index])
    contexts, count = [], {}
    for index, opcode in enumerate(opcodes):
        # A run that the statement is inside of stands on both sides.
        before = [name for name, first, _ in runs if first < index][-AROUND:]
        behind = [name for name, _, last in runs if last > index][:AROUND]
        context = f"{' '.join(before)} _ {' '.join(behind)}".strip()
        count[opcode, context] = count.get((opcode, context), 0) + 1
        contexts.append(f"{context} @{count[opcode, context]}")
    return contexts


def matches(names, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)


class Equivalents:
    """The lines for one kernel, by any of its names."""

    def __init__(self, *names):
        self.lines = []  # (opcode, change, place, reason)
        for number, line in enumerate(PATH.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("|", 4)]
            if len(fields) != 5:
                raise SystemExit(f"{PATH}:{number}: expected kernels | opcode | change | place | reason")
            patterns = [pattern.strip() for pattern in fields[0].split(",")]
            without = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
            if matches(names, patterns) and not matches(names, without):
                self.lines.append(fields[1:])

    def reason(self, mutant, change=None):
        """Why the mutant may live, or None; `change` in place of its own."""
        for opcode, which, place, reason in self.lines:
            if fnmatch.fnmatchcase(mutant.opcode, opcode) and which == (change or mutant.change):
                if any(fnmatch.fnmatchcase(where, place) for where in mutant.places):
                    return reason
        return None
