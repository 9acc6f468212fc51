#!/usr/bin/env python3
"""Compiles the ```tegula blocks of a page, and checks the messages of its ```tegula refused ones.

  check_page.py PAGE TEGULA

The first block defines `vanilla`; it goes before every other block that names it. Each item of a block is compiled to the stages after the word
`tegula`, by default to cpu and ptx. A refused block is followed by a ```message block, whose text has to be in what the compiler says.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(tegula[^\n]*|message)\n(.*?)^```$", re.M | re.S)
ITEM = re.compile(r"^(?:attention|kernel)\s+(\w+)", re.M)


def blocks(text):
    """(line, words, code) of each block; the message that follows a refused one comes with it."""
    found = [(text[: m.start()].count("\n") + 2, m.group(1).split()[0:], m.group(2)) for m in FENCE.finditer(text)]
    for index, (line, words, code) in enumerate(found):
        if words[0] == "tegula":
            message = found[index + 1][2].strip() if index + 1 < len(found) and found[index + 1][1] == ["message"] else None
            yield line, words[1:], code, message


def compile_item(tegula, path, item, stage):
    command = [tegula, "compile", path, "--item", item, f"--emit={stage}", "-o", "/dev/null"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)


def main():
    page, tegula = pathlib.Path(sys.argv[1]), sys.argv[2]
    count, failures, prelude = 0, [], ""
    with tempfile.TemporaryDirectory() as folder:
        for line, words, code, message in blocks(page.read_text()):
            path = pathlib.Path(folder, f"line{line}.tg")
            path.write_text((prelude if "vanilla" in code and prelude else "") + code)
            prelude = prelude or code
            for item in ITEM.findall(code):
                for stage in [word for word in words if word != "refused"] or ["cpu", "ptx"]:
                    count += 1
                    done = compile_item(tegula, path, item, stage)
                    if "refused" in words:
                        if done.returncode != 1 or not message or message not in done.stdout:
                            failures.append(f"{page.name}:{line}: `{item}` should be refused with\n{message}\nbut got {done.returncode}\n{done.stdout}")
                    elif done.returncode != 0:
                        failures.append(f"{page.name}:{line}: `{item}` does not compile to {stage}\n{done.stdout}")
    print("\n".join(failures))
    print(f"{count} compilations, {len(failures)} wrong")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
