"""The race keeps the uncompiled program and the leader, drops the worse, and follows no lucky hit on a rare label."""

import re
from random import Random
from typing import Any

import dspy
import pytest
from dspy.lm15 import Request
from gepa.proposer.base import CandidateProposal, SubsampleEvaluation

from aisr.metrics.intervals import difference_interval, nested, survivors
from aisr.metrics.scores import Tally, value
from aisr.metrics.track1 import tally_track1
from aisr.optimize.champion import choose
from aisr.optimize.optimizers import CorpusAcceptance
from aisr.optimize.search import Candidate
from aisr.programs.track1.record import CLAIM_LABELS
from aisr.programs.track1.task import TRACK1
from support.scripted import claim, flat, question, requests, right, scripted, wording

STATE: Any = None  # the gate does not look at what GEPA knows


def corpus(accuracy: float, seed: int, records: int = 60) -> Tally:
    draw, gold = Random(seed), [[[label]] for label in list(CLAIM_LABELS) * (records // 5)]
    predicted = [[types[0][0] if draw.random() < accuracy else draw.choice(CLAIM_LABELS)] for types in gold]
    return tally_track1(gold, predicted)


def test_every_beginning_of_the_order_is_stratified() -> None:
    strata = ["Supported"] * 75 + ["Contradiction"] * 25
    order = nested(strata)
    assert sorted(order) == list(range(100))
    for size in (20, 40, 60):
        assert sum(strata[row] == "Contradiction" for row in order[:size]) == pytest.approx(size / 4, abs=1)


def test_the_worse_go_and_who_is_not_shown_to_be_worse_and_the_uncompiled_program_stay() -> None:
    tallies = [corpus(accuracy, seed) for seed, accuracy in enumerate((0.1, 0.9, 0.2, 0.85, 0.15, 0.1))]
    kept = survivors(tallies)
    assert kept[0] == 0
    assert 1 in kept
    assert not {2, 4, 5} & set(kept)
    alike = [corpus(0.7, seed) for seed in range(6)]  # 60 records cannot tell them apart
    assert len(survivors([tallies[0], *alike])) >= 6


def test_a_dropped_candidate_is_judged_on_a_part_of_dev_only() -> None:
    dev = examples_of(60)
    candidates = [Candidate(name, instructed(name)) for name in ("uncompiled", "good", "bad", "worse")]

    def answer(request: Request) -> str:
        return right(request) if "good" in wording(request) else flat(request)

    lm = scripted(answer)
    choice = choose(TRACK1, candidates, dev, lm)
    assert choice.champion.name == "good"
    judged = {contender.name: len(contender.dev.scores) for contender in choice.contenders}
    assert judged["uncompiled"] == judged["good"] == 60
    assert min(judged["bad"], judged["worse"]) < 60
    assert len(requests(lm)) == sum(judged.values()) == max(contender.calls for contender in choice.contenders)
    assert all(contender.finished is (judged[contender.name] == 60) for contender in choice.contenders)
    assert {contender.usd for contender in choice.contenders} == {0.0}


def test_a_gain_is_counted_over_groups() -> None:
    dev = [example.copy(group=number // 5) for number, example in enumerate(examples_of(60))]
    candidates = [Candidate(name, instructed(name)) for name in ("uncompiled", "good")]

    def answer(request: Request) -> str:
        able = int(re.findall(r"Row (\d+)", question(request))[-1]) % 40 < 20
        return right(request) if "good" in wording(request) and able else flat(request)

    before, after = choose(TRACK1, candidates, dev, scripted(answer)).contenders
    gain = difference_interval(after.dev.scores, before.dev.scores, group=after.dev.group)
    assert after.gain == gain != difference_interval(after.dev.scores, before.dev.scores)


def examples_of(count: int) -> list[Any]:
    program = TRACK1.build({})
    kinds = ("Supported", "Contradiction")
    return [program.prepare(claim(kinds[k % 2], number=k + 1)) for k in range(count)]


def instructed(text: str) -> Any:
    program = TRACK1.build({})
    program.judging.signature = program.judging.signature.with_instructions(text)
    return program


def test_gepas_gate_follows_the_ranking_score_and_not_the_mean() -> None:
    """Twenty Supported records and one Contradiction. Finding it at the price of two false alarms lowers the accuracy
    and raises macro-F1."""
    gold = [[["Supported"]]] * 20 + [[["Contradiction"]]]
    flat_said = [["Supported"]] * 21
    finder = [["Contradiction"]] * 2 + [["Supported"]] * 18 + [["Contradiction"]]

    def evaluated(predicted: list[list[str]]) -> SubsampleEvaluation:
        exact = [float(s[0] in g[0]) for g, s in zip(gold, predicted, strict=True)]
        return SubsampleEvaluation(exact, [dspy.Prediction(sentence_labels=s) for s in predicted])

    gate = CorpusAcceptance(TRACK1, [dspy.Example(gold=types) for types in reversed(gold)])
    places = list(reversed(range(len(gold))))
    result, flat = evaluated(finder), evaluated(flat_said)
    assert sum(result.scores) < sum(flat.scores)
    better = CandidateProposal({}, [0], places, eval_before=flat, eval_after=result)
    worse = CandidateProposal({}, [0], places, eval_before=result, eval_after=flat)
    assert gate.should_accept(better, STATE)
    assert not gate.should_accept(worse, STATE)


def test_gepas_gate_counts_what_could_not_be_read_as_missed() -> None:
    gate = CorpusAcceptance(TRACK1, [dspy.Example(gold=[["Supported"]])] * 2)
    predicted = dspy.Prediction(sentence_labels=["Supported"])
    whole = SubsampleEvaluation([1.0, 1.0], [predicted, predicted])
    for unread in (dspy.Prediction(), None):
        torn = SubsampleEvaluation([0.0, 1.0], [unread, predicted])
        assert gate.should_accept(CandidateProposal({}, [0], [0, 1], eval_before=torn, eval_after=whole), STATE)
        assert not gate.should_accept(CandidateProposal({}, [0], [0, 1], eval_before=whole, eval_after=torn), STATE)


S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS
GOLD = [[[label]] for label in (S, CAUSAL, ENTITY, CONTRA) for _ in range(20)] + [[[SCOPE]]]


def answered(right: float, lucky: bool) -> Tally:
    """Everything right but for a share of every label, Supported instead, and the one sentence that is Scope."""
    predicted = [[types[0][0] if k % 20 < 20 * right else S] for k, types in enumerate(GOLD[:-1])]
    return tally_track1(GOLD, [*predicted, [SCOPE if lucky else S]])


def test_a_result_says_what_hangs_on_one_sentence() -> None:
    lucky, unlucky = answered(0.5, True), answered(0.5, False)
    assert lucky.report().score - unlucky.report().score > 0.1  # as the official score has it
    (remark,) = lucky.report().remarks
    assert remark.startswith(f"{SCOPE}: 1 gold statement of 81; its F1 alone moves the score by 10.0; over the other ")
    over_the_others = [float(one.report().remarks[0].rsplit(" ", 1)[1]) for one in (lucky, unlucky)]
    assert over_the_others[0] - over_the_others[1] < 2


def test_a_lucky_hit_does_not_decide_a_choice() -> None:
    lucky, better = answered(0.6, True), answered(0.7, False)
    assert value(lucky) > value(better)
    assert value(better.smoothed()) > value(lucky.smoothed())
    assert lucky.report().score == pytest.approx(value(lucky))


def test_a_race_drops_no_better_program_for_a_lucky_hit() -> None:
    lucky, better = answered(0.6, True), answered(0.9, False)
    assert 1 in survivors([lucky, better])
    assert survivors([better, lucky]) == [0]
