"""unseen.py TEGULA TARGET [FLAG ...]: keys that no row sees may hold NaN, in K and in V: no bit of an output changes. Rows that see no key are among those of each problem."""
import os
import struct
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../../examples"))
from tensors import save  # noqa: E402

tegula, target, *flags = sys.argv[1:]
B, H, M, N, K, D = 2, 2, 300, 700, 2, 64

lengths = [310, 0]
chosen = [[[(7 * i // 64 + 3 * t + h) % 9 * 2 for t in range(K)] for i in range(M)] for h in range(H)]
of_row = [i // 70 * 2 for i in range(M)]
of_key = [j // 100 for j in range(N)]
# Each: the tables, and which pairs count: (b, h, i, j).
cases = {
    "streaming": ({}, lambda b, h, i, j: i + N - M >= j and (j < 5 or i + N - M - j < 17)),
    "padding": ({"n": ([B], lengths)}, lambda b, h, i, j: j < lengths[b]),
    "chosen": ({"list": ([H, M, K], [n for of_head in chosen for row in of_head for n in row])}, lambda b, h, i, j: j // 32 in chosen[h][i]),
    "packed": ({"from": ([M], of_row), "of": ([N], of_key)}, lambda b, h, i, j: of_row[i] == of_key[j]),
    "far": ({}, lambda b, h, i, j: abs(i - j) % 90 < 7 and i >= 130 and j < 640),
}


def save_integers(path, shape, values):
    header = repr({"descr": "<i4", "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}i", *values))


def numbers(count, seed):
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) % 2**32
        yield seed / 2**31 - 1


save("q.npy", [B, H, M, D], list(numbers(B * H * M * D, 1)), "bf16")
keys, values = (list(numbers(B * N * D, seed)) for seed in (2, 3))
for item, (tables, counts) in cases.items():
    unseen = [(b, j) for b in range(B) for j in range(N) if not any(counts(b, h, i, j) for h in range(H) for i in range(M))]
    empty = sum(not any(counts(b, h, i, j) for j in range(N)) for b in range(B) for h in range(H) for i in range(M))
    arguments = ["--arg=q=@q.npy", "--arg=k=@k.npy", "--arg=v=@v.npy"]
    for name, (shape, table) in tables.items():
        save_integers(f"{name}.npy", shape, table)
        arguments.append(f"--arg={name}=@{name}.npy")
    results = []
    for poison in (None, float("nan")):
        for name, tensor in (("k", keys), ("v", values)):
            tensor = list(tensor)
            for b, j in unseen if poison else []:
                tensor[(b * N + j) * D : (b * N + j + 1) * D] = [poison] * D
            save(f"{name}.npy", [B, 1, N, D], tensor, "bf16")
        command = [tegula, "run", os.path.join(here, "unseen.tg"), "--item", item, "--target", target, "--runs", "1"] + arguments + flags
        done = subprocess.run(command + ["--out=o=@o.npy", "--out=lse=@lse.npy"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{item}: {done.stdout}{done.stderr}")
        results.append(b"".join(open(name, "rb").read() for name in ("o.npy", "lse.npy")))
    print(f"{item}: {len(unseen)} unseen keys, {empty} rows without a key,", "equal" if results[0] == results[1] else "NOT EQUAL")
