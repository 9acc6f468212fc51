#!/usr/bin/env python3
"""drop_acquire.py IN.ptx OUT.ptx: the producer of a pipelined kernel no longer waits for the slots that its block loop fills with keys to be empty.

The producer, with three consumer warpgroups, stands first in the text and waits eight times: the last values, the queue of tile numbers, queries three times, the first keys,
and in the block loop, which LLVM puts last, keys and then values. (The wait for the values is implied by the one for the keys.)
"""
import re
import sys

parts = re.split(r"(@!p bra W_\d+;)", open(sys.argv[1]).read())
parts[2 * 6 + 1] = ""
open(sys.argv[2], "w").write("".join(parts))
