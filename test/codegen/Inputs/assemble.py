"""Compiles variants of attention to PTX, assembles each with ptxas and prints one line a kernel: registers, spilled bytes, notes on wgmma.

Usage: assemble.py PTXAS FILE.tg FOLDER ITEMS TYPES HEAD_DIM FORM
"""
import os
import re
import subprocess
import sys

ptxas, source, folder, items, types, dim, form = sys.argv[1:]
SERIALISED = {"C7507", "C7511", "C7512", "C7513", "C7514", "C7520"}
os.makedirs(folder, exist_ok=True)
for item in items.split(","):
    for element in types.split(","):
        path = os.path.join(folder, f"{item}-{element}")
        subprocess.run(["tegula", "compile", source, "--item", item, "-D", f"D={dim}", "-D", f"E={dim}", "-D", f"T={element}",
                        "--schedule", f"form={form}", "--emit=ptx", "-o", path + ".ptx"], check=True)
        run = subprocess.run([ptxas, "-arch=sm_90a", "-v", path + ".ptx", "-o", path + ".cubin"], capture_output=True, text=True)
        log = run.stdout + run.stderr
        if run.returncode:
            sys.exit(f"{item} {element}: ptxas ended with {run.returncode}\n{log}")
        registers = max(map(int, re.findall(r"Used (\d+) registers", log)))
        spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", log)))
        notes = sorted(SERIALISED & set(re.findall(r"\((C\d+)\)", log)))
        print(f"{item} {element} {dim} {form}: {registers} registers, {spilled} bytes spilled, serialised: {' '.join(notes) or 'no'}", flush=True)
