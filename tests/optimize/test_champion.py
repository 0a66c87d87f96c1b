"""The champion is chosen by the official score on dev, whatever an optimizer's own mean says."""

import re
from collections.abc import Sequence
from typing import Any, cast

import dspy
import pytest

from aisr.metrics.scores import FN, TP, Tally
from aisr.metrics.track1 import tally_track1
from aisr.optimize.champion import choose
from aisr.optimize.search import Candidate, gradient_records, objective
from aisr.predict.evaluate import evaluate
from aisr.predict.judge import judge_all
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.scripted import TRACKS, citation, claim, examples, flat, question, right, scripted, wording, written

JSON = "Respond with a JSON object"


def instructed(task: Task, instruction: str) -> dspy.Module:
    program = task.build({})
    predictor = program.named_predictors()[0][1]
    predictor.signature = predictor.signature.with_instructions(instruction)
    return program


def by_instruction(request: Any) -> str:
    """Right under the instruction RIGHT, flat under any other."""
    return right(request) if "RIGHT" in wording(request) else flat(request)


@pytest.mark.parametrize("task", TRACKS)
def test_the_best_on_dev_is_champion(task: Task) -> None:
    texts = {"uncompiled": "Flat.", "good": "RIGHT.", "late": "Flat too."}
    candidates = [Candidate(name, instructed(task, text)) for name, text in texts.items()]
    seen: list[str] = []
    lm = scripted(by_instruction)
    choice = choose(task, candidates, examples(task, candidates[0].program), lm, lambda c: seen.append(c.name))
    assert (choice.champion.name, choice.champion.program) == ("good", candidates[1].program)
    assert [one.name for one in choice.contenders] == seen == list(texts)
    assert choice.champion.dev.score.score == 1.0
    baseline = choice.contenders[0]
    assert tuple(baseline.gain) == (0.0, 0.0, 0.0)
    assert choice.champion.gain.value == pytest.approx(1.0 - baseline.dev.score.score)
    assert choice.champion.gain.low > 0
    assert baseline.dev.interval.low <= baseline.dev.score.score == baseline.dev.interval.value
    assert baseline.dev.interval.value <= baseline.dev.interval.high


def test_a_tie_goes_to_the_uncompiled_program_and_among_those_that_beat_it_to_the_first() -> None:
    instructions = {"uncompiled": "Flat.", "first": "RIGHT.", "second": "RIGHT too."}
    candidates = [Candidate(name, instructed(TRACK1, text)) for name, text in instructions.items()]
    dev = examples(TRACK1, candidates[0].program)
    assert choose(TRACK1, candidates, dev, scripted(right)).champion.name == "uncompiled"
    assert choose(TRACK1, candidates, dev, scripted(by_instruction)).champion.name == "first"


def test_the_official_score_decides_where_a_mean_over_sentences_prefers_another() -> None:
    """The program that sees nothing has the better mean accuracy over sentences; the one that finds the Contradiction,
    and takes two other sentences for one, has the same exact match and the better macro-F1."""
    labels = ["Supported", "Supported", "Supported", "Supported", "Contradiction"]

    def answer(request: Any) -> str:
        if "FINDER" in wording(request) and "is Contradiction" in question(request):
            return written(JSON, {"sentence_labels": ["Contradiction", "Contradiction", *labels[2:]]})
        return flat(request)

    uncompiled, finder = instructed(TRACK1, "Flat."), instructed(TRACK1, "FINDER.")
    pair = [uncompiled.prepare(record) for record in (claim("Supported", number=1), claim(*labels, number=2))]
    dev = pair * 10  # enough of each label for the choice to be the official one
    candidates = [Candidate("uncompiled", uncompiled), Candidate("finder", finder)]
    choice = choose(TRACK1, candidates, dev, scripted(answer))
    counts = [cast(Tally, contender.dev.scores).counts for contender in choice.contenders]
    accuracy = [(c[:, TP].sum(axis=1) / (c[:, TP] + c[:, FN]).sum(axis=1)).mean().round(3) for c in counts]
    assert accuracy == [0.9, 0.8]
    assert choice.champion.name == "finder"


def test_failures_are_counted_against_a_program_and_listed() -> None:
    program = TRACK1.build({})
    records = [claim("Supported", number=1), claim("Contradiction", number=2)]
    lm = scripted(lambda request: right(request) if "Row 1." in question(request) else "garbage")
    result = evaluate(TRACK1, program, [program.prepare(record) for record in records], lm)
    assert list(result.failures) == ["track1-000002"]
    assert result.score == tally_track1([[["Supported"]], [["Contradiction"]]], [["Supported"], None]).report()
    assert result.report()["records"] == 2
    assert result.report()["failures"] == result.failures


def test_demos_are_made_of_right_records_only() -> None:
    """While demos are bootstrapped the metric asks for the whole record; a metric of credit would let half-right
    answers in."""
    program = TRACK1.build({})
    train = examples(TRACK1, program)
    metric = objective(TRACK1, train, judge_all(TRACK1, program, train, scripted(flat)))
    example = program.prepare(claim("Supported", "Contradiction"))
    half, whole = (
        dspy.Prediction(sentence_labels=labels) for labels in (["Supported"] * 2, ["Supported", "Contradiction"])
    )
    assert metric(example, half) > 0
    assert metric(example, half, trace=[]) == 0.0
    assert metric(example, whole, trace=[]) == 1.0
    assert metric(example, whole) > metric(example, half)


@pytest.mark.parametrize(
    ("task", "record", "answer", "message"),
    [
        (
            TRACK1,
            claim("Supported", "Contradiction"),
            {"sentence_labels": ["Supported", "Supported"]},
            "Sentence 2: said Supported; right is Contradiction",
        ),
        (TRACK2, citation("Overstate", "P2"), {"label": "Supported", "evidence_para_ids": ["P2"]}, "Overstate"),
        (TRACK2, citation("Overstate", "P2"), {"label": "Overstate", "evidence_para_ids": ["P1"]}, "P2"),
    ],
)
def test_feedback_says_what_was_wrong(task: Task, record: Any, answer: dict[str, Any], message: str) -> None:
    program = task.build({})
    train = examples(task, program)
    metric = objective(task, train, judge_all(task, program, train, scripted(flat)))
    feedback = metric.with_feedback(program.prepare(record), dspy.Prediction(**answer))
    assert message in feedback.feedback
    assert feedback.score == metric(program.prepare(record), dspy.Prediction(**answer))


@pytest.mark.parametrize(("later", "champion"), [("14 but 3", "first"), ("20 but 0", "later")])
def test_a_later_program_replaces_the_champion_so_far_only_with_a_sure_gain(later: str, champion: str) -> None:
    """Two records more and one less of twenty are less than a standard error; five more are more."""

    def below(request: Any) -> str:
        most = re.search(r"below (\d+) but (\d+)", wording(request))
        number = re.search(r"Row (\d+)", question(request))
        assert most
        assert number
        able = int(number[1]) < int(most[1]) and number[1] != most[2]
        return right(request) if able else flat(request)

    def dev(programs: Sequence[Candidate]) -> list[dspy.Example]:
        records = [claim("Contradiction" if k % 2 else "Supported", number=k) for k in range(20)]
        return [programs[0].program.prepare(record) for record in records]

    candidates = [
        Candidate(name, instructed(TRACK1, f"Right below {most}, else flat."))
        for name, most in (("uncompiled", "0 but 0"), ("first", "10 but 0"), ("later", later))
    ]
    lm = scripted(below)
    so_far = choose(TRACK1, candidates[:2], dev(candidates), lm).champion
    assert so_far.name == "first"
    choice = choose(TRACK1, candidates, dev(candidates), lm, so_far=so_far)
    assert choice.champion.name == champion
    assert (choice.doubtful and choice.doubtful.name) == (None if champion == "later" else "later")
    assert choose(TRACK1, candidates, dev(candidates), lm).champion.name == "later"  # as one race it is the best


def test_the_gradient_is_told_from_a_hundred_records_and_all_rare_labels() -> None:
    program = TRACK1.build({})
    rare = {7: "Unsupported Entity", 150: "Unsupported Entity", 299: "Contradiction"}
    train = [program.prepare(claim(rare.get(k, "Supported"), "Supported", number=k)) for k in range(300)]
    chosen = gradient_records(TRACK1, train, seed=0)
    assert 100 <= len(chosen) <= 103
    assert {labels[0][0] for labels in (example.gold for example in chosen)} == {"Supported", *rare.values()}
    assert gradient_records(TRACK1, train[:50], seed=0) == train[:50]
