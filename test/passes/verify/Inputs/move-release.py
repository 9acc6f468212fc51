"""Prints a kernel with the first release of a slot that a `warp.read` reads moved ahead of that read."""
import re
import sys

lines = open(sys.argv[1]).read().split("\n")
read = next(n for n, line in enumerate(lines) if "warp.read " in line)
slot = re.search(r"warp\.read (%\d+)", lines[read]).group(1)
place = next(re.search(r"warp\.wait (%\d+\[%\w+\] copy %\w+)", line).group(1) for line in lines if f"{slot} = warp.wait" in line)
release = next(n for n in range(read, len(lines)) if f"warp.release {place}" in lines[n])
lines.insert(read, lines.pop(release))
print("\n".join(lines))
