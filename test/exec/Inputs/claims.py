"""Tables for claims-cpu.test and claims-gpu.test that break what claims.tg says of them."""
import struct


def write(name, descr, code, shape, values):
    header = str({"descr": descr, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values))


write("falls.npy", "<i4", "i", (2, 90), [5] * (90 + 17) + [3] * (90 - 17))
write("nan.npy", "<f2", "e", (90,), [1.0] * 88 + [float("nan"), 1.0])
write("long.npy", "<i4", "i", (3000,), [9] * 2047 + [7] * (3000 - 2047))
