"""Compiles variants of attention with ptxas and prints one line a kernel: registers, spilled bytes that the compiler tells of, notes on wgmma.

Usage: assemble.py PTXAS FILE.tg FOLDER ITEMS TYPES HEAD_DIMS FORM [debug]

HEAD_DIMS is a list of D or DxE; "all" is 8 to 256 in steps of 8, those of 32 and more for `pipelined`.
"""
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys

ptxas, source, folder, items, types, dims, form, *debug = sys.argv[1:]
SERIALISED = {"C7507", "C7511", "C7512", "C7513", "C7514", "C7520"}
os.makedirs(folder, exist_ok=True)
dims = [str(d) for d in range(32 if form == "pipelined" else 8, 257, 8)] if dims == "all" else dims.split(",")


def assemble(kernel):
    item, element, dim = kernel
    key, value = dim.split("x") if "x" in dim else (dim, dim)
    path = os.path.join(folder, f"{item}-{element}-{dim}")
    run = subprocess.run(["tegula", "compile", source, "--item", item, "-D", f"D={key}", "-D", f"E={value}", "-D", f"T={element}", "--schedule", f"form={form}",
                          *(["--emit=cubin", "--debug"] if debug else ["--emit=cubin,manifest"]), "-o", path], capture_output=True, text=True, env={**os.environ, "TEGULA_PTXAS": ptxas})
    if run.returncode:
        sys.exit(f"{item} {element}: tegula ended with {run.returncode}\n{run.stderr}")
    with open(os.path.join(path, item + ".json")) as manifest:
        registers = json.load(manifest)["registers"]
    spilled = sum(map(int, re.findall(r"the kernel spills (\d+) bytes", run.stderr)))
    notes = sorted(SERIALISED & set(re.findall(r"\((C\d+)\)", run.stderr)))
    return f"{item} {element} {dim} {form}: {registers} registers, {spilled} bytes spilled, serialised: {' '.join(notes) or 'no'}"


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for line in pool.map(assemble, itertools.product(items.split(","), types.split(","), dims)):
        print(line, flush=True)
