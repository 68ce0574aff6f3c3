"""The page about weight names the files from a route to its row."""

import re

from support.weight import ROOT, SRC

PAGE = ROOT / "docs/decisions/weight.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_each_file_from_a_route_to_its_row_defines_what_an_earlier_one_uses() -> None:
    steps = re.findall(r"^\d\. `(src/.+?)`: `(\w+)`", TEXT, re.MULTILINE)
    assert len(steps) == 5
    earlier = (SRC / "phoneprov_http/app.py").read_text(encoding="utf-8")
    for path, name in steps:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", earlier), name
        assert re.search(rf"^ *(?:class |def )?{name}(?:\(|:$| = )", source, re.MULTILINE), name
        earlier += source
