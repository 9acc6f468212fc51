#!/usr/bin/env python3
"""Runs lit, says why tests were skipped and closes with one plain line: N passed, N failed, N skipped.

  run-lit.py --lit LIT --results FILE.xml FOLDER... [lit options]      more lit options: LIT_OPTS="-v --filter exec"

Exits non-zero when a test failed or none passed.
"""
import argparse
import collections
import os
import subprocess
import sys
import xml.etree.ElementTree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lit", required=True)
    parser.add_argument("--results", required=True)
    args, rest = parser.parse_known_args()
    if os.path.exists(args.results):
        os.remove(args.results)
    status = subprocess.run([args.lit, "-sv", "--no-progress-bar", "--xunit-xml-output", args.results, *rest]).returncode
    if not os.path.exists(args.results):
        print("lit stopped before any test ran", file=sys.stderr)
        return status or 1
    total = failed = skipped = 0
    reasons = collections.Counter()
    for suite in xml.etree.ElementTree.parse(args.results).getroot():
        total += int(suite.get("tests"))
        failed += int(suite.get("failures"))
        skipped += int(suite.get("skipped"))
        for test in suite.iter("skipped"):
            unit = suite.get("name").endswith("unit")
            reasons["the test itself found that it cannot run here" if unit else test.get("message")] += 1
    for reason, count in reasons.most_common():
        print(f"  skipped {count}: {reason}")
    passed = total - failed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return status or int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
