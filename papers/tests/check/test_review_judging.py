"""Flags on the sentences of a paper: what becomes of failures, and which evidence is marked."""

from pathlib import Path
from typing import Any

from aisr_papers.check.flags import Mark
from aisr_papers.check.judging import judge_checks
from paper_support import papers
from paper_support.judges import checker, opened
from support.scripted import question, written

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
