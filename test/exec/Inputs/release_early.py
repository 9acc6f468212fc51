#!/usr/bin/env python3
"""release_early.py IN.mlir OUT.mlir k|v: in warp text, the consumers' block loop releases the slot of the keys (`k`) or values (`v`) as soon as it has arrived, so that
the producer overwrites it while matrix ops still read it.
"""
import sys

lines = open(sys.argv[1]).read().split("\n")
number = {"k": 0, "v": 1}[sys.argv[3]]
loop = max(n for n, line in enumerate(lines) if "scf.for" in line)
release = [n for n in range(loop, len(lines)) if "warp.release" in lines[n]][number]
moved = lines.pop(release)
wait = [n for n in range(loop, len(lines)) if "warp.wait" in lines[n]][number]
lines.insert(wait + 1, moved)
open(sys.argv[2], "w").write("\n".join(lines))
