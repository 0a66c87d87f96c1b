"""In which order flags come while a paper is judged, and what of them a failure leaves."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Any

import pytest
from dspy.utils.exceptions import LMBillingError

from aisr.api import LanguageModel
from aisr_papers.check.flags import Flag
from aisr_papers.check.judging import judge_checks
from aisr_papers.check.questions import collect_checks
from paper_support.drafts import SITES, draft, table
from paper_support.judges import checker
from support.scripted import field, question, scripted, written

FIRST = [f"Wren reaches an F1 of {number}.0." for number in range(61, 69)]  # as many as a question has
SECOND = "Lark reaches an F1 of 58.5."


@pytest.mark.parametrize("failing", [False, True])
def test_an_answer_is_shown_and_kept_whatever_an_earlier_question_does(failing: bool) -> None:
    shown = Event()

    def answer(request: Any) -> str:
        prompt = question(request)
        texts = json.loads(field(prompt, "sentences") or "")
        if texts == FIRST:
            shown.wait(20)
            if failing:
                raise LMBillingError("no credit left")
        return written(prompt, {"sentence_labels": ["Supported"] * len(texts)})

    made = draft(*FIRST, SECOND, tables=(table(SITES),))
    lm = LanguageModel(scripted(answer, threads=2))
    order: list[str] = []

    def done(flags: Sequence[Flag]) -> None:
        order.extend(one.statement for one in flags)
        shown.set()

    flags = judge_checks(checker(lm), made, collect_checks(made, {}).claims, lm, done, is_first=True)
    assert order == ([SECOND] if failing else [SECOND, *FIRST])
    assert [one.statement for one in flags] == [*FIRST, SECOND]
    assert [one.label for one in flags] == [*([None if failing else "Supported"] * 8), "Supported"]
