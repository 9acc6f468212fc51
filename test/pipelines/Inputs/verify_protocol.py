"""Checks the protocol of kernels in every order of their roles and prints one line a kernel: what the compiler says of it.

Usage: verify_protocol.py FILE.tg ITEMS DIMS SCHEDULES

ITEMS and DIMS are lists with commas, DIMS of D or DxE; SCHEDULES is a list with semicolons of what --schedule takes.
"""
import concurrent.futures
import itertools
import os
import subprocess
import sys

source, items, dims, schedules = sys.argv[1:]


def verify(kernel):
    item, dim, schedule = kernel
    key, value = dim.split("x") if "x" in dim else (dim, dim)
    run = subprocess.run(["tegula", "compile", source, "--item", item, "-D", f"D={key}", "-D", f"E={value}", "--schedule", schedule, "--verify-protocol", "--emit=warp",
                          "-o", os.devnull], capture_output=True, text=True)
    said = [line.split(": ", 1)[1] for line in run.stderr.splitlines() if any(word in line for word in ("error: ", "warning: ", "remark: the protocol", "remark: the kernel"))]
    return f"{item} {dim} {schedule}: {'; '.join(said)}"


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for line in pool.map(verify, itertools.product(items.split(","), dims.split(","), schedules.split(";"))):
        print(line, flush=True)
