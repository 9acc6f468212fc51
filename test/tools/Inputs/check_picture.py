"""Checks a picture: check_picture.py PATH "COLOUR:TILES ..." WORDS...

The map's rectangles are those in the group of crisp edges; one may cover several tiles of a row, all of one width."""
import re
import sys
import xml.etree.ElementTree as ET

text = sys.stdin.read() if sys.argv[1] == "-" else open(sys.argv[1]).read()
root = ET.fromstring(text)
assert root.tag.endswith("svg")
assert "href" not in text and "url(" not in text.replace("url(#tip)", ""), "refers to another file"
space = "{http://www.w3.org/2000/svg}"
cells = [r for g in root.iter(space + "g") if g.get("shape-rendering") for r in g.iter(space + "rect") if r.get("fill") != "none"]
assert cells
height = float(cells[0].get("height"))
tiles = {}
for cell in cells:
    tiles[cell.get("fill")] = tiles.get(cell.get("fill"), 0) + round(float(cell.get("width")) / height)
for pair in sys.argv[2].split():
    colour, count = pair.split(":")
    assert tiles.get(colour, 0) == int(count), (pair, tiles)
words = " ".join("".join(t.itertext()) for t in root.iter(space + "text"))
for wanted in sys.argv[3:]:
    assert wanted in words, (wanted, words)
