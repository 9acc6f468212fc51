#!/usr/bin/env python3
"""drop_acquires.py IN.ptx OUT.ptx: the producer of a pipelined kernel no longer waits for the slots that its block loop fills to be empty.

The producer stands first in the text. Its waits are, in order: one a consumer warpgroup for the queries, the first keys, then in the block loop keys and values.
"""
import re
import sys

text = open(sys.argv[1]).read()
consumers = 2
parts = re.split(r"(@!p bra W_\d+;)", text)
for number in (consumers + 1, consumers + 2):
    parts[2 * number + 1] = ""
open(sys.argv[2], "w").write("".join(parts))
