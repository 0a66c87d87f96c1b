"""Flags on the sentences of a paper: what becomes of failures and limits, and which evidence is marked."""

import json
from pathlib import Path
from typing import Any

from aisr.lm.budget import Ledger, Limits
from aisr_papers.check.flags import Flag, Mark
from aisr_papers.check.judging import judge_checks, review_draft
from aisr_papers.check.questions import collect_checks
from paper_support import drafts, papers, reasons
from paper_support.judges import checker, opened
from support.scripted import field, question, requests, written

LABELS = ["Supported", "Contradicted", "Beyond the evidence"]


def answers(request: Any) -> str:
    return written(question(request), {"sentence_labels": LABELS})


def test_each_sentence_of_a_paragraph_gets_its_flag_and_the_row_that_is_nearest_is_marked() -> None:
    lm = opened(answers)
    flags = judge_checks(checker(lm), papers.draft(Path()), [papers.claim_check()], lm)
    assert [(one.position, one.label, one.level) for one in flags] == [
        ((1, 0), "Supported", None), ((1, 1), "Contradicted", "error"), ((1, 2), "Beyond the evidence", "warning"),
    ]  # fmt: skip
    assert [one.confidence for one in flags] == [None] * 3  # a single vote is no probability
    assert [piece.key for piece in flags[0].pieces] == ["text 1", "Table 1"]
    title, *rows = flags[0].pieces[1].lines
    assert title == "Table 1: F1 at two sites."
    assert rows == ["Site | Wren | Lark", "Bog | 61.0 | 58.5", "Heath | 70.2 | 66.1"]
    assert Mark(1, 3) in flags[1].marks  # "At Heath, Lark reaches 70.2."
    assert flags[1].marks != flags[0].marks


def test_what_cannot_be_used_is_a_failure_with_its_reason_and_no_label() -> None:
    lm = opened(lambda request: "no idea")
    flags = judge_checks(checker(lm), papers.draft(Path()), [papers.claim_check()], lm)
    assert [one.label for one in flags] == [None] * 3
    assert all("unusable answer" in str(one.failed) for one in flags)
    assert not any(one.neutral for one in flags)


FINCHES = "\n".join(["Detector | F1", *(f"Finch-{k} | {k}.5" for k in range(300))])
TEXTS = "Table 1 shows all.", "Finch-270 reaches an F1 of 61.2.", "It is 3 % more than expected.", "Bats sing 4 songs."


def review_of(*answers: Any, **more: Any) -> tuple[list[Flag], list[str]]:
    """The flags on a paragraph that refers to a long table, by answers in turn, and the questions."""
    made = drafts.draft(*TEXTS, tables=(drafts.table(FINCHES),))
    labels = iter(answers)

    def answer(request: Any) -> str:
        prompt = question(request)
        if reasons.asks_why(prompt):
            return reasons.first_words(prompt)
        return written(prompt, {"sentence_labels": next(labels)})

    lm = opened(answer)
    for name, value in more.items():
        setattr(lm.opened.lm, name, value)
    flags = review_draft(made, collect_checks(made, {}), [checker(lm)], lm).flags
    return list(flags), [one for one in map(question, requests(lm.opened)) if not reasons.asks_why(one)]


def test_a_number_that_was_not_found_is_asked_once_more_with_the_table_of_its_paragraph_whole() -> None:
    first, second = ["Not found", "Supported", "Not found"], ["Contradicted", "Not found"]
    flags, questions = review_of(first, second)
    assert [(one.label, one.level) for one in flags] == [
        ("Contradicted", "error"), ("Supported", None), ("Not found", "note"),
    ]  # fmt: skip
    assert [json.loads(field(one, "sentences") or "") for one in questions] == [
        [TEXTS[1], TEXTS[2], TEXTS[3]], [TEXTS[1], TEXTS[3]],
    ]  # fmt: skip
    assert ["Finch-150 | 150.5" in one for one in questions] == [False, True]


def test_a_second_question_that_fails_or_is_not_reached_leaves_no_flag() -> None:
    flags, _ = review_of(["Not found", "Supported", "Supported"], "no list", "no list")
    assert [one.label for one in flags] == [None, "Supported", "Supported"]
    assert "UnusableAnswer" in str(flags[0].failed)
    flags, _ = review_of(["Not found", "Supported", "Supported"], ledger=Ledger(Limits(calls=1)))
    assert [one.label for one in flags] == [None, "Supported", "Supported"]
    assert "not reached: 1 LM call was sent" in str(flags[0].failed)
