"""Every optimizer gives back all that it tried, in a fixed order, stripped to what a program needs."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact.program import program_text
from aisr.base.errors import UserError
from aisr.optimize.optimizers import OPTIMIZERS, compile_candidates
from aisr.optimize.search import Candidate, Objective, Search, Settings, objective
from aisr.predict.judge import judge_all
from aisr.programs.track1.task import TRACK1
from support.plugins import install
from support.scripted import Answers, examples, flat, has_demos, question, right, scripted, wording


def half_right(request: Any) -> str:
    """Right about records with an even number, and about all once there are demos to learn from."""
    number = int(re.findall(r"Row (\d+)", question(request))[-1])
    return right(request) if has_demos(request) or number % 2 == 0 else flat(request)


def compiled(optimizer: str, answers: Answers = half_right, *, seed: int = 0, threads: int = 1) -> list[Candidate]:
    """The candidates for Track 1."""
    student = TRACK1.build({})
    rows = examples(TRACK1, student)
    train, dev = rows[:8], rows[8:]
    lm = scripted(answers, threads=threads)

    def baseline() -> Objective:
        return objective(TRACK1, train, judge_all(TRACK1, student, train, lm))

    settings = Settings(demos=3, candidates=3, seed=seed)
    work = Search(TRACK1, student, train, dev, baseline, settings, lm, lm, lambda text: None)
    return compile_candidates(optimizer, work, [Candidate("uncompiled", student)])


def texts(candidates: list[Candidate]) -> list[str]:
    return [program_text(TRACK1, program) for _, program in candidates]


def test_the_same_seed_gives_the_same_programs_and_another_one_others() -> None:
    random.seed("something else before")
    first = texts(compiled("random-search", seed=7))
    random.seed("and again")
    assert texts(compiled("random-search", seed=7, threads=4)) == first
    other = texts(compiled("random-search", seed=2))
    assert other[0] == first[0]
    assert other[1:] != first[1:]


def test_bootstrapped_demos_come_from_right_answers_only() -> None:
    """Of the others, the answers are half right."""

    def half(request: Any) -> str:
        return right(request) if re.search(r"Row [2468]\.", question(request)) else flat(request)

    candidates = compiled("random-search", half)
    own = [demo for _, program in candidates for demo in program.judging.demos if demo.get("augmented")]
    assert own
    for demo in own:
        assert demo["sentence_labels"] == re.findall(r" is ([^.]*)\.", str(demo["sentences"]))


def test_a_repaired_answer_shows_no_trace_of_the_repair() -> None:
    def stubborn(request: Any) -> str:
        return right(request) if "correction" in question(request) or has_demos(request) else "garbage"

    candidates = compiled("bootstrap", stubborn)
    assert any(program.judging.demos for _, program in candidates)
    assert "correction" not in "".join(texts(candidates))


def test_instructions_that_mipro_has_written_become_candidates() -> None:
    def answer(request: Any) -> str:
        if "sentence_labels" in str(request.system) and "## sentences ##" in question(request):
            return right(request) if "LOOK CLOSELY" in wording(request) else flat(request)
        fields = re.findall(r"\d+\. `(\w+)`", str(request.system).split("Your output fields are:")[-1])
        return json.dumps({name: "LOOK CLOSELY at each sentence." for name in fields})

    candidates = compiled("mipro", answer)
    assert candidates[0].name == "uncompiled"
    instructions = [program.judging.signature.instructions for _, program in candidates]
    assert "LOOK CLOSELY" not in instructions[0]
    assert any("LOOK CLOSELY" in instruction for instruction in instructions[1:])
    assert all(predictor.lm is None for _, program in candidates for predictor in program.predictors())
    assert len(set(texts(candidates))) == len(candidates)


def test_a_package_adds_an_optimizer_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger.py").write_text("""
def terse(search):
    program = search.student.deepcopy()
    for predictor in program.predictors():
        predictor.signature = predictor.signature.with_instructions("Be terse.")
    return [program]
""")
    install(monkeypatch, tmp_path, "stranger", "terse = stranger:terse\nlost = stranger:lost", OPTIMIZERS)
    candidates = compiled("terse", flat)
    assert [candidate.name for candidate in candidates] == ["uncompiled", "terse 1"]
    assert candidates[1].program.judging.signature.instructions == "Be terse."
    with pytest.raises(UserError, match=r"optimizer 'lost' of package stranger 1\.0 cannot be used"):
        compiled("lost", flat)
