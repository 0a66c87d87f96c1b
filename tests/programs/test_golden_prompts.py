"""Prompts stay as they are, byte for byte, until somebody means to change them.

`make golden` writes the text files of the cases (see `support.golden_prompts`) anew and shows the difference;
`make golden CASES="track1 track2"` those of some.
"""

import difflib
import sys

import pytest

from aisr.programs.registry import find_task
from support.golden_prompts import FORMS, Case, render, write_anew
from support.paths import TESTS

ROOT = TESTS / "golden" / "prompts"
STATES = {"verbalized_confidence": True}  # demos lack this output, and leave it out
CASES = {
    "track1": Case(find_task("track1"), "knn", compiled=STATES),
    "track1-pictures": Case(find_task("track1"), "labeled", options={"picture_mode": "image"}),
    "track2": Case(find_task("track2"), "knn", compiled={**STATES, "context_tokens": 600}, ranker=True),
    "averitec": Case(find_task("averitec"), "labeled", compiled=STATES),
    "context24-figures": Case(find_task("context24-figures"), "labeled"),
    "context24-text": Case(find_task("context24-text"), "knn"),
}


@pytest.mark.parametrize(("name", "form"), [(name, form) for name in CASES for form in FORMS])
def test_prompts_are_what_they_were(name: str, form: str) -> None:
    golden = (ROOT / name / f"{form}.txt").read_bytes().decode()

    rendered = render(CASES[name], ROOT / name, form)

    difference = difflib.unified_diff(golden.split("\n"), rendered.split("\n"), "golden", "rendered", lineterm="", n=1)
    assert rendered == golden, "\n".join([*difference][:40]) + "\n`make golden` writes them anew"


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        write_anew(CASES[name], ROOT / name)
