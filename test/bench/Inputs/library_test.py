"""bench/library.py against the runtime with a stand-in for the driver: library_test.py BENCH LIBRARY MANIFEST."""
import ctypes
import json
import os
import sys
import tempfile
import unittest

bench, path, manifest = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, bench)
import library

SIZES = {"pointer": 8, "stride": 8, "tensor_map": 128}


def write_kernel(folder):
    """The manifest, and as its code what the stand-in takes for one: the kernel's name and the sizes of its parameters."""
    with open(manifest) as file:
        text = file.read()
    fields = json.loads(text)
    sizes = [SIZES.get(argument["kind"], 8 if argument.get("type") == "i64" else 4) for argument in fields["arguments"]]
    stem = os.path.join(folder, "kernel")
    with open(stem + ".json", "w") as file:
        file.write(text)
    with open(stem + ".cubin", "w") as file:
        file.write(" ".join(["kernel", fields["symbol"], *map(str, sizes)]) + "\n")
    return stem


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        loader = library.Library(path)
        self.kernel = loader.load(write_kernel(self.folder.name))
        buffer = ctypes.c_void_p()
        loader.check(loader.api.tegula_buffer_create(0, ctypes.c_size_t(1 << 20), ctypes.byref(buffer)))
        loader.api.tegula_buffer_data.restype = ctypes.c_void_p
        address = loader.api.tegula_buffer_data(buffer)
        self.tensors = {name: (address, (1, 2, 48, 64), (2 * 48 * 64, 48 * 64, 64, 1)) for name in ("q", "k", "v", "o")}
        self.tensors["lse"] = address, (1, 2, 48), (96, 48, 1)

    def tearDown(self):
        self.folder.cleanup()

    def test_launch(self):
        arguments = self.kernel.arguments(self.tensors, {"W": 16})
        chosen, reason = arguments.choose()
        self.assertEqual((chosen["name"], chosen["form"], reason), ("window", "pipelined", ""))
        arguments.launch(0)

    def test_refusals_have_the_runtime_s_words(self):
        with self.assertRaisesRegex(RuntimeError, "`W`"):
            self.kernel.arguments(self.tensors, {}).launch(0)
        self.tensors["k"] = self.tensors["k"][0], (1, 2, 48, 32), (2 * 48 * 32, 48 * 32, 32, 1)
        with self.assertRaisesRegex(RuntimeError, "`k`.*64"):
            self.kernel.arguments(self.tensors, {"W": 16}).launch(0)


unittest.main()
