"""Noise is taken out of texts; no meaning changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisr.programs.pictures import render
from aisr.programs.records import EvidenceItem
from aisr.programs.retrieval import LONGEST, USUAL_TOKENS, within
from aisr.programs.text import ROW, clean, flat, rows_of, tokens
from aisr.programs.track2 import Track2, Track2Record


@pytest.mark.parametrize(
    ("noisy", "cleaned"),
    [
        ("$\\mathrm { B L E U }$ of 3", "$\\mathrm {BLEU}$ of 3"),
        ("\\text{ a c c u r a c y o f } x", "\\text{accuracyof} x"),
        ("drops by \x02 0.5", "drops by   0.5"),
        ("\\mathrm { 9 5 . 3 }", "\\mathrm { 9 5 . 3 }"),
        ("tab\tand\nbreak", "tab\tand\nbreak"),
        ("Łoza-1 auf BræmChat, 模型", "Łoza-1 auf BræmChat, 模型"),
    ],
)
def test_noise_goes_and_words_stay(noisy: str, cleaned: str) -> None:
    assert clean(noisy) == cleaned


# --- A long paragraph is cut around what the claim is about, unless all of the paper is shown

FILLER = "The weather was fine, and gulls were seen above the harbour again. "
TOLD = "Corvid-2 gains 4.2 points in the dark."
LONG = FILLER * 1500 + TOLD + " " + FILLER * 1500  # 200 KB
CLAIM = "Corvid-2 gains 4.2 points."


def record(text: str) -> Track2Record:
    paper = [{"P1": "Corvids."}, {"P2": text}, {"P3": "Nothing else happened that year."}]
    return Track2Record.model_validate({"id": "a", "claim_text": CLAIM, "cited_paper_full_text": paper})


@pytest.mark.parametrize("budget", [1, 1000, USUAL_TOKENS])
def test_it_is_cut_around_what_matches_the_claim(budget: int) -> None:
    prompt = Track2(context_tokens=budget).prepare(record(LONG)).passages
    (cut,) = [line for line in prompt.split("\n") if line.startswith("[P2] ")]
    assert TOLD in cut
    assert tokens(cut) <= LONGEST
    assert cut.removeprefix("[P2] ") in LONG


@settings(deadline=None, max_examples=60)
@given(
    parts=st.lists(st.text("aé語. B\n", max_size=40) | st.just("x" * 90), min_size=1, max_size=30),
    between=st.sampled_from([" ", "", ROW]),
    most=st.integers(1, 60),
)
def test_a_cut_is_one_piece_of_the_text_and_no_longer_than_said(parts: list[str], between: str, most: int) -> None:
    text = between.join(parts)
    cut = within("语 B a", text, most)
    assert cut in flat(text)
    assert tokens(cut) <= most
    assert cut.strip() or not flat(text).strip(ROW)


# --- Tables in text form keep their rows

MARKDOWN = "Table 1: Sizes\n| model | BLEU |\n|:--|--:|\n| Crane | 31.2 |\n| Heron |  |\nBest in bold."
HTML = (
    "<p>Sizes</p><table border=1><thead><tr><th>model</th><th>BLEU</th></tr></thead>"
    "<tr><td>Crane <b>2</b></td><td>31&#46;2</td></tr></table>"
)


@pytest.mark.parametrize(
    ("text", "before", "rows"),
    [
        (MARKDOWN, "Table 1: Sizes", ["model | BLEU", "Crane | 31.2", "Heron | ", "Best in bold."]),
        ("model\tBLEU\nCrane\t31.2", "", ["model | BLEU", "Crane | 31.2"]),
        (HTML, "Sizes", ["model | BLEU", "Crane 2 | 31.2"]),
        ("p(a|b) and |x| alone\nAnother line.", "p(a|b) and |x| alone\nAnother line.", []),
    ],
)
def test_rows_are_found(text: str, before: str, rows: list[str]) -> None:
    assert rows_of(text) == (before, rows)


# --- A caption that a table in text form repeats stands in a prompt once

CAPTION = "Table 2: Yield of both sorts."
CELLS = "| Sort | Yield |\n|---|---|\n| Red | 3.1 |"


@pytest.mark.parametrize("before", [CAPTION, "TABLE 2. Yield of both sorts", "Table 3."])
def test_a_repeated_caption_stands_once_and_the_cells_stay(before: str) -> None:
    head = EvidenceItem(type="table", table_caption=[CAPTION])
    text = render([head, EvidenceItem(type="text", text=f"{before}\n{CELLS}")]).text
    assert "Red | 3.1" in text
    assert text.lower().count("yield of both sorts") == 1
    assert ("[text 1] (the cells of table 1)" in text) == (before != "Table 3.")
    within = head.model_copy(update={"text": f"{before}\n{CELLS}"})
    assert render([within]).text.lower().count("yield of both sorts") == 1
    no_table = EvidenceItem(type="text", text=CAPTION)
    assert render([head, no_table]).text.count("Yield of both sorts") == 2
