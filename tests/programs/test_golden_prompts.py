"""Prompts stay as they are, byte for byte, until somebody means to change them."""

import difflib

import pytest

from support.golden_cases import CASES, ROOT
from support.golden_prompts import render


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, case in CASES.items() for form in case.forms])
def test_prompts_are_what_they_were(name: str, form: str) -> None:
    golden = (ROOT / name / f"{form}.txt").read_bytes().decode()

    rendered = render(CASES[name], ROOT / name, form)

    difference = difflib.unified_diff(golden.split("\n"), rendered.split("\n"), "golden", "rendered", lineterm="", n=1)
    assert rendered == golden, "\n".join([*difference][:40]) + "\n`make golden` writes them anew"
