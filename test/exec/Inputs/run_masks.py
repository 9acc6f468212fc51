"""Runs every item of a file of masks over several lengths on the CPU."""
import re
import subprocess
import sys

tegula, path = sys.argv[1:]
text = open(path).read()
runs = 0
for item, clauses in re.findall(r"^attention (\w+) = (.*)$", text, re.M):
    scalars = {"W": [0, 17, 65], "S": [1, 5, 64], "wide": ["true", "false", "true"]}
    known = clauses + (next(c for i, c in re.findall(r"^attention (\w+) = (.*)$", text, re.M) if i == "documents") if "documents with" in clauses else "")
    for number, length in enumerate([300, 129]):
        size = f"B=2,H=2,G=1,M={length},N={length}" + (",K=3" if "[H,M,K]" in clauses else "")
        arguments = [f"--arg={name}={values[number % 3]}" for name, values in scalars.items() if f"param {name}:" in known]
        command = [tegula, "run", path, "--item", item, "--target", "cpu", "--size", size, "--check", "--seed", str(number)] + arguments
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if done.returncode != 0:
            print("wrong:", " ".join(command), done.stdout, done.stderr, sep="\n")
print(runs, "runs")
