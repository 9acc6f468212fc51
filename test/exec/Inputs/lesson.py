#!/usr/bin/env python3
"""Runs the commands in the comment at the head of a lesson, and compares what they print with what the comment says.

  lesson.py cpu|gpu LESSON...

`$ COMMAND` runs everywhere, `cpu$` and `gpu$` only on one of both. The lines up to the next empty one are the output, standard error
included; `...` in a line stands for any text, a line of its own for any lines. A command that fails adds a line `exit code N`. Commands run in
a copy of the lesson's folder.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def comment_lines(text):
    """The lines of the first comment, without its marks."""
    for line in text.splitlines():
        stripped = re.sub(r"^\s*(#|//|/?\*+/?) ?", "", line)
        if stripped == line:
            return
        yield stripped.rstrip()


def examples(lines):
    """Pairs of a command line (`$ tegula ...`) and its expected lines."""
    command, expected = None, []
    for line in list(lines) + [""]:
        line = line.strip()
        if command is None:
            if re.match(r"(cpu|gpu)?\$ ", line):
                command, expected = line, []
        elif line:
            expected.append(line)
        else:
            yield command, expected
            command = None


def pattern(expected):
    """A regular expression for the expected lines."""
    parts = []
    for line in expected:
        parts.append(r"(?:.*\n)*?" if line == "..." else r"\s*" + re.escape(line).replace(r"\.\.\.", ".*") + r"\s*?\n")
    return re.compile("".join(parts) + r"\s*\Z")


def run(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250)
    return done.stdout + (f"exit code {done.returncode}\n" if done.returncode else "")


def check(lesson, target, folder):
    """Whether every command of the lesson prints what it should."""
    count, right = 0, True
    for line, expected in examples(comment_lines(lesson.read_text())):
        where, command = line.split("$ ", 1)
        if where and where != target:
            continue
        count += 1
        output = run(command, folder)
        if not pattern(expected).match(output):
            right = False
            print(f"{lesson}: `{command}` printed\n{output}but the lesson says\n" + "\n".join(expected))
    print(f"{lesson.name}: {count} commands")
    return right and count > 0


def main():
    target, *lessons = sys.argv[1:]
    right = True
    for lesson in map(pathlib.Path, lessons):
        with tempfile.TemporaryDirectory() as scratch:
            folder = shutil.copytree(lesson.parent, pathlib.Path(scratch, "lesson"))
            right &= check(lesson, target, folder)
    sys.exit(not right)


if __name__ == "__main__":
    main()
