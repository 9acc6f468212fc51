#!/usr/bin/env python3
"""exit-code.py CODE COMMAND...: runs the command, passes its output on (stderr too) and succeeds when it ends with CODE."""
import subprocess
import sys

result = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
sys.stdout.write(result.stdout)
if result.returncode != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, but got {result.returncode}")
