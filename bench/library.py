"""Tegula's C interface (runtime/tegula.h) through ctypes."""
import ctypes
import json
import os

TYPES = ["bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]


class TensorView(ctypes.Structure):
    """tegula_tensor."""
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class Report(ctypes.Structure):
    """tegula_launch_report."""
    _fields_ = [("form", ctypes.c_int), ("reason", ctypes.c_char * 256)]


class Library:
    def __init__(self, path):
        self.api = ctypes.CDLL(path)
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        self.api.tegula_last_error.restype = text
        self.api.tegula_kernel_load.argtypes = [text, text, ctypes.c_size_t, ctypes.c_int, pointer]
        self.api.tegula_kernel_load_pair.argtypes = [text, text, ctypes.c_size_t, text, text, ctypes.c_size_t, ctypes.c_int, pointer]
        self.api.tegula_kernel_destroy.argtypes = [pointer]
        self.api.tegula_args_create.argtypes = [pointer, pointer]
        self.api.tegula_args_destroy.argtypes = [pointer]
        self.api.tegula_args_set_tensor.argtypes = [pointer, text, pointer]
        self.api.tegula_args_set_int.argtypes = [pointer, text, ctypes.c_int64]
        self.api.tegula_args_set_float.argtypes = [pointer, text, ctypes.c_double]
        self.api.tegula_choose.argtypes = [pointer, pointer, pointer]
        self.api.tegula_launch.argtypes = [pointer, pointer, pointer, pointer]

    def check(self, status):
        if status:
            raise RuntimeError(self.api.tegula_last_error().decode())

    def load(self, path):
        """The kernel whose files are PATH.json and PATH.cubin, with PATH.direct.* beside it where they are."""
        return Kernel(self, path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Kernel:
    def __init__(self, library, path):
        self.library, self.handle = library, ctypes.c_void_p()
        forms = [path] + [path + ".direct"] * os.path.exists(path + ".direct.cubin")
        codes = [(read(form + ".json"), read(form + ".cubin")) for form in forms]
        self.manifests = [json.loads(manifest) for manifest, _ in codes]
        self.signature = self.manifests[0]
        parts = [part for manifest, image in codes for part in (manifest, image, len(image))]
        load = library.api.tegula_kernel_load if len(codes) == 1 else library.api.tegula_kernel_load_pair
        library.check(load(*parts, 0, ctypes.byref(self.handle)))

    def __del__(self):
        self.library.api.tegula_kernel_destroy(self.handle)

    def arguments(self, tensors, scalars):
        """`tensors`: name -> (address, sizes, strides in elements); `scalars`: name -> number."""
        return Arguments(self, tensors, scalars)


class Arguments:
    def __init__(self, kernel, tensors, scalars):
        self.kernel, self.api, self.handle = kernel, kernel.library.api, ctypes.c_void_p()
        check = kernel.library.check
        check(self.api.tegula_args_create(kernel.handle, ctypes.byref(self.handle)))
        types = {tensor["name"]: TYPES.index(tensor["type"]) for tensor in kernel.signature["tensors"]}
        for name, (address, sizes, strides) in tensors.items():
            row = ctypes.c_int64 * len(sizes)
            view = TensorView(address, types[name], len(sizes), row(*sizes), row(*strides))
            check(self.api.tegula_args_set_tensor(self.handle, name.encode(), ctypes.byref(view)))
        real = {scalar["name"]: scalar["type"] in ("f32", "f64") for scalar in kernel.signature["scalars"]}
        for name, value in scalars.items():
            if real[name]:
                check(self.api.tegula_args_set_float(self.handle, name.encode(), float(value)))
            else:
                check(self.api.tegula_args_set_int(self.handle, name.encode(), int(value)))

    def __del__(self):
        self.api.tegula_args_destroy(self.handle)

    def choose(self):
        """The manifest of the kernel that a launch takes, and why it is not the preferred one ('' if it is)."""
        report = Report()
        self.kernel.library.check(self.api.tegula_choose(self.kernel.handle, self.handle, ctypes.byref(report)))
        form = ["pipelined", "direct"][report.form]
        manifest = next(manifest for manifest in self.kernel.manifests if manifest["form"] == form)
        return manifest, report.reason.decode()

    def launch(self, stream):
        """`stream`: a CUstream."""
        if self.api.tegula_launch(self.kernel.handle, self.handle, stream, None):
            raise RuntimeError(self.api.tegula_last_error().decode())
