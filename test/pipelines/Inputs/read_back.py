"""Compiles items to PTX directly, and through the text of their tile program, and says which of them give other code.

Usage: read_back.py FOLDER FORMS HEAD_DIMS FILE.tg [ITEM...]...

What a condition of `requires` says of its own source, its text and place, is not compared. A text has rows of one head, and does not offer to pack them.
"""
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys

folder, forms, dims, *rest = sys.argv[1:]
os.makedirs(folder, exist_ok=True)


def tegula(*options):
    run = subprocess.run(["tegula", "compile", *options, "-o", "-"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(options)}\n{run.stderr}")
    return run.stdout


def compare(case):
    (source, item), form, dim = case
    name = f"{item}-{form}-{dim}"
    options = [source, "--item", item, "-D", f"D={dim}", "-D", f"E={dim}", "--schedule", f"form={form},pack_heads=false"]
    path = os.path.join(folder, name + ".tg")
    with open(path, "w") as file:
        file.write(tegula(*options, "--emit=kernel"))
    code = [re.sub(r'"place":"[^"]*","text":"[^"]*"', "", text) for text in (tegula(*options, "--emit=ptx"), tegula(path, "--emit=ptx"))]
    return f"{name}: {'equal' if code[0] == code[1] and '.entry' in code[0] else 'other code'}"


items, source = [], None
for word in rest:
    if word.endswith(".tg"):
        source = word
    else:
        items.append((source, word))
with concurrent.futures.ThreadPoolExecutor() as pool:
    for line in pool.map(compare, itertools.product(items, forms.split(","), dims.split(","))):
        print(line)
