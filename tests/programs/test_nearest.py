"""Labelled demos: few-shot by nearness shows a record those most like it, and no demo states how sure it is."""

import re
from typing import Any

import pytest

from aisr.artifact.program import parse, program_text
from aisr.lm.client import OpenLM
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.search import Candidate, Search, Settings
from aisr.predict.judge import judge_all
from aisr.programs.demos import DUPLICATES, SOURCE, KnnConfig, nearest
from aisr.programs.questions import CONFIDENCE
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from support.scripted import TRACKS, examples, requests, right, scripted, wording

SOURCES = [k // 4 for k in range(8)]  # the paper of each record of train


def compiled(task: Task, optimizer: str, **options: Any) -> tuple[list[Candidate], OpenLM, list[Any]]:
    """The candidates of an optimizer, its LM, and the examples of dev."""
    student = task.build(options)
    rows = examples(task, student)
    lm = scripted(right)
    work = Search(task, student, rows[:8], rows[8:], lambda: None, Settings(demos=2), lm, lm, print, SOURCES)  # type: ignore[arg-type, return-value]
    return compile_candidates(optimizer, work, []), lm, rows[8:]


@pytest.mark.parametrize("task", TRACKS)
def test_knn_shows_two_of_the_records_of_train_and_asks_nothing_to_find_them(task: Task) -> None:
    candidates, lm, dev = compiled(task, "knn")
    assert len(candidates) == 2
    assert requests(lm) == []
    program = candidates[0].program
    (predictor,) = program.predictors()
    assert len(predictor.demos) == 8
    assert all(outcome.failure is None for outcome in judge_all(task, program, dev, lm))
    assert {len(request.messages) for request in requests(lm)} == {1 + 2 * 2}


def test_a_saved_program_keeps_the_papers_of_its_demos_and_shows_them_to_no_lm() -> None:
    ((_, program), _), lm, dev = compiled(TRACK1, "knn")
    loaded = parse(program_text(TRACK1, program), "a test").program
    assert [demo[SOURCE] for demo in loaded.predictors()[0].demos] == SOURCES
    judge_all(TRACK1, loaded, dev[:1], lm)
    assert SOURCE not in wording(requests(lm)[0])


@pytest.mark.parametrize("optimizer", ["labeled", "knn"])
@pytest.mark.parametrize("task", TRACKS)
def test_labelled_demos_state_no_confidence(task: Task, optimizer: str) -> None:
    ((_, program), *_), lm, dev = compiled(task, optimizer, states=True)
    demos = program.judging.demos
    assert demos
    assert not any(CONFIDENCE in demo for demo in demos)
    judge_all(task, program, dev[:1], lm)
    prompt = wording(requests(lm)[-1])
    assert not re.search(r"\b(95|90|85|75|65), ", prompt)
    assert "supplied" not in prompt
    answers = [turn.split("\nuser: ")[0] for turn in prompt.split("\nassistant: ")[1:]]
    assert len(answers) == 2
    assert not any(CONFIDENCE in answer for answer in answers)


def test_a_record_is_shown_no_demo_of_its_own_group() -> None:
    demos = [{"claim": text} for text in ("apples are red", "pears are green", "apples and pears", "plums")]
    apart = {"apples are red": frozenset({1}), "pears are green": frozenset({2}), "red apples": frozenset({1, 3})}
    chosen = nearest(demos, "claim", "red apples", KnnConfig(9, excluded=apart))
    assert [demo["claim"] for demo in chosen] == ["plums", "pears are green", "apples and pears"]
    assert demos[0] in nearest(demos, "claim", "red pears", KnnConfig(9, excluded=apart))


def test_two_demos_of_one_paper_are_shown_and_one_of_duplicates() -> None:
    demos = [
        {"claim": "apple one", SOURCE: 1},
        {"claim": "apple two two", SOURCE: 1},
        {"claim": "apple three three three", SOURCE: 1},
        {"claim": "apple apple four of another paper", SOURCE: 2, DUPLICATES: 7},
        {"claim": "apple four of another paper", SOURCE: 3, DUPLICATES: 7},
        {"claim": "plum", SOURCE: 5},
    ]
    chosen = nearest(demos, "claim", "apple", KnnConfig(9))
    assert sum(demo[SOURCE] == 1 for demo in chosen) == 2
    assert [demo.get(DUPLICATES) for demo in chosen].count(7) == 1
