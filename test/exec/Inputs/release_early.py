#!/usr/bin/env python3
"""release_early.py IN.mlir OUT.mlir k|v: in warp text, the consumers' block loop releases the slot of the keys (`k`) or values (`v`) as soon as it has arrived, so that
the producer overwrites it while matrix ops still read it. The counter goes through an addition, since the verifier refuses the plain form.
"""
import re
import sys

lines = open(sys.argv[1]).read().split("\n")
number = {"k": 0, "v": 1}[sys.argv[3]]
# The last loop that waits for slots and multiplies them: behind it stand one that passes over slots, and those of rows that are computed again.
loop = max(n for n, line in enumerate(lines) if "scf.for" in line and all(any(op in body for body in lines[n : n + 12]) for op in ("warp.wait", "warp.mma")))
release = [n for n in range(loop, len(lines)) if "warp.release" in lines[n]][number]
moved = lines.pop(release)
wait = [n for n in range(loop, len(lines)) if "warp.wait" in lines[n]][number]
counter = re.search(r"\[(%\w+)\]", moved).group(1)
lines.insert(wait + 1, moved.replace(f"[{counter}]", "[%early]"))
lines.insert(wait + 1, f"%early = arith.addi {counter}, %c0_i64 : i64")
open(sys.argv[2], "w").write("\n".join(lines))
