"""visits.py EXAMPLES FORM: for masks of the examples, compares the blocks that `tegula run --debug` counts on the GPU with those that `tegula explain` proves."""
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
    ("masks.tg", "streaming", {"W": 150, "A": 40}, ""),
    ("masks.tg", "global_window", {"W": 64, "A": 70}, ""),
    ("masks.tg", "dilated", {"W": 128, "R": 3}, ""),
    ("masks.tg", "chunked", {"C": 200}, ""),
    ("masks.tg", "padding", {}, ""),
    ("masks.tg", "block_diffusion", {"L": 32}, ""),
]
SQUARE = {"docs", "global_window", "block_diffusion"}
SIZES = [(300, 300), (517, 1301), (1301, 517), (1, 77), (2048, 2048)]


def report(command, *more):
    run = subprocess.run(["tegula", command, *more, "--json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"tegula {command} {' '.join(more)}: {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


wrong = checked = 0
for name, item, parameters, fields in CASES:
    if fields and form == "direct":
        continue
    for dim in (64, 128):
        for rows, keys in SIZES:
            if item in SQUARE:
                rows = keys
            if item == "block_diffusion":
                rows = keys = keys // 2 * 2
            size = f"B=2,H=4,G=2,M={rows},N={keys}"
            schedule = ",".join(filter(None, ["form=" + form, fields]))
            common = [os.path.join(examples, name), "--item", item, "-D", f"D={dim}", "-D", f"E={dim}", "--schedule", schedule, "--size", size]
            for parameter, value in parameters.items():
                common += ["--arg", f"{parameter}={value}"]
            explained, ran = report("explain", *common), report("run", *common, "--debug", "--target", "cuda", "--runs", "1")
            for field in ("block_m", "block_n", "form"):
                if explained["schedule"][field] != ran["schedule"][field]:
                    sys.exit(f"{item} {dim}: explained {explained['schedule']}, ran {ran['schedule']}")
            tiles, visits = explained["tiles"], ran["visits"]
            expected = {"partial": tiles["proved_partial"], "full": tiles["proved_full"]}
            checked += 1
            if visits != expected:
                wrong += 1
                print(f"{item} {schedule} head dim {dim} {size}: explained {expected}, ran {visits}")
print(f"{checked} runs, {wrong} unlike what is explained")
sys.exit(wrong != 0)
