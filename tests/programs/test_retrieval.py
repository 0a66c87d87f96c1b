"""What of a paper, and of the evidence of a claim, a model is shown."""

import pytest

from aisr.programs.evidence import read_evidence
from aisr.programs.records import EvidenceItem
from aisr.programs.retrieval import PARAGRAPH_TOKENS, USUAL_TOKENS, Passages, fit_passages, rank
from aisr.programs.text import clean, rows_of, tokens
from aisr.programs.track2 import Track2, Track2Record

PAPER = {
    "P1": "We study how pears are stored over winter.",
    "P2": "The reranker gains 4.2 points of recall on HarborQA, the largest gain of all systems.",
    "P3": "Annotators were paid by the hour.",
    "P4": "On HarborQA the reranker is slower than the baseline.",
}


def shown(claim: str, paper: dict[str, str], budget: int) -> Passages:
    return fit_passages(claim, paper, rank(claim, paper), budget)


def test_a_paper_that_fits_is_shown_whole_and_of_another_the_best_in_document_order() -> None:
    whole = shown("the reranker gains recall", PAPER, 1000)
    assert whole.text == "\n".join(f"[{key}] {text}" for key, text in PAPER.items())
    assert whole.keys == list(PAPER)
    best = shown("is the reranker slower than the baseline on HarborQA", PAPER, 42)
    assert best.keys == ["P2", "P4"]
    assert [line[:5] for line in best.text.splitlines()] == ["[P2] ", "[P4] "]


def test_what_cannot_decide_is_not_shown() -> None:
    kept = "Pears were washed and purified. They were stained as described, and incubated with pears by Promega."
    paper = {
        "P1": "Pears in winter",
        "P2": "We ask how long fruit keeps, and where, and what is lost of it in the months between.",
        "P3": "Pears keep",
        "P4": "Figure 3. Pears keep in sand.",
        "P5": "Where it was dry, they were as good in spring as they had been on the day of the harvest.",
        "P55": "Nothing else was seen there, " * 20 + "to say it at length.",
        "P6": "This work was supported by the society of those who keep pears.",
        "P7": "The authors declare no interest in pears.",
        "P75": kept,
        "P76": "Supported by a grant for pears.",
        "P8": "References",
        "P9": "How pears keep, in: Pears and how to keep them.",
    }
    passages = shown("pears keep", paper, 100)
    assert rank("pears keep", paper)[0] == "P9"  # it can still be named
    assert passages.keys == ["P1", "P2", "P3", "P5"]
    assert shown("pears keep", paper, 1000).keys == ["P1", "P2", "P3", "P5", "P55"]
    assert shown("pears keep", {"P1": "Pears keep"}, 1000).keys == ["P1"]


# --- Noise is taken out of texts; no meaning changes


@pytest.mark.parametrize(
    ("noisy", "cleaned"),
    [
        ("\\text{ a c c u r a c y o f } x", "\\text{accuracyof} x"),
        ("\\mathrm { 9 5 . 3 }", "\\mathrm { 9 5 . 3 }"),
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


@pytest.mark.parametrize("budget", [1, USUAL_TOKENS])
def test_it_is_cut_around_what_matches_the_claim(budget: int) -> None:
    prompt = Track2(context_tokens=budget).prepare(record(LONG)).example.passages
    (cut,) = [line for line in prompt.split("\n") if line.startswith("[P2] ")]
    assert TOLD in cut
    assert tokens(cut) <= PARAGRAPH_TOKENS
    assert cut.removeprefix("[P2] ") in LONG


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
    text = read_evidence([head, EvidenceItem(type="text", text=f"{before}\n{CELLS}")]).text
    assert "Red | 3.1" in text
    assert text.lower().count("yield of both sorts") == 1
    assert ("[text 1] (the cells of table 1)" in text) == (before != "Table 3.")
    within = head.model_copy(update={"text": f"{before}\n{CELLS}"})
    assert read_evidence([within]).text.lower().count("yield of both sorts") == 1
    no_table = EvidenceItem(type="text", text=CAPTION)
    assert read_evidence([head, no_table]).text.count("Yield of both sorts") == 2
