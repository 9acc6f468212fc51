"""Writes the .npy files of npy.test without NumPy; --show prints headers."""
import struct
import sys


def write(path, descr, shape, values, fortran=False, cut=None):
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape})
    header = header.ljust(117) + "\n"
    code = {"<f4": "f", "<f8": "d"}[descr]
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)
    with open(path, "wb") as f:
        f.write(data if cut is None else data[:cut])


if sys.argv[1] == "--show":
    for path in sys.argv[2:]:
        with open(path, "rb") as f:
            data = f.read()
        print(data[10 : 10 + struct.unpack("<H", data[8:10])[0]].decode().strip())
    sys.exit()

folder = sys.argv[1] + "/"
q = [((7 * n) % 13 - 6) / 4 for n in range(2 * 3 * 64)]
k = [((5 * n) % 17 - 8) / 8 for n in range(7 * 64)]
v = [((3 * n) % 11 - 5) / 2 for n in range(7 * 64)]
write(folder + "q.npy", "<f4", (1, 2, 3, 64), q)
write(folder + "k.npy", "<f4", (1, 1, 7, 64), k)
write(folder + "v.npy", "<f4", (1, 1, 7, 64), v)
write(folder + "k-fortran.npy", "<f4", (1, 1, 7, 64), [k[j * 64 + d] for d in range(64) for j in range(7)], fortran=True)
write(folder + "k64.npy", "<f8", (1, 1, 7, 64), k)
write(folder + "k32.npy", "<f4", (1, 1, 7, 32), k[: 7 * 32])
write(folder + "short.npy", "<f4", (1, 2, 3, 64), q, cut=128 + 1000)
write(folder + "header.npy", "<f4", (1, 2, 3, 64), q, cut=100)
with open(folder + "text.npy", "w") as f:
    f.write("1 2 3\n")
