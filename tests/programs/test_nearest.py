"""Few-shot by nearness: the demos that a record sees are those most like it."""

from typing import Any

import pytest

from optimize.artifact.program_file import parse, program_text
from optimize.inference.judge import judge_all
from optimize.lm.client import OpenLM
from optimize.search.optimizers import Candidate, Compilation, Settings, compile_candidates
from optimize.tasks.task import Task
from optimize.tasks.track1 import TRACK1
from programs.retrieval.knn_demos import nearest
from support import scripted
from support.scripted import TRACKS

DEMOS = [{"claim": text} for text in ("apples are red", "pears are green", "apples and pears", "plums")]


def test_the_nearest_come_last_and_the_rest_stays_out() -> None:
    assert [demo["claim"] for demo in nearest(DEMOS, "claim", "red apples", 2)] == [
        "apples and pears",
        "apples are red",
    ]
    assert nearest(DEMOS, "claim", "red apples", 0) == DEMOS
    assert nearest(DEMOS, "claim", "red apples", 9) == DEMOS
    assert nearest([], "claim", "red apples", 2) == []


def test_a_demo_without_the_field_and_a_text_without_a_known_word_do_no_harm() -> None:
    assert len(nearest([*DEMOS, {}], "claim", "", 2)) == 2
    assert len(nearest([{"sentences": ["a b", "c"]}, {"sentences": []}, {}], "sentences", "b", 1)) == 1


def test_a_negative_number_of_demos_is_refused() -> None:
    with pytest.raises(ValueError, match="nearest is -1"):
        TRACK1.build({"nearest": -1})


def knn(task: Task, **options: Any) -> tuple[Candidate, OpenLM, list[Any]]:
    student = task.build(options)
    given = scripted.examples(task, student)
    lm = scripted.scripted(scripted.right)
    work = Compilation(task, student, given[:8], given[8:], lambda: None, Settings(demos=2), lm, lm, lambda text: None)  # type: ignore[arg-type, return-value]
    candidates = compile_candidates("knn", work, [Candidate("uncompiled", student)])
    assert [name for name, _ in candidates] == ["uncompiled", "knn 1"]
    return candidates[1], lm, given[8:]


@pytest.mark.parametrize("task", TRACKS)
def test_knn_shows_two_of_the_records_of_train_and_asks_nothing_to_find_them(task: Task) -> None:
    (_, program), lm, dev = knn(task)
    assert scripted.requests(lm) == []
    (predictor,) = program.predictors()
    assert len(predictor.demos) == 8
    outcomes = judge_all(task, program, dev, lm)
    assert all(outcome.failure is None for outcome in outcomes)
    assert {len(request.messages) for request in scripted.requests(lm)} == {1 + 2 * 2}


def test_sentence_by_sentence_the_nearest_sentences_are_shown() -> None:
    (_, program), lm, dev = knn(TRACK1, unit="sentence")
    judge_all(TRACK1, program, dev[:1], lm)
    first = scripted.requests(lm)[0]
    asked = scripted.field(scripted.question(first), "sentence") or ""
    shown = (first.messages[-3].text or "").rpartition("[[ ## sentence ## ]]")[2]
    assert asked.split(" is ")[1] == shown.strip().split(" is ")[1]  # the same label words


@pytest.mark.parametrize("task", TRACKS)
def test_what_is_saved_shows_the_same_demos(task: Task) -> None:
    (_, program), lm, dev = knn(task)
    loaded = parse(program_text(task, program), "a test").program
    other = scripted.scripted(scripted.right)
    judge_all(task, program, dev, lm)
    judge_all(task, loaded, dev, other)
    assert [scripted.wording(r) for r in scripted.requests(lm)] == [
        scripted.wording(r) for r in scripted.requests(other)
    ]
