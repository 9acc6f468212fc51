"""Disassembles attention kernels and prints one line for the loop over blocks that need no mask: what a thread executes in it.

Usage: sass_loops.py PTXAS NVDISASM FILE.tg FOLDER ITEM:HEAD_DIM,...

"clean" says: an element of the block costs its exponential, a scale, a sum and half a conversion; nothing is spilled or moved to uniform registers; all else is at most 40 instructions a block
and 5 a matrix op. Anything else is named.
"""
import collections
import os
import re
import subprocess
import sys

ptxas, nvdisasm, source, folder, kernels = sys.argv[1:]
os.makedirs(folder, exist_ok=True)


def loops(text):
    """The bodies of all loops that multiply matrices and exponentiate, the shortest first."""
    lines, labels, found = text.split("\n"), {}, []
    for number, line in enumerate(lines):
        if label := re.match(r"(\.L_x_\d+):", line):
            labels[label[1]] = number
    for number, line in enumerate(lines):
        target = re.search(r"BRA .*`\((\.L_x_\d+)\)", line)
        if target and labels.get(target[1], number) < number:
            body = lines[labels[target[1]]:number + 1]
            ops = collections.Counter(op[1] for line in body if (op := re.search(r"\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_]+(?:\.EX2)?)", line)))
            if ops["HGMMA"] and ops["MUFU.EX2"]:
                found.append(ops)
    return sorted(found, key=lambda ops: ops.total())


for kernel in kernels.split(","):
    item, dim = kernel.split(":")
    cubin = os.path.join(folder, f"{item}-{dim}.cubin")
    subprocess.run(["tegula", "compile", source, "--item", item, "-D", f"D={dim}", "-D", f"E={dim}", "--emit=cubin", "-o", cubin], check=True, env={**os.environ, "TEGULA_PTXAS": ptxas})
    ops = loops(subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout)[0]
    elements = ops["MUFU.EX2"]
    rest = ops.total() - int(3.5 * elements)
    faults = [f"{ops[op]} {op}" for op, most in (("LDL", 0), ("STL", 0), ("R2UR", 2)) if ops[op] > most]
    faults += [f"{ops[op]} {op}, not {count}" for op, count in (("FFMA", elements), ("FADD", elements), ("F2FP", elements // 2)) if ops[op] != count]
    if rest > 40 + 5 * ops["HGMMA"]:
        faults.append(f"{rest} other instructions")
    print(f"{item} {dim}: {elements} exponentials, {ops['HGMMA']} matrix ops, {rest} others: {', '.join(faults) or 'clean'}")
