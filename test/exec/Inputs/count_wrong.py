"""Runs a kernel's replacement at several lengths and prints how many of the runs were found wrong.

Usage: count_wrong.py STAGE=FILE SIZES... -- TEGULA RUN ARGUMENTS...

A launch that fails is found, too; a run that ends otherwise than passing its check (0) or failing it (3) ends this with its message.
"""
import subprocess
import sys

at = sys.argv.index("--")
(replacement, *sizes), command = sys.argv[1:at], sys.argv[at + 1:]
wrong = 0
for size in sizes:
    run = subprocess.run([*command, "--size", size, "--replace", replacement], capture_output=True, text=True)
    if run.returncode not in (0, 3) and "CUDA_ERROR_LAUNCH_FAILED" not in run.stderr:
        sys.exit(f"{size}: exit code {run.returncode}\n{run.stderr}")
    wrong += run.returncode != 0
print(f"{wrong} of {len(sizes)} runs are wrong")
