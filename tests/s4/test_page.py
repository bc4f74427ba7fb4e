"""The page of S4 runs as it stands."""

import re
from pathlib import Path

import stablessm.s4

PAGE = Path(stablessm.s4.__file__).parent / "README.md"


def test_every_block_of_the_page_runs_and_what_it_asserts_holds():
    """In one namespace, each line at its place in the page, so that a failure names it."""
    text, names = PAGE.read_text("utf-8"), {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S))
    assert len(blocks) > 9
    for block in blocks:
        above = "\n" * text[: block.start(1)].count("\n")
        exec(compile(above + block[1], str(PAGE), "exec"), names)
