#!/usr/bin/env python3
"""Runs the complete examples of the documents through attn-opt.

usage: check_docs.py ATTN_OPT

A ```mlir block is complete when it begins with `module`, `gpu.module` or
`attn.kernel`: it must parse and verify. One that begins with an op of the body
of an attn.kernel gets a kernel around it. A ```attn block is complete when it has
an `attention`: it must import. A block that ends the line before it with
`-> --some-pass` is an input that must also run through that pass.

The examples in the descriptions of operations of the attn dialect are checked
in the same way. Those of the other dialects, which are no complete modules,
stand word for word in test/Dialect/<D>/ops.mlir, which attn-opt reads.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "docs/*.md",
    "docs/Dialects/*.md",
    "include/attn/Dialect/Attn/*/*.td",
)
# Dialects whose descriptions are held to their test.
DESCRIBED = ("Tile", "Pipe")
COMPLETE_MLIR = re.compile(r"^\s*(//[^\n]*\n\s*)*(module|gpu\.module|attn\.kernel)\b")
IN_KERNEL = re.compile(r"^\s*attn\.(param|tensor|mask|score|sink|bounds|factor)\b")
KERNEL = """attn.kernel @example attributes {
    dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64,
    head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
%s}
"""
COMPLETE_ATTN = re.compile(r"^attention\b", re.M)


def blocks(document: pathlib.Path):
    """(line, language, text, passes) of each fenced block."""
    found, passes = None, []
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if found and line.strip() == "```":
            yield found[0], found[1], "\n".join(found[2]) + "\n", passes
            found, passes = None, []
        elif found:
            found[2].append(line)
        elif fence := re.match(r"\s*```(\w+)", line):
            found = (number + 1, fence.group(1), [])
        else:
            marked = re.search(r"`-> ((?:--[\w-]+ ?)+)`", line)
            if line.strip():
                passes = marked.group(1).split() if marked else []


def command(attn_opt: str, language: str, text: str, passes):
    """How a block is checked; None for one that is no complete example."""
    if language == "mlir" and COMPLETE_MLIR.match(text):
        return [attn_opt, *passes], ".mlir"
    if language == "attn" and COMPLETE_ATTN.search(text):
        return [attn_opt, "--emit=attn"], ".attn"
    return None


def untested_examples(dialect: str):
    """(file, first line) of each example of a description that no test has."""
    test = (ROOT / f"test/Dialect/{dialect}/ops.mlir").read_text()
    words = " ".join(re.sub(r"^\s*//.*$", "", test, flags=re.M).split())
    for definition in sorted((ROOT / f"include/attn/Dialect/{dialect}/IR").glob("*.td")):
        for example in re.findall(r"```mlir\n(.*?)```", definition.read_text(), re.S):
            if " ".join(example.split()) not in words:
                yield definition.relative_to(ROOT), example.strip().splitlines()[0]


def main() -> int:
    attn_opt = sys.argv[1]
    checked = failed = 0
    for document in sorted(path for glob in DOCUMENTS for path in ROOT.glob(glob)):
        for line, language, text, passes in blocks(document):
            if language == "mlir" and IN_KERNEL.match(text):
                text = KERNEL % text
            how = command(attn_opt, language, text, passes)
            if how is None:
                continue
            arguments, suffix = how
            with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
                file.write(text)
                file.flush()
                run = subprocess.run([*arguments, file.name], capture_output=True, text=True)
            checked += 1
            if run.returncode != 0:
                failed += 1
                where = document.relative_to(ROOT)
                print(f"{where}:{line}: error: this example does not pass `{' '.join(arguments)}`:")
                print(run.stderr.replace(file.name, f"{where} (from line {line})"))
    for dialect in DESCRIBED:
        for definition, line in untested_examples(dialect):
            failed += 1
            print(f"{definition}: error: expected this example in test/Dialect/{dialect}/ops.mlir: {line}")
    print(f"{checked} examples checked, {failed} failed")
    if checked == 0:
        print("error: expected examples in the documents, found none")
    return 1 if failed or checked == 0 else 0


sys.exit(main())
