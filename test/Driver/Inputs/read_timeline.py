"""Prints the title, rows, legend and number of bars of an SVG file of `hftac --timeline`.
Fails if it isn't well-formed or has bars outside of the picture."""

import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg", root.tag
texts = [text for text in root.iter(SVG + "text") if "class" not in text.attrib]
bars = [bar for bar in root.iter(SVG + "rect") if bar.find(SVG + "title") is not None]
lefts = sorted({float(text.get("x")) for text in texts})
rows = [text.text for text in texts if float(text.get("x")) == lefts[0]]
legend = [text.text for text in texts if float(text.get("y")) == 42]
width = float(root.get("width"))
for bar in bars:
    assert 0 <= float(bar.get("x")) <= float(bar.get("x")) + float(bar.get("width")) <= width
print("title:", root.find(SVG + "title").text)
print("rows:", "; ".join(rows))
print("legend:", "; ".join(legend))
print("bars:", len(bars))
