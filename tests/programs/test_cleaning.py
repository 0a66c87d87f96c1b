"""Noise is taken out of texts; no meaning changes."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisr.programs.text import clean

LATEX = st.lists(
    st.sampled_from(
        ["\\mathrm {", "\\text{", "}", " ", "A", "b", "4", ".", "9 5 . 3", "-", "%", "\x02", "é", "$", "\n"]
    )
).map("".join)


@pytest.mark.parametrize(
    ("noisy", "cleaned"),
    [
        ("$\\mathrm { B L E U }$ of 3", "$\\mathrm {BLEU}$ of 3"),
        ("\\text{ a c c u r a c y o f } x", "\\text{accuracyof} x"),
        ("drops by \x02 0.5", "drops by   0.5"),
        ("a b c of A B", "a b c of A B"),
        ("\\mathrm { 9 5 . 3 }", "\\mathrm { 9 5 . 3 }"),
        ("tab\tand\nbreak", "tab\tand\nbreak"),
        ("Łoza-1 auf BræmChat, 模型", "Łoza-1 auf BræmChat, 模型"),
        ("", ""),
    ],
)
def test_noise_goes_and_words_stay(noisy: str, cleaned: str) -> None:
    assert clean(noisy) == cleaned


@given(st.one_of(LATEX, st.text()))
def test_no_number_changes(text: str) -> None:
    assert re.findall(r"\d+", clean(text)) == re.findall(r"\d+", text)
    assert re.findall(r"\d\.\d", clean(text)) == re.findall(r"\d\.\d", text)
    assert re.findall(r"[-−+]\d", clean(text)) == re.findall(r"[-−+]\d", text)


@given(st.one_of(LATEX, st.text()))
def test_no_letter_is_lost_and_cleaning_twice_changes_nothing(text: str) -> None:
    letters = [sign for sign in text if unicodedata.category(sign)[0] == "L"]
    assert [sign for sign in clean(text) if unicodedata.category(sign)[0] == "L"] == letters
    assert clean(clean(text)) == clean(text)
