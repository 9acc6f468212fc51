#!/usr/bin/env python3
"""beside.py PLAN: times Tegula's kernels and their peers on one stream of this process, for `tegula bench`.

PLAN is the JSON file that the tool writes: the cells, where the compiled kernels are, and which peers to ask. What comes out, on standard output, is
one JSON object a line: {"unavailable": REASON} and nothing more; or {"facts": ...} once, {"remark": TEXT} now and then, and {"grid": NAME, "row": ...}
for each cell. Anything that a library prints goes to standard error.
"""
import json
import os
import sys
import time

import protocol


def emit(**line):
    print(json.dumps(line), file=RESULTS, flush=True)


def progress(text):
    if sys.stderr.isatty():
        print("\r\033[K" + text, end="", file=sys.stderr, flush=True)


class Gpu:
    """Where launches are timed."""
    FLOPS_PER_CLOCK = {(9, 0): 4096}  # dense 16-bit, of an SM

    def __init__(self):
        import clock
        facts = torch.cuda.get_device_properties(0)
        self.name, self.multiprocessors = facts.name, facts.multi_processor_count
        self.flops_per_clock = self.FLOPS_PER_CLOCK.get((facts.major, facts.minor))
        self.clock = clock.Clock(facts.uuid)

    def time_block(self, launch, count):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        begin = time.perf_counter()
        events[0].record()
        for event in events[1:]:
            launch()
            event.record()
        host_ms = (time.perf_counter() - begin) * 1e3 / count
        clocks = []
        while not events[-1].query():
            clocks.append(self.clock.read())
            time.sleep(1e-3)
        torch.cuda.synchronize()
        times = [first.elapsed_time(second) for first, second in zip(events, events[1:])]
        return protocol.Block(times, [mhz for mhz in clocks if mhz], host_ms)

    @staticmethod
    def rest(seconds):
        torch.cuda.synchronize()
        time.sleep(seconds)


def find_peers(plan):
    """The peers that are asked for and present: name -> (peer, version). Those asked for by name and absent are remarked on."""
    asked = plan["peers"] or list(peers.known(plan["paths"]))
    named = set(plan["peers"]) | set(plan["paths"])
    present = {}
    for name, peer in peers.known(plan["paths"]).items():
        if name not in asked:
            continue
        try:
            present[name] = peer, peer.version()
        except Exception as error:
            if name in named:
                emit(remark=f"{name} is not present: {error}")
    return present


def describe(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def tegula_launch(kernel, problem):
    """Our launch, and the schedule that it takes."""
    def view(tensor):
        return tensor.data_ptr(), tensor.shape, tensor.stride()

    tensors = {name: view(getattr(problem, name)) for name in ("q", "k", "v", "o", "lse")}
    tensors.update((name, view(value)) for name, value in problem.parameters.items() if torch.is_tensor(value))
    scalars = {name: value for name, value in problem.parameters.items() if not torch.is_tensor(value)}
    arguments = kernel.arguments(tensors, scalars)
    manifest, reason = arguments.choose()
    stream = torch.cuda.current_stream().cuda_stream
    return lambda: arguments.launch(stream), manifest["schedule"], reason


def participants_of(problem, ours, present, row):
    """Those whose output is right; the row says who is left out and why."""
    launches = {}
    ours()
    torch.cuda.synchronize()
    row["rel_l2"], row["lse_error"], row["wrong"] = problem.error(problem.o, problem.lse)
    if row["wrong"]:
        return launches
    del row["wrong"]
    launches["tegula"] = ours
    for name, (peer, _) in present.items():
        progress(f"{problem.kernel} D={problem.d} S={problem.s}: preparing {name}")
        try:
            launch = peer.prepare(problem)
            o = launch()
            torch.cuda.synchronize()
            wrong = problem.error(o)[2]
        except peers.Unsupported:
            continue
        except Exception as error:
            torch.cuda.synchronize()  # raises where the GPU is lost for this process
            wrong = describe(error)
        if wrong:
            row["peers"][name] = {"refused": wrong}
        else:
            launches[name] = launch
    return launches


def time_cell(cell, kernel, present, gpu, rules):
    types = {"f32": torch.float32, "i32": torch.int32}
    problem = problems.Problem(cell, "cuda", {tensor["name"]: types.get(tensor["type"]) for tensor in kernel.signature["tensors"]})
    ours, schedule, reason = tegula_launch(kernel, problem)
    row = {"kernel": cell["kernel"], "pass": "forward", "dtype": cell["dtype"], "d": cell["d"], "mask": cell["mask"], "s": cell["s"],
           "sizes": cell["sizes"], "tflops": None, "tensor_pipe": None, "schedule": schedule,
           "compile_ms": {part: round(ms, 1) for part, ms in cell["compile_ms"].items()}, "peers": {}}
    if reason:
        row["schedule_reason"] = reason
    launches = participants_of(problem, ours, present, row)
    if not launches:
        return row
    progress(f"{problem.kernel} D={problem.d} S={problem.s}: {rules.rounds} rounds of {', '.join(launches)}")
    measured = protocol.compare(launches, gpu.time_block, gpu.rest, rules)
    flops, own = problem.flops(), measured.pop("tegula")
    pipe = protocol.tensor_pipe(flops, own.ms, own.clock, gpu.multiprocessors, gpu.flops_per_clock)
    row.update(ms=round(own.ms, 5), tflops=round(protocol.tflops(flops, own.ms), 1), sm_mhz=own.clock, flops=flops,
               tensor_pipe=None if pipe is None else round(pipe, 4), host_share=round(own.host_share, 3))
    for name, blocks in measured.items():
        rounds = [round(ratio, 4) for ratio in protocol.ratios(own, blocks)]
        row["peers"][name] = {"tflops": round(protocol.tflops(flops, blocks.ms), 1), "ratio": round(protocol.median(rounds), 4), "rounds": rounds,
                              "host_share": round(blocks.host_share, 3)}
    return row


def time_all(plan):
    gpu, rules = Gpu(), protocol.Protocol(rounds=plan["rounds"])
    present = find_peers(plan)
    emit(facts={"machine": gpu.name, "torch": torch.__version__, "cuda": torch.version.cuda,
                "peers": {name: version for name, (_, version) in present.items()},
                "protocol": f"{rules.rounds} rounds of blocks, one of each participant, on one stream; {rules.gap_s * 1e3:.0f} ms idle before a "
                            f"block of {rules.block_ms:.0f} ms; first third of a block dropped; medians; ratios within rounds",
                "tensor_pipe": f"FLOPs / ({gpu.flops_per_clock} per SM and clock x {gpu.multiprocessors} SMs x clocks); the SM clock is "
                               f"{gpu.clock.source}"})
    loader, kernels = library.Library(plan["library"]), {}
    with torch.cuda.stream(torch.cuda.Stream()):
        for number, cell in enumerate(plan["cells"], 1):
            progress(f"[{number}/{len(plan['cells'])}] {cell['kernel']} D={cell['d']} S={cell['s']}")
            if cell["code"] not in kernels:
                kernels[cell["code"]] = loader.load(cell["code"])
            row = time_cell(cell, kernels[cell["code"]], present, gpu, rules)
            progress("")
            emit(grid=cell["grid"], row=row)


if __name__ == "__main__":
    # Results have a file of their own; what else writes to standard output goes to standard error.
    RESULTS = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        import torch
    except ImportError as reason:
        emit(unavailable=f"{sys.executable} has no PyTorch: {reason}")
        sys.exit(0)
    if not torch.cuda.is_available():
        emit(unavailable="PyTorch sees no GPU")
        sys.exit(0)
    import library
    import peers
    import problems
    with open(sys.argv[1]) as file:
        time_all(json.load(file))
