"""What of a paper is always shown, and what never is."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisr.programs.records.track2 import Track2Record
from aisr.programs.retrieval.content import bare
from aisr.programs.retrieval.passages import WHOLE, chosen, sufficient
from aisr.programs.retrieval.summaries import summaries
from aisr.tasks.track2 import TRACK2
from support.scripted import field, question, requests, scripted, written

PROSE = "Pears were kept in sand over the winter, and weighed in the spring by those who had picked them. " * 3
ABSTRACT = "We ask how long pears keep, and find that sand doubles the time. " * 12
PAPER = {
    "P1": "How pears keep",
    "P2": ABSTRACT,
    "P3": "1 Introduction",
    **{f"P{k}": f"{PROSE}Cellar {k} was dry." for k in range(4, 12)},
    "P12": "(B) Weights in the second cellar.",
    "P13": "Weights were measured using a scale.",
    "P14": "All data are available from the authors.",
    "P15": "5 Conclusions",
    "P16": "Sand keeps pears, and straw does not, as far as we have seen in this one cold and rather long winter.",
    "P17": "Acknowledgements",
    "P18": "We thank the owner of the cellar.",
}


def test_title_abstract_and_conclusion_sum_a_paper_up() -> None:
    assert summaries(PAPER) == ["P1", "P2", "P16"]


@pytest.mark.parametrize(
    ("paper", "wanted"),
    [
        ([PROSE, "Methods", PROSE * 9], [0]),
        (["How pears keep", "Abstract", PROSE, "Background", ABSTRACT], [0, 2]),
        (["Background. " + PROSE, "Results. " + PROSE, "Pears keep.", PROSE * 9], [0, 1, 2]),
        ([ABSTRACT * 3, PROSE, PROSE, "In conclusion, sand keeps pears."], [0, 3]),
        ([ABSTRACT * 3, PROSE, PROSE, "It was cold. In summary, sand keeps pears.", PROSE], [0, 3]),
        ([ABSTRACT * 3, "Conclusion", "References", "A list."], [0]),
        (["Pears.", "Plums.", "In conclusion, figs."], []),
        ([], []),
    ],
    ids=["abstract alone", "headings", "in parts", "in conclusion", "inside", "nothing below", "no prose", "empty"],
)
def test_they_are_found_as_far_as_a_paper_has_them(paper: list[str], wanted: list[int]) -> None:
    assert summaries({f"P{k}": text for k, text in enumerate(paper)}) == [f"P{k}" for k in wanted]


def test_they_are_shown_beside_the_best_and_take_a_third_at_most() -> None:
    best_first = ["P9", *(key for key in reversed(PAPER) if key != "P9")]
    assert {"P1", "P2", "P9"} <= set(chosen("", PAPER, best_first, 700, sifted=True).shown)
    assert "P16" in chosen("", PAPER, list(PAPER), 1000, sifted=True).shown
    assert "P9" in chosen("", PAPER, best_first, 120, sifted=True).shown
    assert "P2" not in chosen("", PAPER, best_first, 120, sifted=True).shown


def test_what_is_bare_and_ranks_low_is_left_out() -> None:
    assert bare(PAPER) == {"P1", "P3", "P12", "P13", "P14", "P15", "P17", "P18"}
    out = set(PAPER) - set(chosen("", PAPER, list(PAPER), WHOLE - 1, sifted=True).shown)
    assert out == {"P12", "P13", "P14", "P17", "P18"}  # a heading comes with what stands below it
    first = ["P13", *(key for key in PAPER if key != "P13")]
    assert "P13" in chosen("", PAPER, first, WHOLE - 1, sifted=True).shown  # the ranker sees something in it
    assert chosen("", PAPER, list(PAPER), WHOLE, sifted=True).shown == list(PAPER)
    assert chosen("", PAPER, list(PAPER), WHOLE - 1).shown == list(PAPER)


@pytest.mark.parametrize(
    "text",
    [
        "In summary, our results were obtained in one cellar.",
        "Weights were measured in spring. " + PROSE * 2,
        "A cellar keeps pears.",
        "We find that the weights were used up.",
    ],
)
def test_what_says_something_is_not_bare(text: str) -> None:
    assert bare({"P1": text}) == set()


texts = st.sampled_from([PROSE, ABSTRACT, "Pears keep", "Abstract", "Conclusions", "Weights were used.", "Pears keep."])
papers = st.lists(texts, min_size=1, max_size=12).map(lambda parts: {f"P{k}": text for k, text in enumerate(parts)})


@settings(deadline=None, max_examples=200)
@given(paper=papers, data=st.data())
def test_what_suffices_is_enough_of_what_is_shown_at_all(paper: dict[str, str], data: st.DataObject) -> None:
    ranking = data.draw(st.permutations(list(paper)))
    wanted = data.draw(st.sampled_from(ranking))
    enough = sufficient(paper, ranking, [wanted], sifted=True)
    assert (wanted in chosen("", paper, ranking, WHOLE - 1, sifted=True).shown) or enough == WHOLE
    assert wanted in chosen("", paper, ranking, enough, sifted=True).shown


def record() -> Track2Record:
    paper = [{f"P{k}": f"Pears keep in cellar {k}."} for k in range(1, 8)]
    return Track2Record.model_validate({"id": "a", "claim_text": "Pears keep.", "cited_paper_full_text": paper})


def answered(program: Any) -> tuple[str, Any]:
    named = {"label": "Supported", "evidence_ids": ["P5", "P6", "P7", "P3", "P2"]}
    lm = scripted([written("Respond with a JSON object", named)])
    with lm.context():
        found = program(**program.prepare(record()).inputs())
    return question(requests(lm)[0]), found


def test_five_ids_are_asked_for_and_three_submitted() -> None:
    asked, found = answered(TRACK2.build({}))
    assert field(asked, "shown_ids") == "P1, P2, P3, P4, P5, P6, P7"
    assert asked.index("shown_ids") > asked.index("[[ ## claim ## ]]")
    assert found.named == ["P5", "P6", "P7", "P3", "P2"]
    assert found.evidence_para_ids == ["P5", "P6", "P1"]
