"""Checks the keys of an explanation, read from standard input, and its counts: dead partial full proved_dead proved_full."""
import json
import sys

e = json.load(sys.stdin)
tiles = e["tiles"]
for key in ("rows", "cols", "total", "proved_partial"):
    assert tiles[key] > 0 or key == "proved_partial", (key, tiles)
expected = [None if word == "null" else int(word) for word in sys.argv[1:]]
counts = [tiles[key] for key in ("dead", "partial", "full", "proved_dead", "proved_full")]
assert counts == expected, (counts, expected)
if tiles["dead"] is not None:
    assert tiles["dead"] + tiles["partial"] + tiles["full"] == tiles["total"]
assert tiles["proved_dead"] + tiles["proved_partial"] + tiles["proved_full"] == tiles["total"]
assert sum(buffer["bytes"] for buffer in e["shared"]) == e["shared_bytes"] > 0
for key in ("flops", "roofline_ms"):
    assert e[key] is None or e[key] > 0, key
if e["flops"] is not None:
    assert e["bytes"]["unfused"] > e["bytes"]["fused"] > 0
    assert e["scores"]["unfused_touches"] > e["scores"]["computed"] or tiles["proved_dead"] == 0 or e["sizes"]["M"] % tiles["rows"] != 0
    assert [row["length"] for row in e["lengths"]][::7] == [128, 1048576]
    for row in e["lengths"]:
        assert "reason" in row or row["total"] >= row["proved_dead"] + row["proved_full"]
for guard in e["guards"]:
    assert guard["guard"] and guard["reason"] and isinstance(guard["kept"], bool)
assert set(e["registers"]) == {"producer", "consumer"} or set(e["registers"]) == {"all"}, e["registers"]
assert e["threads"] % 128 == 0 and e["ctas_per_sm"] >= 1 and e["schedule"]["form"] and e["device"] and e["arch"] == "sm_90a"
