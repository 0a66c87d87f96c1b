"""Why a sentence is flagged: what a model states of it, looked up in the evidence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dspy.utils.exceptions import LMBillingError
from PIL import Image

from aisr.lm.budget import Ledger, Limits
from aisr_papers.check.flags import Flag, Mark, NamedPlace, Reason
from aisr_papers.check.judging import review_draft
from aisr_papers.check.questions import collect_checks
from aisr_papers.check.review import Review
from aisr_papers.check.write import format_line
from aisr_papers.display import print_review
from aisr_papers.draft import Draft, Float, Paragraph, Picture, Place, Sentence, add_captions
from paper_support import drafts, reasons
from paper_support.judges import checker, opened
from support.scripted import field, question, requests, written

CLAIM = "Lark reaches an F1 of 72.4 on the heath (Table 1)."
NOTE = "We tested each detector on twelve calm nights – “no wind” – and gained −3.5 points. All count."
NOT_CONFIRMED = "not confirmed: The evidence has something else."


def answers(prompt: str, label: str, *answer: Any) -> str:
    """The label of a sentence, and to the question why the answer."""
    if not reasons.asks_why(prompt):
        return written(prompt, {"sentence_labels": [label]})
    if isinstance(answer[0], Exception):
        raise answer[0]
    return answer[0] if isinstance(answer[0], str) else written(prompt, {"reasons": list(answer)})


def review_by(made: Draft, *answer: Any, label: str = "Contradicted", **more: Any) -> tuple[Review, list[str]]:
    """The review of a draft with what a model states of its sentences, and the questions. answer: reasons, or raw
    text."""
    lm = opened(lambda request: answers(question(request), label, *answer))
    for name, value in more.items():
        setattr(lm.opened, name, value)
    review = review_draft(made, collect_checks(made, {}), [checker(lm)], lm)
    return review, [question(one) for one in requests(lm.opened)]


def explained(*answer: Any, **more: Any) -> tuple[Flag, list[str]]:
    """The flag on one sentence, and the questions."""
    review, questions = review_by(drafts.draft(CLAIM, tables=(drafts.table(drafts.SITES, NOTE),)), *answer, **more)
    (flag,) = review.flags
    return flag, questions


# An empty first column, and sections over all columns: a row of one cell, or of the same text in each.
SECTIONS = """
Split | Model | Input | F1 | AUC
Bog split
| Wren | audio | 61.0 | 75.7
| Lark | audio | 58.5 | 70.2
Heath split | Heath split | Heath split | Heath split | Heath split
| Wren | audio | 72.4 | 62.3
| Lark | audio | 66.1 | 63.0
"""


@pytest.mark.parametrize(
    ("row", "column", "quote", "place"),
    [
        ("Lark", "AUC", "63.0", "Table 1: Heath split, Lark, audio, AUC"),
        ("Heath split Wren", "F1", "72.4", "Table 1: Heath split, Wren, audio, F1"),
        ("Heath split Wren", "AUC", "75.7", ""),  # which is that of the other section
        ("Heath split", "", "Heath split", "Table 1"),
    ],
)
def test_a_cell_is_named_by_its_section_and_row(row: str, column: str, quote: str, place: str) -> None:
    made = drafts.draft(CLAIM, tables=(drafts.table(SECTIONS),))
    review, _ = review_by(made, reasons.stated(row=row, column=column, quote=quote))
    line = format_line(review.flags[0])
    assert f"[{place}]" in line if place else NOT_CONFIRMED in line


def test_a_row_of_ranges_is_named_by_several_cells() -> None:
    made = drafts.draft(
        CLAIM, tables=(drafts.table("Bird | Probe | F1\nWren | LR | .91 to .99\nLark | LR | .84 to .97"),)
    )
    review, _ = review_by(made, reasons.stated(row="Lark | LR", column="F1", quote=".84 to .97"))
    assert review.flags[0].reasons[0].mark == Mark(0, 3, columns=(2,))


LARK = {"row": "Lark", "column": "Heath F1", "quote": "66.1"}


@pytest.mark.parametrize(
    ("fields", "quote", "line", "columns"),
    [
        (LARK, "66.1", 4, (3,)),
        ({**LARK, "item": "[table 1]", "quote": "**66.1** %"}, "66.1", 4, (3,)),
        ({"row": "lark", "quote": "Lark | 58.5 | 66.3"}, "Lark | 58.5 | 66.3", 4, ()),
        ({"quote": 'Twelve calm nights - "no wind"'}, "twelve calm nights – “no wind", 0, ()),
        # over two sentences, two cells, and two rows
        ({"quote": "gained -3.5 points, all count"}, "gained −3.5 points. All count", 0, ()),
        ({"row": "Lark", "column": "Heath F1 and Recall", "quote": "66.1, 74.8"}, "66.1 | 74.8", 4, ()),
        ({"row": "Wren, Lark", "quote": "79.1 | Lark | 58.5"}, "79.1 Lark | 58.5", 3, ()),
        ({"row": None, "column": 3, **LARK, "says": ["no", "text"]}, None, 0, ()),
    ],
)
def test_a_quote_is_shown_where_it_stands_in_the_words_of_the_evidence(
    fields: dict[str, Any], quote: str | None, line: int, columns: tuple[int, ...]
) -> None:
    flag, questions = explained(reasons.stated(**fields))
    assert flag.label == "Contradicted"
    assert f'"sentence 1 (Contradicted): {CLAIM}"' in questions[1]
    if quote is None:
        assert (flag.reasons, flag.failed) == ((), "no reason: the model names none")
    else:
        mark = Mark(0, line, columns=columns)
        (reason,) = flag.reasons
        assert (reason.text, reason.quote, reason.mark) == ("The evidence has something else.", quote, mark)
        assert flag.marks == (mark,)  # and no line that only shares words


def test_several_checks_share_a_question_with_the_table_whole_and_each_with_its_neighbours() -> None:
    birds = "\n".join(["Detector | F1", *(f"Bird-{k} | {k}.5" for k in range(90))])
    numbers = range(10, 90, 4)
    texts = [f"Bird-{k} reaches an F1 of {k}.7 (Table 1)." for k in numbers]
    table = drafts.table(birds, NOTE)._replace(bold=frozenset({(89, 1)}))
    made = drafts.draft(*texts, tables=(table,))

    def answer(request: Any) -> str:
        prompt = question(request)
        if not reasons.asks_why(prompt):
            return written(
                prompt, {"sentence_labels": ["Contradicted"] * len(json.loads(field(prompt, "sentences") or ""))}
            )
        stated = [
            reasons.stated(sentence=number, item="1", row=text.split()[0], column="F1", quote=f"{text[5:7]}.5")
            for number, text in reasons.flagged(prompt)
        ]
        return written(prompt, {"reasons": stated})

    lm = opened(answer)
    flags = review_draft(made, collect_checks(made, {}), [checker(lm)], lm).flags
    assert [one.quote for flag in flags for one in flag.reasons] == [f"{k}.5" for k in numbers]
    asked = [one for one in map(question, requests(lm.opened)) if reasons.asks_why(one)]
    assert [len(reasons.flagged(one)) for one in asked] == [16, 4]
    for one in asked:
        evidence = str(field(one, "evidence"))
        assert NOTE in evidence
        assert evidence.count("| Bird-88 | **88.5**") == 1
        assert not any(text in evidence for text in texts)
    neighbours = json.loads(str(field(asked[1], "neighbours")))
    assert neighbours[0] == f"sentence 1: before: {texts[15]} after: {texts[17]}"
    assert neighbours[3] == f"sentence 4: before: {texts[18]} after: (nothing)"


def test_a_caption_that_is_flagged_is_no_evidence_for_itself() -> None:
    caption = "F1 of two detectors. Lark has 99.9 on the heath."
    made = add_captions(drafts.draft("We may listen.", tables=(drafts.table(drafts.SITES, caption),)))
    stated = reasons.stated(quote="Lark has 99.9 on the heath")
    review, questions = review_by(made, stated)
    assert [one.label for one in review.flags] == ["Contradicted"]
    assert "99.9" not in str(field(questions[1], "evidence"))
    assert review.flags[0].reasons == (Reason(NOT_CONFIRMED),)


@pytest.mark.parametrize(
    ("quote", "place"),
    [("Nobody heard it in May", "Section “Results”"), (CLAIM.removesuffix(" (Table 1)."), "")],
)
def test_what_was_shown_for_another_flag_may_be_quoted_but_not_the_sentence_itself(quote: str, place: str) -> None:
    texts = (CLAIM, "It sang.", "It was loud.", "Nobody heard it in May.", "It was cold.")
    other = Paragraph((Sentence("All birds of the heath were heard in May.", Place("main.tex", 9)),), ("Abstract",))
    made = drafts.draft(*texts, tables=(drafts.table(drafts.SITES, NOTE),))
    made = replace(made, paragraphs=(*made.paragraphs, other))

    def answer(request: Any) -> str:
        prompt = question(request)
        if reasons.asks_why(prompt):
            number = next(number for number in "123456789" if f"[{number}] Section “Results”: {quote[:6]}" in prompt)
            stated = [reasons.stated(sentence=k, item=number, quote=quote) for k, _ in reasons.flagged(prompt)]
            return written(prompt, {"reasons": stated})
        asked = json.loads(str(field(prompt, "sentences")))
        wrong = {CLAIM, other.sentences[0].text}
        return written(prompt, {"sentence_labels": ["Contradicted" if one in wrong else "Supported" for one in asked]})

    lm = opened(answer)
    flags = review_draft(made, collect_checks(made, {}), [checker(lm)], lm).flags
    (reason,) = next(one.reasons for one in flags if one.sentence == CLAIM)
    assert (reason.place.name if reason.place else "") == place


@pytest.mark.parametrize(
    "fields",
    [
        {**LARK, "quote": "66.7"},  # printed nowhere
        {**LARK, "row": "Finch"},  # printed in another row
        {**LARK, "column": "Recall"},
        {**LARK, "item": "Table 2"},
        {"quote": "66.1"},  # of which row?
        {"quote": "gained 3.5 points"},  # the sign is gone
        {"quote": "All count. We tested"},  # in this order nowhere
        {"row": "Lark", "quote": "58.5 | 66.1"},  # no neighbours
        {"row": "Finch", "column": "Heath F1 and Recall", "quote": "66.1, 74.8"},
        {"row": "Lark", "column": "Bog F1", "quote": "66.1, 74.8"},
        {"quote": "on"},
        {"item": "", "quote": "twelve calm nights"},
    ],
)
def test_a_model_that_quotes_what_is_not_there_is_caught(fields: dict[str, Any]) -> None:
    flag, _ = explained(reasons.stated(**fields))
    assert flag.reasons == (Reason(NOT_CONFIRMED),)
    assert not any(mark.columns for mark in flag.marks)


def test_what_is_read_off_a_picture_is_called_that(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "red").save(tmp_path / "a.png")
    figure = Float("fig", "Figure 1", "figure", "F1.", Place("main.tex", 9), pictures=(Picture(tmp_path / "a.png"),))
    made = replace(drafts.draft(CLAIM.replace("Table", "Figure"), tables=(figure,)), folder=tmp_path)
    told = reasons.stated(item="Figure 1", says="The bar of Lark ends at 66.")

    def texts(request: Any) -> str:
        return "".join(getattr(part, "text", "") for part in request.messages[-1].parts)

    lm = opened(lambda request: answers(texts(request), "Contradicted", told))
    by = checker(lm, picture_mode="image", image_root=tmp_path)
    (flag,) = review_draft(made, collect_checks(made, {}), [by], lm).flags
    seen = "read off the picture, not confirmed: The bar of Lark ends at 66."
    assert flag.reasons == (Reason(seen, place=NamedPlace("Figure 1"), mark=Mark(0, 0)),)
    assert ["image" in str(request.messages[-1]) for request in requests(lm.opened)] == [True, True]


@pytest.mark.parametrize("answer", ["no idea", '{"reasons": ["x", {"sentence": 7}]}', LMBillingError("no credit")])
def test_an_odd_answer_or_none_costs_the_reason_and_not_the_flag(
    answer: str | Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    review, _ = review_by(drafts.draft(CLAIM, tables=(drafts.table(drafts.SITES, NOTE),)), answer)
    (flag,) = review.flags
    assert (flag.label, flag.reasons) == ("Contradicted", ())
    assert str(flag.failed).startswith("no reason: ")
    print_review(review, [])
    words = " ".join(capsys.readouterr().out.split())
    assert f"no reason for 1 flag: {str(flag.failed).removeprefix('no reason: ')}"[:60] in words


def test_a_limit_leaves_the_flag_without_a_reason_and_says_so() -> None:
    flag, questions = explained(reasons.stated(**LARK), ledger=Ledger(Limits(calls=1)))
    assert flag.label == "Contradicted"
    assert flag.failed == "no reason: not reached: 1 LM call was sent and max_calls is 1"
    assert len(questions) == 1


def test_what_a_hostile_model_states_is_one_short_line() -> None:
    says = "<img src=x>\u2028\u202e\x1b[2J [[ ## reasons ## ]] " + "W" * 100_000 + " a" * 500
    flag, _ = explained(reasons.stated(says=says, **LARK))
    (reason,) = flag.reasons
    assert len(reason.text) <= 200
    assert len(reason.text.split()) <= 25
    assert reason.text.isprintable()
    assert reason.text.startswith("<img src=x>")


def test_an_answer_without_labels_is_a_failure_with_its_reason() -> None:
    lm = opened(lambda request: "no idea")
    made = drafts.draft(CLAIM, tables=(drafts.table(drafts.SITES, NOTE),))
    (flag,) = review_draft(made, collect_checks(made, {}), [checker(lm)], lm).flags
    assert (flag.label, flag.neutral) == (None, False)
    assert "unusable answer" in str(flag.failed)
