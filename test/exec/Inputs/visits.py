"""visits.py EXAMPLES FORM: for masks of the examples, compares the blocks that `tegula run --debug` counts on the GPU with those that `tegula explain` proves."""
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys

examples, form = sys.argv[1:]
# file, item, its parameters, fields of the schedule beside the form; M = N where the item asks for it
CASES = [
    ("variants.tg", "vanilla", {}, ""),
    ("variants.tg", "causal", {}, ""),
    ("variants.tg", "causal", {}, "tiles=stride"),
    ("variants.tg", "causal", {}, "walk=descending"),
    ("variants.tg", "causal", {}, "overlap=false"),
    ("variants.tg", "causal", {}, "softmax=online"),
    ("variants.tg", "window", {"W": 200}, ""),
    ("variants.tg", "sinks", {"W": 70}, ""),
    ("variants.tg", "prefix", {}, ""),
    ("variants.tg", "docs", {}, ""),
    ("variants.tg", "docs", {}, "consumers=2,block_n=64,overlap=false"),
    ("masks.tg", "streaming", {"W": 150, "A": 40}, ""),
    ("masks.tg", "global_window", {"W": 64, "A": 70}, ""),
    ("masks.tg", "dilated", {"W": 128, "R": 3}, ""),
    ("masks.tg", "chunked", {"C": 200}, ""),
    ("masks.tg", "padding", {}, ""),
    ("masks.tg", "block_diffusion", {"L": 32}, ""),
    ("masks.tg", "tree_table", {"ancestor": 0}, ""),
    ("masks.tg", "given", {}, ""),
    ("masks.tg", "given_causal", {"see": 1}, ""),
]
SQUARE = {"docs", "global_window", "block_diffusion"}
SIZES = [(300, 300), (517, 1301), (1301, 517), (1, 77)]


def report(command, *more):
    run = subprocess.run(["tegula", command, *more, "--json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"tegula {command} {' '.join(more)}: {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


def compare(run):
    """What is wrong with a run, or nothing."""
    (name, item, parameters, fields), dim, (rows, keys) = run
    if item in SQUARE:
        rows = keys = keys // 2 * 2 if item == "block_diffusion" else keys
    size = f"B=2,H=4,G=2,M={rows},N={keys}"
    schedule = ",".join(filter(None, ["form=" + form, fields]))
    common = [os.path.join(examples, name), "--item", item, "-D", f"D={dim}", "-D", f"E={dim}", "--schedule", schedule, "--size", size]
    for parameter, value in parameters.items():
        common += ["--arg", f"{parameter}={value}"]
    explained, ran = report("explain", *common), report("run", *common, "--debug", "--target", "cuda", "--runs", "1")
    tiles = explained["tiles"]
    expected = {"partial": tiles["proved_partial"], "full": tiles["proved_full"]}
    same = all(explained["schedule"][field] == ran["schedule"][field] for field in ("form", "block_m", "block_n"))
    if same and ran.get("visits") == expected:
        return None
    return f"{item} {schedule} head dim {dim} {size}: explained {expected} of {explained['schedule']}, ran {ran.get('visits')} of {ran['schedule']}"


runs = [run for run in itertools.product(CASES, (64, 128), SIZES) if form == "pipelined" or not run[0][3]]
with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:
    wrong = [message for message in pool.map(compare, runs) if message]
for message in wrong:
    print(message)
print(f"{len(runs)} runs, {len(wrong)} unlike what is explained")
sys.exit(bool(wrong))
