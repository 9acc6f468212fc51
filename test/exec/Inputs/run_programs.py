"""run_programs.py TEGULA FOLDER TARGET: runs the kernels of programs.tg in FOLDER on many sizes and compares them with NumPy.

bf16 goes into files as its bits and comes out of them as two-byte voids, as NumPy has no such type.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np

tegula, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
source = pathlib.Path(__file__).parent / "programs.tg"
random = np.random.default_rng(7)
failures = count = 0


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def bf16(x):
    """Rounded to bf16, as float32."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def bits(x):
    """Of values that are rounded to bf16."""
    return (x.view(np.uint32) >> 16).astype(np.uint16)


def load(path):
    x = np.load(path)
    if x.dtype.kind == "V":
        x = (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64)


def run(item, sizes, outputs, defines=(), **arguments):
    command = [tegula, "run", str(source), "--item", item, "--target", target, "--json"]
    if sizes:
        command += ["--size", ",".join(f"{name}={value}" for name, value in sizes.items())]
    for define in defines:
        command += ["-D", define]
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
            value = f"@{folder}/{name}.npy"
        command += ["--arg", f"{name}={value}"]
    for name in outputs:
        command += ["--out", f"{name}=@{folder}/{name}.out.npy"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    report = json.loads(result.stdout)
    assert report["ok"] and report["flops"] is None and set(report["outputs"]) == set(outputs), report
    return [load(folder / f"{name}.out.npy") for name in outputs]


def expect(name, got, want, tolerance):
    global failures, count
    count += 1
    error = np.max(np.abs(got - want), initial=0) if got.shape == want.shape else np.inf
    if not error <= tolerance * max(1, np.max(np.abs(want), initial=0)):
        failures += 1
        print(f"FAIL {name}: largest difference {error}, shapes {got.shape} and {want.shape}")


def softmax(s):
    """Weights and lse of the last axis; a row of -inf alone has weights 0."""
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return p / np.where(total == 0, 1, total), (np.log(total) + np.where(np.isfinite(top), top, 0))[..., 0]


def finite(lse):
    return np.where(np.isfinite(lse), lse, -1e9)


for n in (0, 1, 127, 128, 300):
    for kind, dtype in (("f32", np.float32), ("f16", np.float16), ("i32", np.int32), ("f64", np.float64)):
        if target == "cuda" and kind == "f64":
            continue
        x, y = (10 * normal(2, n)).astype(dtype)
        (z,) = run("vector_add", {"N": n}, ["z"], [f"T={kind}"], x=x, y=y)
        expect(f"vector_add {kind} {n}", z, (x + y).astype(np.float64), 1e-3 if kind == "f16" else 1e-6)

for rows, cols in ((1, 1), (8, 300), (3, 512), (2, 0)):
    x, w = bf16(normal(rows, cols)), normal(cols)
    (y,) = run("rmsnorm", {"R": rows, "C": cols}, ["y"], x=bits(x), w=w, eps=1e-5)
    norm = np.sqrt((x.astype(np.float64) ** 2).sum(axis=1, keepdims=True) / max(cols, 1) + 1e-5)
    expect(f"rmsnorm {rows} {cols}", y, x / norm * w, 2**-8)
    x = normal(rows, cols) * 5
    (y,) = run("row_softmax", {"R": rows, "C": cols}, ["y"], x=x)
    expect(f"row_softmax {rows} {cols}", y, softmax(x.astype(np.float64))[0], 1e-6)

for m, n, k in ((1, 1, 1), (33, 65, 31), (100, 130, 70), (40, 10, 0)):
    a, b = normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16)
    (c,) = run("matmul", {"M": m, "N": n, "K": k}, ["c"], a=a, b=b)
    want = a.astype(np.float64) @ b.astype(np.float64)
    expect(f"matmul {m} {n} {k}", c, np.maximum(want, 0.01 * want), 2**-10)

for m, n in ((1, 1), (70, 70), (20, 100), (100, 40), (5, 0)):
    q, k, v = bf16(normal(2, 4, m, 64)), bf16(normal(2, 2, n, 64)), bf16(normal(2, 2, n, 64))
    sizes = {"B": 2, "H": 4, "G": 2, "M": m, "N": n}
    o, l = run("attend", sizes, ["o", "l"], q=bits(q), k=bits(k), v=bits(v), scale=0.125)
    s = 0.125 * q.astype(np.float64) @ np.repeat(k, 2, axis=1).astype(np.float64).swapaxes(2, 3)
    keep = np.arange(m)[:, None] + (n - m) >= np.arange(n)[None, :]
    p, lse = softmax(np.where(keep, s, -np.inf))
    expect(f"attend {m} {n}", o, p @ np.repeat(v, 2, axis=1), 2**-6)
    expect(f"attend lse {m} {n}", finite(l), finite(lse), 1e-4)

# Pages in any order; parts merge to dense attention over the live keys; a length of 0 and parts without keys are among them.
B, G, R, PS, C, D = 3, 2, 4, 16, 6, 64
pool = bf16(normal(20, 2, G, PS, D))
pool[19] = np.nan  # no page names it
page = random.permutation(19)[: B * C].reshape(B, C).astype(np.int32)
length, q = np.array([0, 37, 96], np.int32), bf16(normal(B, G * R, D))
for parts in (1, 3, 5):
    po, pl = run("decode_split", {}, ["po", "pl"], q=bits(q), pool=bits(pool), page=page, len=length, scale=0.125, SP=parts)
    o, l = run("decode_merge", {}, ["o", "l"], po=po.astype(np.float32), pl=pl.astype(np.float32))
    for b in range(B):
        keys, values = (pool[page[b], which].swapaxes(0, 1).reshape(G, C * PS, D)[:, : length[b]] for which in (0, 1))
        s = 0.125 * q[b].reshape(G, R, D).astype(np.float64) @ keys.astype(np.float64).swapaxes(1, 2)
        p, lse = softmax(s)
        expect(f"decode {parts} {b}", o[b], (p @ values).reshape(G * R, D), 2**-7)
        expect(f"decode lse {parts} {b}", finite(l[b]), finite(lse.reshape(G * R)), 1e-5)

for m, n in ((1, 1), (50, 40)):
    q, k, go = (normal(1, 2, rows, 32, dtype=np.float16) for rows in (m, n, m))
    s = 0.2 * q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3)
    p, lse = softmax(s)
    (gv,) = run("key_outer", {}, ["gv"], q=q, k=k, go=go, l=lse.astype(np.float32), scale=0.2)
    expect(f"key_outer {m} {n}", gv, p.swapaxes(2, 3) @ go.astype(np.float64), 2**-9)

for rows, cols in ((1, 1), (5, 150), (4, 64)):
    x = normal(rows, cols)
    (y,) = run("running", {}, ["y"], x=x)
    expect(f"running {rows} {cols}", y, np.cumsum(x.astype(np.float64), axis=1), 1e-5)

for n in (0, 1, 64, 1000):
    x, before = random.integers(-1, 6, n).astype(np.int32), np.arange(5, dtype=np.int32)
    (counts,) = run("histogram", {"N": n}, ["counts"], x=x, counts=before)
    expect(f"histogram {n}", counts, before + np.array([(x == bin).sum() for bin in range(5)], float), 0)

print(f"{count - failures} of {count} comparisons passed on {target}")
sys.exit(failures != 0)
