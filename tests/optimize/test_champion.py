"""The champion is chosen by the official score on dev, whatever an optimizer's own mean says."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import dspy
import pytest

from aisr.lm.budget import BudgetSpent, Ledger, Limits
from aisr.metrics.intervals import in_words
from aisr.metrics.scores import FN, TP, Tally
from aisr.optimize import demos as nearest
from aisr.optimize.champion import choose, why_none_was_kept
from aisr.optimize.race import nested
from aisr.optimize.run import Plan, compile_program
from aisr.optimize.search import Candidate, Settings
from aisr.programs.task import Task
from aisr.programs.track1 import CLAIM_LABELS, TRACK1, Track1Record
from aisr.report.page import write_compile_report
from support.corpora import write
from support.runs import SILENT
from support.scripted import TRACKS, cases, claim, field, flat, question, requests, right, scripted, wording, written

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
def test_the_best_on_dev_is_champion_and_among_equals_the_first(task: Task) -> None:
    texts = {"uncompiled": "Flat.", "good": "RIGHT.", "late": "RIGHT too."}
    candidates = [Candidate(name, instructed(task, text)) for name, text in texts.items()]
    dev = cases(task, candidates[0].program)
    assert choose(task, candidates, dev, scripted(right)).champion.name == "uncompiled"
    choice = choose(task, candidates, dev, scripted(by_instruction))
    assert (choice.champion.name, choice.champion.program) == ("good", candidates[1].program)
    assert [one.name for one in choice.contenders] == list(texts)
    assert choice.champion.dev.score.score == 1.0
    baseline = choice.contenders[0]
    assert baseline.gain.value == 0
    assert choice.champion.gain.value == pytest.approx(1.0 - baseline.dev.score.score)
    assert choice.champion.gain.low > 0
    assert why_none_was_kept(choice, ["good"]) is None
    assert why_none_was_kept(choice, ["late"]) == "its program was not kept: late scores 100.0 on dev, good 100.0"
    few = choose(task, candidates[:1], dev[:3], scripted(right)).champion
    assert str(few.dev.interval).endswith("(too few independent records for an interval)")


def test_without_a_score_of_the_uncompiled_program_nothing_is_chosen() -> None:
    programs = [instructed(TRACK1, "Flat."), instructed(TRACK1, "RIGHT.")]
    dev, lm = cases(TRACK1, programs[0]), scripted(by_instruction)
    lm.ledger = Ledger(Limits(calls=len(dev) - 1))
    with pytest.raises(BudgetSpent):
        choose(TRACK1, [Candidate("uncompiled", programs[0]), Candidate("good", programs[1])], dev, lm)


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


def test_a_dropped_candidate_is_judged_on_a_part_of_dev_only() -> None:
    dev = examples_of(60)
    candidates = [Candidate(name, instructed(TRACK1, name)) for name in ("uncompiled", "good", "bad", "worse")]

    def answer(request: Any) -> str:
        return right(request) if "good" in wording(request) else flat(request)

    lm = scripted(answer)
    choice = choose(TRACK1, candidates, dev, lm)
    assert choice.champion.name == "good"
    judged = {contender.name: len(contender.dev.scores) for contender in choice.contenders}
    assert judged["uncompiled"] == judged["good"] == 60
    assert min(judged["bad"], judged["worse"]) < 60
    assert len(requests(lm)) == sum(judged.values())
    assert all(contender.finished is (judged[contender.name] == 60) for contender in choice.contenders)


def test_a_dropped_candidate_is_no_champion_for_the_part_of_dev_that_it_was_judged_on() -> None:
    """The early leader is right about the first half of dev alone, the one that it drops about most of that half."""
    dev = examples_of(60)
    first_half = nested([TRACK1.balance_key(case.gold) for case in dev])[:30]
    most = set(first_half) - set([row for row in first_half if row % 2][:6])  # six Contradictions are missed
    candidates = [Candidate(name, instructed(TRACK1, name)) for name in ("uncompiled", "HALF", "MOST")]

    def answer(request: Any) -> str:
        (number,) = re.findall(r"Row (\d+)\.", question(request))
        known = first_half if "HALF" in wording(request) else most if "MOST" in wording(request) else []
        return right(request) if int(number) - 1 in known else flat(request)

    choice = choose(TRACK1, candidates, dev, scripted(answer))
    half, dropped = choice.contenders[1:]
    assert (half.finished, dropped.finished) == (True, False)
    assert dropped.chosen_by > half.chosen_by
    assert choice.champion is half
    assert why_none_was_kept(choice, ["MOST"]) == "its program was not kept: dropped by the race on dev"


def test_a_gain_on_records_of_few_groups_is_too_few_to_tell() -> None:
    dev = [replace(case, group=number % 2) for number, case in enumerate(examples_of(60))]
    candidates = [Candidate(name, instructed(TRACK1, name)) for name in ("uncompiled", "RIGHT")]
    alone, grouped = (choose(TRACK1, candidates, rows, scripted(by_instruction)) for rows in (examples_of(60), dev))
    assert alone.champion.gain.low > 0
    assert in_words(grouped.champion.gain, "A") == "too few independent records to tell"


@pytest.mark.parametrize(
    ("count", "weight", "measure"),
    [
        (50, 1.0, ""),
        (50, 2.0, " (weighted to the target)"),
        (45, 1.0, " (rare labels counted less)"),
        (45, 2.0, " (weighted to the target, rare labels counted less)"),
    ],
)
def test_a_choice_says_in_what_its_score_differs_from_the_official_one(count: int, weight: float, measure: str) -> None:
    program = TRACK1.build({})
    dev = [program.prepare(claim(CLAIM_LABELS[k % 5], number=k + 1)) for k in range(count)]
    dev[0] = replace(dev[0], weight=weight)
    assert choose(TRACK1, [Candidate("uncompiled", program)], dev, scripted(flat)).describe_measure() == measure


def test_nearest_demos_are_the_default_for_many_records_where_demos_are_wanted(tmp_path: Path) -> None:
    (train := tmp_path / "train.jsonl").write_text("{}\n" * nearest.FROM)
    assert nearest.default_optimizers(train, None, 4) == ["knn"]
    assert nearest.default_optimizers(train, None, 0) == ["random-search"]
    assert nearest.default_optimizers(train, nearest.FROM - 1, 4) == ["random-search"]


def has_demos(request: Any) -> bool:
    return len(request.messages) > 1


def examples_of(count: int) -> list[Any]:
    program = TRACK1.build({})
    kinds = ("Supported", "Contradiction")
    return [program.prepare(claim(kinds[k % 2], number=k + 1)) for k in range(count)]


# --- Nearest demos in the default search: when they race, at what price, and that none gives an answer away

PICTURES = 4  # that the records of a split share, two each


def record(number: int, split: str) -> Track1Record:
    """Of train, two share a picture; a record of dev shares it with both, as no good split has it."""
    shown = f"images/{number % PICTURES if split != 'test' else 'other'}.jpg"
    table = {"type": "table", "table_caption": [f"Row {number} is what it is."], "img_path": shown}
    labelled = claim("Supported" if number % 2 else "Contradiction", "Supported", number=number)
    return Track1Record.model_validate({**labelled.model_dump(), "evidence_bundle": [table]})


def test_no_record_is_shown_a_demo_that_it_shares_something_with_nor_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the race and on test. What is kept apart is saved nowhere, and the report tells the records of dev from the
    cache all the same."""
    monkeypatch.setattr(nearest, "FROM", 8)

    def better_with_demos(request: Any) -> str:
        return right(request) if has_demos(request) else right(request).replace("Contradiction", "Supported")

    for first, split in ((100, "train"), (200, "dev"), (300, "test")):
        records = [record(first + k, split) for k in range(2 * PICTURES)]
        write(tmp_path / f"{split}.jsonl", [one.model_dump_json() for one in records])
    data = {split: tmp_path / f"{split}.jsonl" for split in ("train", "dev", "test")}
    settings = Settings(candidates=1, demos=6)
    compile_plan = Plan(TRACK1, "x", ["knn"], settings, {}, data, {}, "aisr compile")
    lm = scripted(better_with_demos)
    made = compile_program(compile_plan, lm, lm, tmp_path / "out", SILENT)
    program = made.choice.champion.program
    assert program.options.demos_per_record == 6
    calls = len(requests(lm))
    replayed = write_compile_report(made).dev
    assert len(requests(lm)) == calls
    assert [one.outcome.failure for one in replayed] == [None] * 2 * PICTURES
    many = list(filter(has_demos, requests(lm)))
    assert many
    for request in many:
        own = int(re.findall(r"Row (\d+)", field(question(request), "evidence") or "")[-1])
        demos = [int(n) for m in request.messages[:-1] for n in re.findall(r"Row (\d+) is what", m.text or "")]
        assert own < 300 or len(set(demos)) == 6
        assert own >= 300 or all(other % PICTURES != own % PICTURES for other in demos)
