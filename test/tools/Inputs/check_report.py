"""Reads a report of `tegula run --check --json` and checks keys and values."""
import json
import sys

report = json.load(sys.stdin)
assert report["ok"] is True
assert report["target"] == "cpu" and report["device"]
assert "form" in report["schedule"]
assert report["redone_rows"] == 0
assert set(report["outputs"]) == {"o", "lse"}
for output in report["outputs"].values():
    assert output["ok"] is True and output["nan"] == 0
    assert 0 <= output["max_abs"] <= output["limit"]
    assert 0 <= output["rel_l2"] < 0.01
time = report["time_ms"]
assert 0 < time["min"] <= time["median"] <= time["max"] and time["runs"] >= 1
assert report["tflops"] > 0
# Causal, aligned at the bottom right: row i of 30 sees i + 11 keys.
assert report["flops"] == 4 * (2 * 64 + 2 * 64) * sum(i + 11 for i in range(30))
assert report["bytes"] == 2 * 64 * (2 * 4 * 30 + 2 * 2 * 40) + 4 * 4 * 30
