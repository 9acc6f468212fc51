# lit configuration, for the build tree and for the bundle alike (their lit.site.cfg.py set the paths).
#
# Features: `cuda` (a GPU and its driver), `sm90` (it is a Hopper GPU), `ptxas`, `nvdisasm`, `compute-sanitizer`, `sanitize` (built with sanitizers),
# `build-tree` (not the bundle), `ahead-of-time` (built where ptxas was), `libfuzzer` (built where clang had it), `full` (TEGULA_FULL is set). Substitutions: %source_dir, %binary_dir, %examples,
# %python, %ptxas, %nvdisasm, %compute-sanitizer.
# `tegula`, `tegula-opt`, FileCheck, not and split-file are found through PATH.
import os
import subprocess
import sys

import lit.formats
import lit.util

config.name = "tegula"
config.suffixes = [".mlir", ".tg", ".test"]
config.excludes = ["unit", "Inputs", "inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_format = lit.formats.ShTest(execute_external=False)

path = [config.tegula_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
if config.ptxas:
    path.append(os.path.dirname(config.ptxas))
config.environment["PATH"] = os.pathsep.join(path)
for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "HOME", "TEGULA_FULL"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")

if config.sanitize:
    config.available_features.add("sanitize")

config.substitutions += [
    ("%source_dir", config.tegula_source_dir),
    ("%binary_dir", config.tegula_binary_dir),
    ("%examples", os.path.join(config.tegula_source_dir, "examples")),
    ("%python", sys.executable),
    ("%ptxas", config.ptxas or "ptxas-was-not-found"),
    ("%compute-sanitizer", config.compute_sanitizer or "compute-sanitizer-was-not-found"),
    ("%nvdisasm", config.nvdisasm or "nvdisasm-was-not-found"),
]

# Whatever tegula-opt reads is also printed and read again, in the custom and in the generic form, and has to be the same.
config.substitutions.append((r"(?<![\w./%-])tegula-opt(?=\s)", "tegula-opt --verify-roundtrip"))

if "TEGULA_FULL" in os.environ:
    config.available_features.add("full")
if os.path.exists(os.path.join(config.tegula_binary_dir, "build.ninja")):
    config.available_features.add("build-tree")
if os.path.exists(os.path.join(config.tegula_tools_dir, "tegula-example-ahead-of-time")):
    config.available_features.add("ahead-of-time")
if os.path.exists(os.path.join(config.tegula_tools_dir, "tegula-lang-fuzzer")):
    config.available_features.add("libfuzzer")

PROBE = """
import ctypes
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    raise SystemExit("none: " + str(error))
if status := cuda.cuInit(0):
    raise SystemExit(f"none: cuInit gave error {status}")
count, value = ctypes.c_int(), ctypes.c_int()
cuda.cuDeviceGetCount(ctypes.byref(count))
if not count.value:
    raise SystemExit("none: the driver sees no device")
cuda.cuDeviceGetAttribute(ctypes.byref(value), 75, 0)
major = value.value
cuda.cuDeviceGetAttribute(ctypes.byref(value), 76, 0)
print(f"sm{major}{value.value}")
"""
probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
if probe.returncode == 0:
    config.available_features.update(["cuda", probe.stdout.strip()])
else:
    reason = probe.stderr.strip().splitlines()[-1].removeprefix("none: ")
    lit_config.note(f"no GPU ({reason}): tests that need one are skipped")

for tool in ("ptxas", "nvdisasm", "compute-sanitizer"):
    if getattr(config, tool.replace("-", "_")):
        config.available_features.add(tool)
    else:
        lit_config.note(f"no {tool}: tests that need it are skipped")

# Every test ends: lit kills a test after this many seconds; without psutil each tool runs under timeout(1) instead.
limit = int(os.environ.get("TEGULA_TEST_SECONDS", "300"))
if lit.util.killProcessAndChildrenIsSupported()[0]:
    if lit_config.maxIndividualTestTime == 0:
        lit_config.maxIndividualTestTime = limit
else:
    for tool in ("tegula", "tegula-exec-tests"):
        config.substitutions.append((rf"(?<![\w./%-]){tool}(?=\s)", f"timeout -k 5 {limit} {tool}"))
