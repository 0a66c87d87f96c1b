"""A compile that aims at the set that it will be ranked on: weights of records, and what follows from them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import numpy as np
import pytest

from aisr.artifact.manifest import read_manifest
from aisr.base.errors import UserError
from aisr.judging.evaluate import score_cases
from aisr.judging.judge import Outcome
from aisr.metrics.intervals import difference_interval, score_interval
from aisr.metrics.scores import Tally, value
from aisr.optimize.target import Comparison, Target, estimate_mix, parse_mix, rake, shape_of, stated_mix
from aisr.programs.case import Case
from aisr.programs.context24_figures import CONTEXT24_FIGURES
from aisr.programs.probabilities import from_vote
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2, Citation
from support.commands import Aisr
from support.compiled import FEW
from support.corpora import CAUSAL, CONTRA, ENTITY, beginning
from support.loopback import Loopback
from support.paths import ROOT
from support.scripted import claim

LABELS = ("Supported", "Contradiction", "Unsupported Entity")


def test_a_record_of_weight_two_counts_as_if_it_stood_there_twice() -> None:
    """In score, parts, surrogate and smoothing; numbers of gold statements stay those of the records."""
    cases = [TRACK1.build({}).prepare(claim(LABELS[k % 3], "Supported", number=k)) for k in range(12)]
    answers = [["Supported", LABELS[k % 2]] for k in range(12)]
    weights = [2.0 if k % 3 == 0 else 1.0 for k in range(12)]
    rows = [k for k, weight in enumerate(weights) for _ in range(int(weight))]
    weighted = score_cases(TRACK1, [replace(case, weight=w) for case, w in zip(cases, weights, strict=True)], answers)
    repeated = score_cases(TRACK1, [cases[k] for k in rows], [answers[k] for k in rows])
    plain = score_cases(TRACK1, cases, answers)
    assert isinstance(weighted, Tally)
    assert isinstance(plain, Tally)
    assert value(weighted) == pytest.approx(value(repeated))
    assert value(weighted) != pytest.approx(value(plain))
    assert weighted.corpus_score().parts == pytest.approx(repeated.corpus_score().parts)
    assert weighted.rare_labels == plain.rare_labels
    assert weighted.surrogate(weighted)[rows] / np.take(weights, rows) == pytest.approx(repeated.surrogate(repeated))
    assert score_interval(weighted).value == pytest.approx(value(repeated))
    assert difference_interval(weighted, weighted).value == 0


# --- Weights and mixes


def test_weights_bring_a_split_to_the_mix_and_lengths_of_the_target_and_none_is_above_five() -> None:
    groups = ["error-free"] * 40 + ["with an error"] * 20
    sizes = [1, 2, 3, 4] * 15
    weights = rake(groups, sizes, {"error-free": 0.16, "with an error": 0.84}, [1, 2, 3] * 10 + [4] * 30)
    assert weights.mean() == pytest.approx(1)
    assert weights.max() <= 5.001
    assert weights[40:].sum() / 60 == pytest.approx(0.84, abs=0.01)
    long = np.array(sizes) == 4
    assert weights[long].sum() / 60 == pytest.approx(0.5, abs=0.02)
    few = rake(groups, [1] * 3 + [2] * 57, {}, [1] * 30 + [2] * 30)  # too few of one size to stand for half the target
    assert few == pytest.approx(np.ones(60))
    lacking = rake(["a"] * 30, [1] * 10 + [2] * 10 + [3] * 10, {}, [1] * 10 + [3] * 10)  # a size that the target lacks
    assert lacking == pytest.approx([1.5] * 10 + [0.75] * 20)
    assert (rake(["a", "b"], [1, 1], {"a": 1.0, "b": 0.0}, []) > 0).all()  # a record without weight is none
    rare = ["a"] * 99 + ["b"]
    assert rake(rare, [1] * 100, {"a": 0.1, "b": 0.9}, []).max() == pytest.approx(5, rel=0.1)
    assert rake(["a"] * 10, [1] * 10, {"b": 1.0}, []) == pytest.approx(np.ones(10))  # no record is in the group


def answered(label: str) -> Outcome:
    return Outcome([label], None, [from_vote(label, TRACK1.labels)])


@pytest.mark.parametrize("share", [0.2, 0.84])
def test_the_share_of_records_with_an_error_is_found_from_answers_alone(share: float) -> None:
    """The LM finds three of four errors and flags one sound record of twenty."""
    dev = [Case(dspy.Example(id=str(k)), [["Supported"]], group=k) for k in range(200)]
    dev += [Case(dspy.Example(id=str(k)), [["Contradiction"]], group=k) for k in range(200, 300)]
    on_dev = [answered("Supported" if k % 20 else "Contradiction") for k in range(200)]
    on_dev += [answered("Contradiction" if k % 4 else "Supported") for k in range(100)]
    flagged = round(1000 * (0.75 * share + 0.05 * (1 - share)))
    on_target = [answered("Contradiction")] * flagged + [answered("Supported")] * (1000 - flagged)
    mix = estimate_mix(TRACK1, dev, on_dev, on_target, seed=0)
    found = mix.shares["error-free"]
    assert found.value == pytest.approx(1 - share, abs=0.02)
    assert found.low < 1 - share < found.high
    assert len(mix.shares) == 2  # labels that dev lacks are not told apart
    weighted = Target(mix).weigh(TRACK1, dev)
    assert sum(case.weight for case in weighted[200:]) / 300 == pytest.approx(share, abs=0.02)


def test_labels_of_which_dev_has_few_are_estimated_with_the_one_that_is_answered_alike() -> None:
    kinds = [("Supported", "Supported", 100), (CONTRA, CONTRA, 30), (CAUSAL, CAUSAL, 30), (ENTITY, CAUSAL, 5)]
    rows = [(gold, said) for gold, said, count in kinds for _ in range(count)]
    dev = [Case(dspy.Example(id=str(k)), [[gold]]) for k, (gold, _) in enumerate(rows)]
    on_dev = [answered(said) for _, said in rows]
    mix = estimate_mix(TRACK1, dev, on_dev, on_dev, seed=0)
    assert mix.group_of[ENTITY] == mix.group_of[CAUSAL] != mix.group_of[CONTRA]
    assert mix.shares[mix.group_of[CAUSAL]].value == pytest.approx(35 / 165, abs=0.02)


@pytest.mark.parametrize(
    ("task", "stated", "first"), [(TRACK1, "error-free=0.2", 0.2), (TRACK2, "Supported=.2,Overstate=.8", 0.2)]
)
def test_records_are_weighted_to_a_stated_mix(task: Task, stated: str, first: float) -> None:
    gold: list[Any] = [[["Supported"]], [["Supported"], [CONTRA]]]
    if task is TRACK2:
        gold = [Citation(label, []) for label in ("Supported", "Overstate")]
    cases = [Case(dspy.Example(id=str(k)), gold[k % 2]) for k in range(20)]
    mix = stated_mix(task, parse_mix(task, stated))
    weights = [case.weight for case in Target(mix).weigh(task, cases)]
    assert weights == pytest.approx([2 * first, 2 - 2 * first] * 10)


@pytest.mark.parametrize(
    ("task", "mix", "message"),
    [
        (TRACK1, "Supported=0.16", "'Supported' is no label; expected error-free"),
        (TRACK1, "error-free=1.2", "shares of 0 to 1"),
        (TRACK1, "error-free=few", "'few' is no number"),
        (TRACK2, "Supported=.5,Overstate=.2", "sum to 0.7; expected 1"),
        (CONTEXT24_FIGURES, "Supported=1", "context24-figures has no labels"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(task: Task, mix: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_mix(task, mix)


def test_a_forecast_on_few_effective_records_or_other_texts_is_warned_of() -> None:
    shape = shape_of(TRACK1, [claim("Supported")])
    target = Target(None, comparison=Comparison(shape, shape, auc=0.8), effective={"train": 3, "dev": 12.4, "test": 40})
    assert target.warnings() == [
        "dev has 12 effective records under these weights; fewer than 40 tell little",
        "the target's texts differ from dev's in ways that no weight mends",
    ]
    alike = Target(None, comparison=Comparison(shape, shape, auc=0.79), effective={"train": 3, "dev": 40})
    assert alike.warnings() == []


# --- The commands


def test_a_compile_weighs_dev_and_test_to_the_target_and_says_so(
    aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    data = ROOT / "data/sample/track1"
    at = ["--task", "track1", "--data", data, *FEW, "--optimizer", "labeled", "--budget", "light", "--candidates", "1"]
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--no-track", "--artifacts", tmp_path]
    target = beginning(data / "test-inputs.jsonl", 15, tmp_path / "target.jsonl")
    done = aisr("compile", *at, *lm, "--target", target)
    assert done.code == 0, done.err
    assert "judging 15 records of the target" in done.out
    assert "weighted to the target: " in done.out
    manifest = read_manifest(tmp_path / "track1" / "labeled" / "manifest.json")
    assert manifest.target is not None
    assert manifest.target["judged"] == 15
    assert manifest.data["target"].records == 15
    page = (tmp_path / "track1" / "labeled" / "report.html").read_text("utf-8")
    assert "Weighted to the target " in page
    assert re.search(r'<th scope="row">target</th><td>15</td>', page)
    assert {"dev", "target_dev", "test", "target_test"} <= set(manifest.scores)
    assert "dev, weighted to the target" in (tmp_path / "track1" / "labeled" / "PROMPT.md").read_text("utf-8")
    other = aisr("compile", *at, *lm, "--target-mix", "error-free=.2")
    assert "was begun with another target" in other.err


def test_two_files_are_compared_without_an_lm(aisr: Aisr) -> None:
    data = ROOT / "data/sample/track1"
    done = aisr("check", data / "dev.jsonl", "--task", "track1", "--against", data / "test-inputs.jsonl")
    assert done.code == 0, done.err
    assert "80 records" in done.out
    assert "texts told apart with AUC" in done.out
    shape = r"80 records; [\d.]+ statements of \d+ words a record; evidence: 0.6 image, 1.2 table, 1.[56] text\n"
    assert len(re.findall(shape, done.out.replace("80 records, ", "80 records; "))) == 2
    shared = "80 of 80 records (80 a caption, 30 a near-duplicate evidence, 80 a picture)"
    assert f"what they share with another: {shared}" in done.out


def test_a_target_that_is_too_small_is_refused_before_anything_is_asked(aisr: Aisr, tmp_path: Path) -> None:
    lines = (ROOT / "data/sample/track1/test-inputs.jsonl").read_text("utf-8").splitlines(keepends=True)
    few = tmp_path / "few.jsonl"
    few.write_text("".join(lines[:3]), "utf-8")
    done = aisr("compile", "--task", "track1", "--data", "sample", "--target", few, "--lm", "embedded", "--no-track")
    assert "3 records; a target needs 10" in done.err
    assert done.code == 2
