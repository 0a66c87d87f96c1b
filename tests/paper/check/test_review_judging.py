"""Verdicts on the sentences of a paper: what becomes of failures and limits, and which evidence is marked."""

from dataclasses import replace
from typing import Any

from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.paper.check.checks import CITATIONS, CLAIMS, WHOLE, collect_checks
from aisr.paper.check.judging import Checker, judge_checks, review_draft
from aisr.paper.check.verdicts import Mark, Review, Verdict
from support import drafts, papers
from support.scripted import field, question, requests, scripted, written

LABELS = ["Supported", "Contradiction", "Unsupported Causal Mechanistic"]


def answers(request: Any) -> str:
    prompt = question(request)
    if field(prompt, "sentences") is not None:
        return written(prompt, {"sentence_labels": LABELS})
    return written(prompt, {"label": "Overstate", "evidence_ids": ["P2"]})


def claims(**options: Any) -> Checker:
    return Checker("claim", CLAIMS, CLAIMS.build(options))


def citations() -> Checker:
    return Checker("citation", CITATIONS, CITATIONS.build({}))


def test_each_sentence_of_a_paragraph_gets_its_verdict_and_the_row_that_is_nearest_is_marked() -> None:
    done: list[None] = []
    verdicts = judge_checks(claims(), [papers.claim_check()], scripted(answers), lambda: done.append(None))
    assert [(one.paragraph, one.sentence, one.label, one.neutral) for one in verdicts] == [
        (1, 0, "Supported", True), (1, 1, "Contradiction", False), (1, 2, "Unsupported Causal Mechanistic", False),
    ]  # fmt: skip
    assert len(done) == 1
    assert [one.confidence for one in verdicts] == [None] * 3  # a single vote is no probability
    assert [piece.key for piece in verdicts[0].evidence] == ["text 1", "Table 1"]
    table = verdicts[0].evidence[1]
    assert table.lines[0] == "Table 1: F1 at two sites."
    assert table.lines[1:] == ("Site | Wren | Lark", "Bog | 61.0 | 58.5", "Heath | 70.2 | 66.1")
    assert Mark(1, 3) in verdicts[1].marks  # "At Heath, Lark reaches 70.2."
    assert verdicts[1].marks != verdicts[0].marks
    assert verdicts[2].signs["causal words"] == ["because"]
    assert verdicts[0].signs == {}


def test_a_citation_shows_the_paragraphs_that_the_program_named() -> None:
    (verdicts,) = judge_checks(citations(), [papers.citation_check()], scripted(answers))
    assert (verdicts.label, verdicts.work, verdicts.statement) == ("Overstate", "ash2020", papers.TEXTS[0][1])
    assert [piece.key for piece in verdicts.evidence] == ["P1", "P2"]
    assert verdicts.evidence[verdicts.marks[0].piece].lines == (papers.CITED["P2"],)
    assert [mark.place for mark in verdicts.marks] == list(range(1, len(verdicts.marks) + 1))


def test_what_cannot_be_used_is_a_failure_with_its_reason_and_no_label() -> None:
    verdicts = judge_checks(claims(), [papers.claim_check()], scripted(lambda request: "no idea"))
    assert [one.label for one in verdicts] == [None] * 3
    assert all("unusable answer" in str(one.failure) for one in verdicts)
    assert not any(one.neutral for one in verdicts)


def limited(calls: int) -> OpenLM:
    lm = scripted(answers)
    lm.lm.ledger = Ledger(Limits(calls=calls))
    return lm


def test_a_limit_leaves_the_rest_without_a_verdict_and_the_next_run_goes_on() -> None:
    checks = [papers.claim_check(), papers.claim_check(["Lark is best.", "So it is.", "Always."], 2)]
    lm = limited(1)
    verdicts = judge_checks(claims(), checks, lm)
    assert [one.label for one in verdicts] == [*LABELS, None, None, None]
    assert verdicts[3].failure == "not reached: 1 LM call was sent and limits.max_calls is 1"
    assert verdicts[3].statement == "Lark is best."
    again = replace(lm, lm=lm.lm.copy())
    again.lm.ledger = Ledger()
    assert [one.label for one in judge_checks(claims(), checks, again)] == [*LABELS, *LABELS]
    assert len(requests(lm)) == 2  # the first paragraph came from the cache


def looked(answer: Any, **more: Any) -> list[Verdict]:
    return list(review_of(answer, **more).verdicts)


def review_of(answer: Any, **more: Any) -> Review:
    """The sentences of a paper, the second and third of which a first look doubts, after the second one."""
    texts = ("Wren leads at both sites (Table 1).", "At Heath, Lark reaches 72.4.", "It wins because of its filter.")
    made = drafts.draft(*texts, tables=(drafts.table(drafts.SITES),))
    verdicts = collect_checks(made, {})

    def both(request: Any) -> str:
        prompt = question(request)
        return written(prompt, {"sentence_labels": LABELS}) if field(prompt, "passage") is None else answer(prompt)

    lm = scripted(both)
    for name, value in more.items():
        setattr(lm.lm, name, value)
    again = Checker("claim", WHOLE, WHOLE.build({}))
    review = review_draft(made, verdicts, [claims(), citations()], lm, again=again)
    assert review.labels["claim"].meanings == WHOLE.labelled.definitions
    return review


def test_the_verdict_of_a_second_look_stands_and_the_first_is_remembered() -> None:
    verdicts = looked(lambda prompt: written(prompt, {"sentence_labels": ["Contradicted", "Not found"]}))
    assert [(one.label, one.first, one.level, one.doubtful) for one in verdicts] == [
        ("Supported", None, "warning", False),
        ("Contradicted", "Contradiction", "error", True),
        ("Not found", "Unsupported Causal Mechanistic", "note", False),
    ]
    (table, *_) = verdicts[1].evidence
    assert table.key == "Table 1"
    assert verdicts[1].evidence == verdicts[2].evidence


def test_a_second_look_that_fails_leaves_no_verdict() -> None:
    verdicts = looked(lambda prompt: "no idea")
    assert [one.label for one in verdicts] == ["Supported", None, None]
    assert str(verdicts[1].failure).startswith("second look: UnusableAnswer")
    assert str(verdicts[1].failure).endswith("; the first said Contradiction")
    stopped = looked(lambda prompt: "", ledger=Ledger(Limits(calls=1)))
    assert [one.label for one in stopped] == ["Supported", None, None]
    assert "second look: not reached: 1 LM call was sent" in str(stopped[1].failure)
