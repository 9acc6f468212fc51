"""split_modules.py FOLDER FILE.mlir ...: writes each module of files that `--split-input-file` reads to a file in FOLDER."""
import pathlib
import re
import sys

for path in map(pathlib.Path, sys.argv[2:]):
    for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)):
        pathlib.Path(sys.argv[1], f"{path.stem}-{number}.mlir").write_text(text)
