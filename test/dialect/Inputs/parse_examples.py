"""Parses and verifies every ```mlir block of the .td files that are named on the command line.

An example uses values that it does not define. Each is defined behind it, in the module's graph region, first with type `none`; the parser
then tells the type of the use, which the next round takes.
"""
import pathlib
import re
import subprocess
import sys
import textwrap


def unknown_values(example):
    defined = set()
    for line in example.splitlines():
        if " = " in line:
            defined.update(re.findall(r"%[\w$.-]+", line.split(" = ")[0]))
        for names in re.findall(r"iter_args\((.*?)\)|\^\w+\((.*?)\)|@\w+\((.*)\)", line):
            defined.update(re.findall(r"(%\w+)(?: =|:)", "".join(names)))
        defined.update(re.findall(r"(?:for_blocks|for_tiles) (%\w+)", line))
    return sorted(set(re.findall(r"%[A-Za-z_]\w*", example)) - defined)


def check(example):
    """Returns what tegula-opt says against an example, or an empty text."""
    types = dict.fromkeys(unknown_values(example), "none")
    for _ in range(len(types) + 1):
        values = "".join(f'{name} = "example.value"() : () -> {type}\n' for name, type in types.items())
        text = "module {\n" + example + values + "}\n"
        run = subprocess.run(["tegula-opt", "--allow-unregistered-dialect", "-o", "-"], input=text, capture_output=True, text=True)
        if run.returncode == 0:
            return ""
        known = re.search(r"definition of SSA value '(%\w+)#0' has type 'none'", run.stderr)
        used = re.search(r"previously used here with type '(.*)'", run.stderr)
        if not known or not used:
            return run.stderr
        types[known[1]] = used[1]
    return run.stderr


count = failures = 0
for name in sys.argv[1:]:
    text = pathlib.Path(name).read_text()
    for block in re.finditer(r"```mlir\n(.*?)```", text, re.DOTALL):
        count += 1
        message = check(textwrap.dedent(block[1]))
        if message:
            failures += 1
            print(f"{name}:{text[:block.start()].count(chr(10)) + 2}: error: example does not parse\n{message}")
print(f"{count} examples, {failures} wrong")
sys.exit(failures != 0 or count == 0)
