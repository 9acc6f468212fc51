"""What a kernel that counts its visits of blocks counts, without a GPU: runs the scalar code of the role that counts, as the text of the stage `warp` has it, and compares with `tegula explain`.

Usage: count_visits.py FILE.tg ITEM FIELDS SIZES [NAME=VALUE]...

FIELDS are those of --schedule, with a form, SIZES those of --size. A VALUE is a number, or `sorted` or `lengths`, for a table of N ids of documents or of B lengths up to N; -D takes D and E.
Tiles and copies are nothing here; what they decide would fail as an unknown value.
"""
import bisect
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

OP = re.compile(r'^(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^()]*)\)(?: <\{(.*?)\}>)?(.*)$')


class Op:
    def __init__(self, match):
        self.result, count, self.name, operands, self.props, self.tail = match.groups()
        self.operands = [name.strip() for name in operands.split(",") if name.strip()]
        self.results = [] if not self.result else [self.result] if not count else [f"{self.result}#{n}" for n in range(int(count))]
        self.props, self.regions = self.props or "", []

    def types(self):
        takes, gives = re.search(r": \((.*?)\) -> (.*)$", self.tail).groups()
        return [width(t) for t in takes.split(", ")] if takes else [], width(gives)

    def number(self, key):
        return int(re.search(rf"{key} = (-?\d+)", self.props)[1])


def width(text):
    match = re.fullmatch(r"i(\d+)", text.strip())
    return int(match[1]) if match else 0


def parse(lines):
    """Ops of a block list until its closing line; a region is (arguments, ops)."""
    arguments, ops = [], []
    while True:
        line = next(lines).strip()
        if line.startswith("^"):
            arguments = re.findall(r"(%\w+): ", line)
        elif line.startswith("}"):
            return (arguments, ops), line
        elif match := OP.match(line):
            op = Op(match)
            ops.append(op)
            if line.endswith("({"):
                region, end = parse(lines)
                op.regions.append(region)
                while end == "}, {":
                    region, end = parse(lines)
                    op.regions.append(region)
                op.tail = end


def wrapped(value, bits):
    if bits == 1:
        return value & 1
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0


COMPARE = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
BINARY = {
    "addi": lambda x, y: x + y, "subi": lambda x, y: x - y, "muli": lambda x, y: x * y, "andi": lambda x, y: x & y, "ori": lambda x, y: x | y, "xori": lambda x, y: x ^ y,
    "minsi": min, "maxsi": max, "divsi": quotient, "remsi": lambda x, y: x - quotient(x, y) * y, "ceildivsi": lambda x, y: -(-x // y), "floordivsi": lambda x, y: x // y,
    "shli": lambda x, y: x << y, "shrsi": lambda x, y: x >> y,
    "minui": min, "maxui": max, "divui": lambda x, y: x // y if y else 0, "remui": lambda x, y: x % y if y else 0, "shrui": lambda x, y: x >> y}


class Machine:
    """One thread of the role that counts."""

    def __init__(self, values, tables):
        self.values, self.tables, self.counts = values, tables, [0, 0]  # partial, full

    def get(self, names):
        return [self.values.get(name) for name in names]

    def run(self, ops):
        """The operands of the terminator."""
        for op in ops:
            if op.name in ("scf.yield", "warp.yield", "tile.yield", "scf.condition"):
                return self.get(op.operands)
            handler = getattr(self, op.name.replace(".", "_"), None)
            results = handler(op) if handler else self.scalar(op)
            self.values.update(zip(op.results, results))
        return []

    def region(self, region, arguments):
        self.values.update(zip(region[0], arguments))
        return self.run(region[1])

    def loop(self, op, numbers, state):
        for number in numbers:
            state = self.region(op.regions[0], [number, *state])
        return state

    def scf_for(self, op):
        first, last, step, *state = self.get(op.operands)
        return self.loop(op, range(first, last, step), state)

    def warp_for_tiles(self, op):
        total, *state = self.get(op.operands)
        return self.loop(op, range(total), state)

    def scf_if(self, op):
        condition = self.get(op.operands)[0]
        if condition is None and all(not self.counting(region[1]) for region in op.regions):
            return [None] * len(op.results)
        region = op.regions[0 if condition else 1]
        return self.region(region, [])

    def counting(self, ops):
        return any(op.name == "tile.visit" or any(self.counting(region[1]) for region in op.regions) for op in ops)

    def scf_while(self, op):
        state = self.get(op.operands)
        while True:
            condition, *state = self.region(op.regions[0], state)
            if not condition:
                return state
            state = self.region(op.regions[1], state)

    def warp_classify_blocks(self, op):
        first, end = self.get(op.operands)
        step, words = op.number("step"), [0] * len(op.results)
        for lane in range(32):
            number = first + lane * step
            flags = self.region(op.regions[0], [number])
            flags[0] &= number < end
            words = [word | flag << lane for word, flag in zip(words, flags)]
        return words

    def tile_visit(self, op):
        tested, *exists = self.get(op.operands)
        self.counts[0 if tested else 1] += exists[0] if exists else 1
        return []

    def tile_lookup(self, op):
        name, *place = op.operands
        table = self.tables.get(name)
        if table is None:
            return [None]
        for index in self.get(place):
            table = table[min(max(index, 0), len(table) - 1)]
        return [table]

    def scalar(self, op):
        values = self.get(op.operands)
        short = op.name.split(".")[1]
        if op.name == "arith.constant":
            match = re.match(r"value = (-?\d+|true|false)(?: : i\d+)?$", op.props)
            return [{"true": 1, "false": 0}.get(match[1]) if match[1] in ("true", "false") else int(match[1])] if match else [None]
        if not op.results or any(value is None for value in values) or not op.name.startswith(("arith.", "math.", "warp.uniform")):
            return [None] * len(op.results)
        takes, bits = op.types()
        if any(size == 0 for size in [*takes, bits]):
            return [None] * len(op.results)
        unsigned = [value & ((1 << size) - 1) for value, size in zip(values, takes)]
        if short == "cmpi":
            predicate = COMPARE[op.number("predicate")]
            x, y = unsigned if predicate.startswith("u") else values
            result = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[predicate[-2:]]
        elif short == "select":
            result = values[1] if values[0] else values[2]
        elif short in BINARY:
            result = BINARY[short](*(unsigned if short.endswith("ui") else values))
        elif short == "extui":
            result = unsigned[0]
        elif short == "ctpop":
            result = bin(unsigned[0]).count("1")
        elif short == "cttz":
            result = (unsigned[0] & -unsigned[0]).bit_length() - 1 if unsigned[0] else bits
        elif short in ("extsi", "trunci", "uniform"):
            result = values[0]
        else:
            sys.exit(f"unknown op {op.name}")
        return [wrapped(int(result), bits)]


def output(command, **options):
    run = subprocess.run(command, capture_output=True, text=True, **options)
    if run.returncode:
        sys.exit(f"{' '.join(command)}: {run.returncode}\n{run.stderr}")
    return run.stdout


def save(path, values):
    header = repr({"descr": "<i4", "fortran_order": False, "shape": (len(values),)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}i", *values))


def find(ops, name):
    for op in ops:
        if op.name == name:
            yield op
        for region in op.regions:
            yield from find(region[1], name)


def count(text, sizes, scalars, arrays):
    lines = iter(text.splitlines())
    while '"builtin.module"' not in next(lines):
        pass
    kernel = next(find(parse(lines)[0][1], "warp.kernel"))
    facts = re.search(r"arg_attrs = \[(.*)\]", kernel.props)[1]
    arguments, depth, start = [], 0, 0
    for place, letter in enumerate(facts):
        if letter == "{":
            start, depth = (place, 1) if depth == 0 else (start, depth + 1)
        elif letter == "}":
            depth -= 1
            if depth == 0:
                arguments.append(facts[start:place])
    values, tables = {}, {}
    for name, fact in zip(kernel.regions[0][0], arguments):
        own = re.search(r'tile\.(?:dim|name) = "([\w.]+)"', fact)[1]
        if own in arrays:
            tables[name] = arrays[own]
        else:
            values[name] = {**sizes, **scalars}.get(own)
    roles = [role for role in find(kernel.regions[0][1], "warp.role") if next(find(role.regions[0][1], "tile.visit"), None)]
    if len(roles) != 1:
        sys.exit(f"{len(roles)} roles count")
    machine = Machine(values, tables)
    machine.region(roles[0].regions[0], [])
    return machine.counts


def main():
    path, item, fields, size, *rest = sys.argv[1:]
    sizes = {name: int(value) for name, value in (pair.split("=") for pair in size.split(","))}
    scalars, arrays, given, defines = {}, {}, [], []
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (argument.split("=") for argument in rest):
            if name.isupper() and len(name) == 1 and name in "DE":
                defines += ["-D", f"{name}={value}"]
                continue
            if value in ("sorted", "lengths"):
                if value == "sorted":
                    ids = arrays[name] = sorted(generator.randrange(max(1, sizes["N"] // 400)) for _ in range(sizes["N"]))
                    # What the pre-pass finds for a row whose number is in the table at its own place.
                    arrays["prepass.table"] = [[[side(ids, value) for value in ids]] for side in (bisect.bisect_left, bisect.bisect_right)]
                else:
                    arrays[name] = [generator.randrange(sizes["N"] + 1) for _ in range(sizes["B"])]
                save(os.path.join(folder, name + ".npy"), arrays[name])
                value = "@" + os.path.join(folder, name + ".npy")
            else:
                scalars[name] = int(value)
            given += ["--arg", f"{name}={value}"]
        program = ["--item", item, *defines, "--schedule", fields]
        report = json.loads(output(["tegula", "explain", path, *program, "--size", size, *given, "--json"]))
        output(["tegula", "compile", path, *program, "--emit=cubin", "--debug", "-o", os.path.join(folder, "out"), "--dump-dir", os.path.join(folder, "stages")])
        text = output(["tegula-opt", "--mlir-print-op-generic", *glob.glob(os.path.join(folder, "stages", "*warp*"))])
        partial, full = count(text, sizes, scalars, arrays)
    proved = report["tiles"]
    same = (partial, full) == (proved["proved_partial"], proved["proved_full"])
    print(f"{item} {size}: {partial} partial, {full} full, {'as explained' if same else 'explained ' + str((proved['proved_partial'], proved['proved_full']))}")
    sys.exit(not same)


main()
