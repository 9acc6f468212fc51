#!/usr/bin/env python3
"""Makes the relocatable archive of Tegula: tools, tests and the shared libraries that they need.

  make_bundle.py libs  --out libs.tar.xz  --cc CC --readelf R  LIBRARY...   the shared libraries (large, change never)
  make_bundle.py files --out files.tar.xz --strip S  SOURCE=PLACE...        tools and test files (small, change often)
  make_bundle.py join  --out bundle.tar.xz --limit-mib N  PART...           one archive of both

The parts are xz streams of one tar archive, cut between members, so that joining them is a concatenation.
Libraries that LLVM links but our paths never call (z3, libxml2 with its ICU data, libedit) are replaced by stand-ins of a few
kilobytes that define every symbol LLVM wants from them; each function aborts with its name.
"""
import argparse, io, lzma, os, re, subprocess, sys, tarfile, tempfile

ROOT = "tegula"
STAND_INS = ("libz3", "libxml2", "libedit")
GLIBC = re.compile(r"^(ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|linux-vdso|libresolv\.so)")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(readelf, path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run(readelf, "-d", path))


def resolve(path):
    """Maps each library name that `path` loads, itself or through others, to a file."""
    return dict(re.findall(r"(\S+) => (/\S+)", run("ldd", path)))


def stand_in(name, users, readelf, cc, folder):
    """Builds a library called `name` which defines what `users` want from `name`'s namespace: by version where the real one has
    versions, else by symbol prefix."""
    prefix = {"libz3": ("Z3_",), "libxml2": ("xml", "html"),
              "libedit": ("el_", "history", "tok_", "readline")}[name.split(".")[0]]
    functions, data = {}, {}
    for user in users:
        for line in run(readelf, "-W", "--dyn-syms", user).splitlines():
            fields = line.split()
            if len(fields) < 8 or fields[6] != "UND":
                continue
            symbol, _, version = fields[7].partition("@")
            if symbol.startswith(prefix):
                (data if fields[3] == "OBJECT" else functions)[symbol] = version.strip("@")
    lines = ["#include <stdio.h>", "#include <stdlib.h>",
             'static void die(const char *f) { fprintf(stderr, "internal: %s: not part of this bundle\\n", f); abort(); }']
    lines += [f'void {f}(void) {{ die("{f}"); }}' for f in sorted(functions)]
    lines += [f"void *{d}[2];" for d in sorted(data)]
    source = os.path.join(folder, name + ".c")
    with open(source, "w") as f:
        f.write("\n".join(lines) + "\n")
    command = [cc, "-shared", "-fPIC", "-Os", "-w", "-fno-builtin", f"-Wl,-soname,{name}", source, "-o", os.path.join(folder, name)]
    symbols = {**functions, **data}
    versions = sorted(set(symbols.values()) - {""})
    if versions:
        script = os.path.join(folder, name + ".map")
        with open(script, "w") as f:
            for version in versions:
                members = "; ".join(sorted(s for s, v in symbols.items() if v == version))
                f.write(f"{version} {{ global: {members}; }};\n")
        command.insert(-2, f"-Wl,--version-script={script}")
    run(*command)
    return os.path.join(folder, name), len(symbols)


def write_part(out, members, last):
    """Writes `members` [(file, place)] as an xz stream; all but the last part leave out the end-of-archive blocks."""
    raw = io.BytesIO()
    tar = tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT)
    for path, place in sorted(members, key=lambda m: m[1]):
        info = tar.gettarinfo(path, arcname=f"{ROOT}/{place}")
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        with open(path, "rb") as f:
            tar.addfile(info, f)
    end = tar.offset
    tar.close()
    size = len(raw.getvalue()) if last else end
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(out)), delete=False) as f:
        compress = subprocess.Popen(["xz", "-T0", "-6", "-c"], stdin=subprocess.PIPE, stdout=f)
        compress.stdin.write(raw.getbuffer()[:size])
        compress.stdin.close()
        if compress.wait() != 0:
            sys.exit("error: xz failed")
    os.chmod(f.name, 0o644)
    os.replace(f.name, out)
    print(f"{out}: {os.path.getsize(out) / 2**20:.1f} MiB, {len(members)} files")


def make_libs(args):
    newest = max(os.path.getmtime(path) for path in args.inputs)
    if os.path.exists(args.out) and os.path.getmtime(args.out) > newest:
        os.utime(args.out)
        return
    members, stand_ins, users = {}, set(), []
    work = list(args.inputs)
    known = {}
    for path in args.inputs:
        known.update(resolve(path))
    while work:
        path = work.pop()
        name = re.search(r"\(SONAME\).*\[(.*)\]", run(args.readelf, "-d", path))
        name = name.group(1) if name else os.path.basename(path)
        if name in members:
            continue
        members[name] = os.path.realpath(path)
        users.append(path)
        for dependency in needed(args.readelf, path):
            if GLIBC.match(dependency):
                continue
            if dependency.split(".")[0] in STAND_INS:
                stand_ins.add(dependency)
            elif dependency in known:
                work.append(known[dependency])
            else:
                sys.exit(f"error: {path} needs '{dependency}', which was not found")
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(stand_ins):
            members[name], count = stand_in(name, users, args.readelf, args.cc, folder)
            print(f"{name}: stand-in with {count} symbols")
        write_part(args.out, [(path, f"lib/{name}") for name, path in members.items()], last=False)


def make_files(args):
    members = []
    with tempfile.TemporaryDirectory() as folder:
        for item in args.inputs:
            source, _, place = item.rpartition("=")
            files = [(source, place)]
            if os.path.isdir(source):
                files = [(os.path.join(root, f), os.path.join(place, os.path.relpath(os.path.join(root, f), source)))
                         for root, folders, names in os.walk(source) for f in names
                         if "__pycache__" not in root and not f.endswith((".pyc", "CMakeLists.txt"))
                         and not (place.startswith("test") and f.endswith((".cpp", ".h")))]
            for path, target in files:
                with open(path, "rb") as f:
                    elf = f.read(4) == b"\x7fELF"
                if elf:
                    stripped = os.path.join(folder, str(len(members)))
                    run(args.strip, "-o", stripped, os.path.realpath(path))
                    path = stripped
                members.append((path, target))
        write_part(args.out, members, last=True)


def join(args):
    with open(args.out + ".part", "wb") as out:
        for part in args.inputs:
            with open(part, "rb") as f:
                while chunk := f.read(1 << 22):
                    out.write(chunk)
    os.replace(args.out + ".part", args.out)
    size = os.path.getsize(args.out) / 2**20
    print(f"{args.out}: {size:.1f} MiB")
    if size > args.limit_mib:
        sys.exit(f"error: expected an archive of at most {args.limit_mib} MiB, but got {size:.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["libs", "files", "join"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--strip", default="strip")
    parser.add_argument("--limit-mib", type=float, default=60)
    parser.add_argument("inputs", nargs="+")
    args = parser.parse_args()
    {"libs": make_libs, "files": make_files, "join": join}[args.step](args)


if __name__ == "__main__":
    main()
