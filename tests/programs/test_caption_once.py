"""A caption that a table in text form repeats stands in a prompt once."""

from typing import Any

import pytest

from aisr.programs.images import render
from aisr.programs.records import EvidenceItem

CAPTION = "Table 2: Yield of both sorts."
CELLS = "| Sort | Yield |\n|---|---|\n| Red | 3.1 |"
TWICE: list[dict[str, Any]] = [
    {"type": "table", "table_caption": [CAPTION]},
    {"type": "text", "text": f"{CAPTION}\n{CELLS}"},
]
WITHIN = [{"type": "table", "table_caption": [CAPTION], "text": f"TABLE 2. Yield of both sorts\n{CELLS}"}]


@pytest.mark.parametrize("bundle", [TWICE, WITHIN])
def test_it_stands_once_and_the_cells_stay(bundle: list[dict[str, Any]]) -> None:
    items = [EvidenceItem.model_validate(item) for item in bundle]
    once = render(items).text
    assert once.lower().count("yield of both sorts") == 1
    assert "Red | 3.1" in once
    if bundle is TWICE:
        assert "[text 1] (the cells of table 1)" in once


def test_a_text_that_is_no_table_and_another_caption_stay() -> None:
    items = [EvidenceItem.model_validate(item) for item in (TWICE[0], {"type": "text", "text": CAPTION})]
    assert render(items).text.count("Yield of both sorts") == 2
    other = [EvidenceItem.model_validate(item) for item in (TWICE[0], {**TWICE[1], "text": f"Table 3.\n{CELLS}"})]
    assert "Table 3." in render(other).text
