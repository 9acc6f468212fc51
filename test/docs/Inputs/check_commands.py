#!/usr/bin/env python3
"""Runs the `$ COMMAND` lines in a page's ```console blocks, in the repository's root, and compares what they print with what stands below them.

  check_commands.py PAGE
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "test" / "exec" / "Inputs"))
import lesson

page = pathlib.Path(sys.argv[1])
blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.M | re.S)
count, right = 0, True
for block in blocks:
    for command, expected in lesson.examples(block.splitlines()):
        count += 1
        output = lesson.run(command.removeprefix("$ "), root)
        if not lesson.pattern(expected).match(output):
            right = False
            print(f"{page.name}: `{command}` printed\n{output}but the page says\n" + "\n".join(expected))
print(f"{page.name}: {count} commands")
sys.exit(not (right and count))
