"""tables.py TEGULA MASKS.tg TARGET [FLAG]...: masks that are given as tables, whose blocks are dead, full and partial, beside the reference; and what `tegula explain` counts of them, beside brute force."""
import json
import os
import subprocess
import sys
import tempfile

import numpy

tegula, path, target, *flags = sys.argv[1:]
random = numpy.random.default_rng(1)


def bands(rows, keys):
    """Pairs of neighbouring groups, some of them with a hole."""
    i, j = numpy.arange(rows)[:, None], numpy.arange(keys)[None, :]
    return (abs(i // 150 - j // 200) <= 1) & ((i // 150 + j // 200) % 3 != 1) & ~((i == j) & (i % 7 == 0))


def tables(rows, keys):
    yield "given", {"see": bands(rows, keys)}
    yield "given", {"see": numpy.zeros((rows, keys), bool)}
    yield "given_causal", {"see": numpy.stack([[bands(rows, keys), bands(keys, rows).T], [bands(rows, keys)[::-1], random.random((rows, keys)) < 0.001]])}
    if rows <= keys:
        yield "tree_table", {"ancestor": numpy.tri(rows, dtype=bool) & bands(rows, rows)}


def run(command, *arguments):
    done = subprocess.run([tegula, command, path, *arguments], capture_output=True, text=True)
    if done.returncode:
        print(f"wrong: {command} {' '.join(arguments)}", done.stdout, done.stderr, sep="\n")
    return done


count = 0
skipped = untested = 0
with tempfile.TemporaryDirectory() as folder:
    for rows, keys in [(300, 300), (129, 900), (700, 257), (1, 400)]:
        for item, arrays in tables(rows, keys):
            arguments = ["--item", item, "-D", "D=64", "-D", "E=64", "--size", f"B=2,H=4,G=2,M={rows},N={keys}"]
            for name, array in arrays.items():
                file = os.path.join(folder, f"{name}{count}.npy")
                numpy.save(file, array)
                arguments += ["--arg", f"{name}=@{file}"]
            run("run", *arguments, "--target", target, "--check", *(["--runs", "2"] if target == "cuda" else []), *flags)
            count += 1
            explained = run("explain", *arguments, "--json", *flags)
            if explained.returncode == 0:
                tiles = json.loads(explained.stdout)["tiles"]
                skipped += tiles["proved_dead"]
                untested += tiles["proved_full"]
                # Rows of the last tile that do not exist are looked at by neither.
                if any(tiles[kind] != tiles[f"proved_{kind}"] for kind in ("dead", "partial", "full")):
                    print("wrong:", item, rows, keys, tiles)
print(count, "runs,", "some blocks are skipped," if skipped else "none is skipped,", "some are not tested" if untested else "all are tested")
