"""check_report.py FORM: reads a report of `tegula run --check --json` for the GPU and checks form, numbers and times."""
import json
import sys

report = json.load(sys.stdin)
assert report["ok"] is True, report
assert report["target"] == "cuda" and report["device"]
assert report["schedule"]["form"] == sys.argv[1], report["schedule"]
assert ("schedule_reason" in report) == (len(sys.argv) > 2 or report["schedule"]["pack_heads"]), report
for output in report["outputs"].values():
    assert output["ok"] is True and output["nan"] == 0 and output["max_abs"] <= output["limit"]
assert 0 < report["time_ms"]["min"] <= report["time_ms"]["median"] <= report["time_ms"]["max"]
