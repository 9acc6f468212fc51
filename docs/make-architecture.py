#!/usr/bin/env python3
"""Writes docs/architecture.md: the story of one kernel, with each stage as the tool prints it.

  docs/make-architecture.py TEGULA [--check]      --check: only compare, and fail where the page is stale
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = "examples/causal.tg"
OPTIONS = ["-D", "D=64", "-D", "E=64"]

STAGES = [
    ("attention", 60, """The front end (`lang/`) resolves names and types and emits the whole problem as one op. Scale, score and mask are regions of scalar code of one
element. A kernel's arguments carry the names that the launch binds: tensors, scalars, dims. Nothing downstream sees the surface syntax."""),
    ("tile", 200, """`tegula-choose-schedule` sets the schedule, `tegula-decompose` writes the program of one block of query rows, `tegula-bound-masks` moves the loop's ends to the keys that the mask lets pass and tests only blocks that it can hide from, `tegula-rotate-loop` moves the scores of
the next block above the output product of this one, `tegula-expand-softmax` writes out the online softmax. Tiles are tensors; masks stay scalar code.
Every target starts from such a program: the CPU branches off here (`passes/cpu`)."""),
    ("warp", 260, """`tegula-assign-layouts` cuts row tiles into the 64 rows of a warpgroup, `tegula-partition-roles` splits the program into a producer that fills rings and
consumers that drain them, `tegula-ping-pong` makes the consumers take turns. Who, where and when are decided; lanes and registers are not."""),
    ("nvvm", 70, """`tegula-insert-waits` counts matrix ops in flight, `tegula-allocate-shared` places the rings, `tegula-lower-warp` writes one thread's view, with the
kernel's arguments and its manifest, `tegula-legalize-math` replaces what the back end does not select. Only `llvm` and `nvvm` are left."""),
    ("ptx", 90, """LLVM's NVPTX back end prints it, without an optimisation pipeline: the order of operations is the one that the passes chose. ptxas makes the cubin where it is
found; otherwise the driver assembles the text."""),
]

INTRO = """# Architecture: one kernel at every stage

This page is written by `docs/make-architecture.py`; a test compares it with what the tool prints. The stages are those of `passes/Stages.def`; each is text that
`tegula compile --stop-after STAGE` prints and `--start-from STAGE` takes back, edited or not. `--dump-dir DIR` writes all of them.

| folder | what lives there |
| --- | --- |
| `lang/` | lexer, parser, AST, sema, AST to dialect |
| `dialect/tile`, `dialect/warp` | the two dialects; `TileOps.td` and `WarpOps.td` are their specification |
| `passes/attention`, `passes/schedule`, `passes/lower`, `passes/verify` | one idea a file; `passes/Passes.td` says what each does, `passes/Pipelines.cpp` in which order |
| `passes/cpu` | the tile program to linalg and LLVM, for this host |
| `codegen/` | LLVM IR, PTX, ptxas, manifest, CPU objects; `Compiler.h` is the compiler as a library |
| `runtime/` | launches kernels; knows no LLVM. `runtime/jit/` joins the two |
| `tools/` | `tegula`, `tegula-opt` |

## source

"""


def stage_text(tegula, stage):
    command = [tegula, "compile", SOURCE, *OPTIONS, "--stop-after", stage, "-o", "-"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def shorten(lines, limit):
    lines = [line if len(line) <= 220 else line[:216] + " ..." for line in lines]
    return lines if len(lines) <= limit else lines[:limit] + [f"... {len(lines) - limit} more lines"]


def page(tegula):
    text = INTRO + "```\n" + (ROOT / SOURCE).read_text() + "```\n"
    for stage, limit, story in STAGES:
        command = f"tegula compile {SOURCE} {' '.join(OPTIONS)} --stop-after {stage} -o -"
        body = "\n".join(shorten(stage_text(tegula, stage), limit))
        text += f"\n## {stage}\n\n{story}\n\n`{command}`\n\n```{'mlir' if stage != 'ptx' else ''}\n{body}\n```\n"
    return text


def main():
    text = page(sys.argv[1])
    if "--check" in sys.argv:
        if PAGE.read_text() != text:
            sys.exit("docs/architecture.md is stale; run docs/make-architecture.py TEGULA")
        return
    PAGE.write_text(text)


main()
