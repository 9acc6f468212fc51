"""edit.py FILE OLD NEW: replaces every OLD, of which there is at least one."""
import sys

path, old, new = sys.argv[1:]
with open(path) as f:
    text = f.read()
if old not in text:
    sys.exit(f"{path} has no '{old}'")
with open(path, "w") as f:
    f.write(text.replace(old, new))
