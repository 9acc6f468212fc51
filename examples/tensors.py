#!/usr/bin/env python3
"""Tensors for the lessons, with plain loops and without NumPy.

  tensors.py make NAME=TYPE[3,100] ...        writes NAME.npy with numbers in [-1, 1)
  tensors.py check WHAT FILE ...              compares the last file with WHAT of the others, computed in double

WHAT: add x y z, softmax x y, rms_norm x w y, matmul a b c (with a leaky ReLU behind), causal q k v o.
"""
import ast
import math
import struct
import sys

TYPES = {"f16": ("<f2", 2), "bf16": ("|V2", 2), "f32": ("<f4", 4), "f64": ("<f8", 8)}


def round_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def encode(values, kind):
    if kind == "bf16":
        return struct.pack(f"<{len(values)}H", *map(round_bf16, values))
    return struct.pack(f"<{len(values)}{dict(f16='e', f32='f', f64='d')[kind]}", *values)


def decode(data, descr):
    if descr.endswith("V2"):
        return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in struct.unpack(f"<{len(data) // 2}H", data)]
    code, size = {"<f2": ("e", 2), "<f4": ("f", 4), "<f8": ("d", 8)}[descr]
    return list(struct.unpack(f"<{len(data) // size}{code}", data))


def save(path, shape, values, kind):
    header = repr({"descr": TYPES[kind][0], "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + encode(values, kind))


def load(path):
    """(shape, values in row-major order)"""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    return header["shape"], decode(data[10 + length :], header["descr"])


def make(specs):
    seed = 1
    for spec in specs:
        name, rest = spec.split("=")
        kind, dims = rest.rstrip("]").split("[")
        shape = [int(dim) for dim in dims.split(",")]
        values = []
        for _ in range(math.prod(shape)):
            seed = (seed * 1664525 + 1013904223) % 2**32
            values.append(seed / 2**31 - 1)
        save(name + ".npy", shape, values, kind)


def rows_of(tensor):
    """The last axis as lists."""
    shape, values = tensor
    return [values[at : at + shape[-1]] for at in range(0, len(values), shape[-1])]


def add(x, y):
    return [a + b for a, b in zip(x[1], y[1])]


def softmax(x):
    result = []
    for row in rows_of(x):
        weights = [math.exp(value - max(row)) for value in row]
        result += [weight / sum(weights) for weight in weights]
    return result


def rms_norm(x, w):
    result = []
    for row in rows_of(x):
        scale = 1 / math.sqrt(sum(value * value for value in row) / len(row) + 1e-5)
        result += [value * scale * factor for value, factor in zip(row, w[1])]
    return result


def matmul(a, b):
    columns = list(zip(*rows_of(b)))
    result = [sum(map(lambda x, y: x * y, row, column)) for row in rows_of(a) for column in columns]
    return [max(value, 0.01 * value) for value in result]


def causal(q, k, v):
    (batch, heads, queries, dim), (_, groups, keys, _) = q[0], k[0]
    q, k, v = rows_of(q), rows_of(k), rows_of(v)
    result = []
    for number, query in enumerate(q):
        b, h, i = number // (heads * queries), number // queries % heads, number % queries
        first = (b * groups + h // (heads // groups)) * keys
        seen = range(first, first + max(0, i + keys - queries + 1))
        scores = [sum(x * y for x, y in zip(query, k[j])) / math.sqrt(dim) for j in seen]
        weights = [math.exp(score - max(scores)) for score in scores]
        total = sum(weights) or 1
        result += [sum(w * v[j][e] for w, j in zip(weights, seen)) / total for e in range(len(v[0]))]
    return result


def check(what, paths):
    *operands, (_, got) = [load(path) for path in paths]
    want = globals()[what](*operands)
    error = max(abs(a - b) if a == a else math.inf for a, b in zip(got, want))
    size = max(map(abs, want))
    right = len(got) == len(want) and error <= 0.01 * size
    print(f"{what}: {len(got)} elements, " + ("right" if right else f"WRONG by {error:g}"))
    return not right


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    sys.exit(make(rest) if command == "make" else check(rest[0], rest[1:]))
