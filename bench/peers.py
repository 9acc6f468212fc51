"""The peers. Each class has `version()`, which raises where the peer is not present, and `prepare(problem)`, which gives a launch: a function of no
arguments that enqueues one forward pass on the current stream and returns o as [B, H, S, D]. What a peer cannot do raises Unsupported."""
import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import lzma
import math
import os
import shutil
import statistics
import tempfile

import torch
import torch.nn.functional
from torch.nn.attention import SDPBackend, sdpa_kernel


class Unsupported(Exception):
    """The peer has no such kernel; it is left out of the row."""


def only(problem, *kernels):
    if problem.kernel not in kernels:
        raise Unsupported(problem.kernel)


class Sdpa:
    """PyTorch's scaled_dot_product_attention by one backend."""

    def __init__(self, backend):
        self.backend = backend

    def version(self):
        if self.backend == SDPBackend.CUDNN_ATTENTION:
            return "cuDNN %d.%d.%d" % ((v := torch.backends.cudnn.version()) // 10000, v // 100 % 100, v % 100)
        return f"torch {torch.__version__}"

    def prepare(self, problem):
        only(problem, "full", "causal")

        def launch():
            with sdpa_kernel([self.backend]):
                return torch.nn.functional.scaled_dot_product_attention(problem.q, problem.k, problem.v,
                                                                        is_causal=problem.kernel == "causal")
        return launch


class Flex:
    """FlexAttention, compiled; the block mask is made once, outside of what is timed."""

    def version(self):
        importlib.import_module("torch.nn.attention.flex_attention")
        return f"torch {torch.__version__}"

    def prepare(self, problem):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        torch._dynamo.reset()
        block_mask = None
        if problem.mask:
            batch = problem.batch if problem.kernel == "prefix" else None
            block_mask = create_block_mask(problem.mask, batch, None, problem.s, problem.s, device=problem.q.device)
        compiled = torch.compile(flex_attention, dynamic=False)
        return lambda: compiled(problem.q, problem.k, problem.v, score_mod=problem.score, block_mask=block_mask)


class Flash3:
    """FlashAttention-3: a library of operators for PyTorch, or a folder with fa3.so or fa3.so.xz and what it needs beside it."""
    NAMESPACES = ("flash_attn_3", "fa3_fwd")

    def __init__(self, path):
        self.path = path

    def version(self):
        if not self.path:
            raise ImportError("no --peer flash3=PATH")
        file = self.path
        if os.path.isdir(file):
            for name in sorted(os.listdir(file)):
                if name.startswith("libcudart.so"):
                    ctypes.CDLL(os.path.join(file, name), ctypes.RTLD_GLOBAL)
            file = os.path.join(file, "fa3.so")
        if not os.path.exists(file):
            self.unpacked = tempfile.TemporaryDirectory()
            packed, file = file + ".xz", os.path.join(self.unpacked.name, "fa3.so")
            with lzma.open(packed) as source, open(file, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 22)
        torch.ops.load_library(file)
        for name in self.NAMESPACES:
            if hasattr(getattr(torch.ops, name), "fwd"):
                self.forward = getattr(torch.ops, name).fwd
                return f"torch.ops.{name} in {os.path.basename(self.path.rstrip('/'))}"
        raise ImportError("none of " + ", ".join(self.NAMESPACES) + " is in the library")

    def prepare(self, problem):
        only(problem, "full", "causal", "window", "softcap", "documents")
        q, k, v = problem.tokens_first()
        options = {"softmax_scale": problem.scale, "is_causal": problem.kernel != "full", "num_splits": 1}
        if problem.kernel == "softcap":
            options["softcap"] = float(problem.parameters["cap"])
        if problem.kernel == "window":
            options.update(is_causal=False, window_size_left=problem.parameters["W"] - 1, window_size_right=0)
        if problem.kernel == "documents":
            # Documents are sequences of their own lengths, in all batch entries.
            q, k, v = (t.flatten(0, 1) for t in (q, k, v))
            lengths = torch.unique_consecutive(problem.parameters["doc"], return_counts=True)[1].repeat(problem.batch)
            starts = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()
            options.update(cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=int(lengths.max()), max_seqlen_k=int(lengths.max()))
        shape = (problem.batch, problem.s, problem.heads, problem.d)
        return lambda: self.forward(q, k, v, **options)[0].view(shape).transpose(1, 2)


class Flash4:
    """FlashAttention-4's Python package."""

    def version(self):
        self.attention = importlib.import_module("flash_attn.cute").flash_attn_func
        return importlib.metadata.version("flash-attn-4")

    def prepare(self, problem):
        only(problem, "full", "causal", "window", "softcap")
        q, k, v = problem.tokens_first()
        options = {"softmax_scale": problem.scale, "causal": problem.kernel != "full"}
        if problem.kernel == "softcap":
            options["softcap"] = float(problem.parameters["cap"])
        if problem.kernel == "window":
            options.update(causal=False, window_size=(problem.parameters["W"] - 1, 0))

        def launch():
            result = self.attention(q, k, v, **options)
            return (result[0] if isinstance(result, tuple) else result).transpose(1, 2)
        return launch


class FlashInfer:
    """FlashInfer's prefill of sequences that lie one behind the other."""

    def version(self):
        self.module = importlib.import_module("flashinfer")
        return self.module.__version__

    def prepare(self, problem):
        only(problem, "full", "causal", "window", "softcap")
        q, k, v = (t.flatten(0, 1) for t in problem.tokens_first())
        workspace = torch.empty(256 << 20, dtype=torch.uint8, device=q.device)
        wrapper = self.module.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD")
        starts = torch.arange(problem.batch + 1, dtype=torch.int32, device=q.device) * problem.s
        options = {"causal": problem.kernel != "full", "sm_scale": problem.scale, "q_data_type": q.dtype}
        if problem.kernel == "softcap":
            options["logits_soft_cap"] = float(problem.parameters["cap"])
        if problem.kernel == "window":
            options["window_left"] = problem.parameters["W"] - 1
        wrapper.plan(starts, starts, problem.heads, problem.heads, problem.d, **options)
        shape = (problem.batch, problem.s, problem.heads, problem.d)
        return lambda: wrapper.run(q, k, v).view(shape).transpose(1, 2)


class Lab:
    """Hand-written kernels for Hopper: a folder with index.json and cubins, of which the fastest for the problem is taken."""

    class Arguments(ctypes.Structure):
        _fields_ = ([(name, ctypes.c_uint64) for name in ("q", "k", "v", "o", "lse")] + [("s", ctypes.c_int), ("heads", ctypes.c_int)] +
                    [("group", ctypes.c_int), ("scale", ctypes.c_float), ("counter", ctypes.c_uint64), ("profile", ctypes.c_uint64)])

    def __init__(self, path):
        self.path = path

    def version(self):
        if not self.path:
            raise ImportError("no --peer lab=DIR")
        with open(os.path.join(self.path, "index.json")) as file:
            self.kernels = json.load(file)
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.counter = torch.zeros(64, dtype=torch.int32, device="cuda")
        self.functions = {}
        return f"{len(self.kernels)} kernels in {os.path.basename(self.path.rstrip('/'))}"

    def call(self, name, *arguments):
        if status := getattr(self.cuda, name)(*arguments):
            raise RuntimeError(f"{name} gave error {status}")

    def function(self, kernel):
        if kernel["name"] not in self.functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self.call("cuModuleLoad", ctypes.byref(module), os.path.join(self.path, kernel["name"] + ".cubin").encode())
            self.call("cuModuleGetFunction", ctypes.byref(function), module, b"fa_fwd")
            self.call("cuFuncSetAttribute", function, 8, kernel["smem"])  # the largest dynamic shared memory
            self.functions[kernel["name"]] = function
        return self.functions[kernel["name"]]

    def tensor_map(self, tensor, rows, panels):
        """Of [B, H, S, D] bf16 in panels of 64 columns; the box is `rows` x `panels`."""
        batch, heads, s, d = tensor.shape
        storage = ctypes.create_string_buffer(128 + 64)
        address = (ctypes.addressof(storage) + 63) // 64 * 64
        extents = (ctypes.c_uint64 * 4)(64, s, d // 64, batch * heads)
        strides = (ctypes.c_uint64 * 3)(d * 2, 128, s * d * 2)
        box, steps = (ctypes.c_uint32 * 4)(64, rows, panels, 1), (ctypes.c_uint32 * 4)(1, 1, 1, 1)
        bf16, swizzle128, promote256 = 9, 3, 3
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(address), bf16, 4, ctypes.c_void_p(tensor.data_ptr()), extents, strides, box,
                  steps, 0, swizzle128, promote256, 0)
        return storage, address

    def head_group(self, problem):
        """Heads whose keys and values stay in the L2 cache together."""
        budget = (16 if problem.s <= 2048 else 32 if problem.s <= 8192 else 1024) << 20
        group, heads = 1, problem.batch * problem.heads
        while group * 2 * problem.s * problem.d * 4 <= budget and heads % (group * 2) == 0:
            group *= 2
        return group

    def launch_of(self, kernel, problem):
        panels, cluster = problem.d // 64, kernel["CL"]
        rows, parts = kernel["BN"], panels
        if cluster > 1 and panels >= cluster:
            parts = panels // cluster
        elif cluster > 1:
            rows //= cluster
        o, lse = torch.empty_like(problem.o), torch.empty_like(problem.lse)
        maps = [self.tensor_map(problem.q, 64, panels), self.tensor_map(problem.k, rows, parts), self.tensor_map(problem.v, rows, parts)]
        arguments = Lab.Arguments(problem.q.data_ptr(), problem.k.data_ptr(), problem.v.data_ptr(), o.data_ptr(), lse.data_ptr(), problem.s,
                                  problem.batch * problem.heads, self.head_group(problem), math.log2(math.e) * problem.scale,
                                  self.counter.data_ptr(), 0)
        addresses = (ctypes.c_void_p * 4)(*(address for _, address in maps), ctypes.addressof(arguments))
        multiprocessors = torch.cuda.get_device_properties(problem.q.device).multi_processor_count
        grid, threads = multiprocessors // cluster * cluster, 128 * (kernel["NWG"] + 1)
        function, keep = self.function(kernel), (maps, arguments)

        def launch(keep=keep):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.call("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, kernel["smem"], stream, addresses, None)
            return o
        return launch

    def prepare(self, problem):
        only(problem, "full", "causal")
        causal = int(problem.kernel == "causal")
        launches = [self.launch_of(kernel, problem) for kernel in self.kernels if (kernel["D"], kernel["CAUSAL"]) == (problem.d, causal)]
        if not launches:
            raise Unsupported(f"D={problem.d}")
        return min(launches, key=quick_ms)


def quick_ms(launch, count=7):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    launch()
    events[0].record()
    for event in events[1:]:
        launch()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(first.elapsed_time(second) for first, second in zip(events, events[1:]))


class Own:
    """A file of the user's, whose prepare(problem) gives a launch."""

    def __init__(self, path):
        self.path = path

    def version(self):
        name = os.path.splitext(os.path.basename(self.path))[0]
        spec = importlib.util.spec_from_file_location(name, self.path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.prepare = module.prepare
        return os.path.basename(self.path)


def known(paths):
    """All peers by name; `paths`: name -> PATH of --peer."""
    peers = {"cudnn": Sdpa(SDPBackend.CUDNN_ATTENTION), "flash2": Sdpa(SDPBackend.FLASH_ATTENTION), "flex": Flex(),
             "flash3": Flash3(paths.get("flash3")), "flash4": Flash4(), "flashinfer": FlashInfer(), "lab": Lab(paths.get("lab"))}
    peers.update((name, Own(path)) for name, path in paths.items() if path.endswith(".py"))
    return peers
