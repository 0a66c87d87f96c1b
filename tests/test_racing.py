"""The race keeps the uncompiled program and the leader, drops the worse, and judges no more than it needs."""

from random import Random

import numpy as np
import pytest
from scripted import claim, examples, requests, right, scripted

from metrics.official import Tally, tally_claims
from metrics.racing import nested, rungs, survivors
from optimize.champion import choose
from optimize.corpus import EXACT, CorpusAcceptance, counts
from optimize.demos import balanced, within
from optimize.optimizers import Candidate
from optimize.tasks import TRACK1
from programs.labels import CLAIM_LABELS


def corpus(accuracy: float, seed: int, records: int = 60) -> Tally:
    draw, gold = Random(seed), [[[label]] for label in list(CLAIM_LABELS) * (records // 5)]
    said = [[types[0][0] if draw.random() < accuracy else draw.choice(CLAIM_LABELS)] for types in gold]
    return tally_claims(gold, said)


def test_small_dev_sets_are_judged_whole() -> None:
    assert rungs(40) == [40]
    assert rungs(100) == [25, 50, 100]
    assert rungs(400) == [100, 200, 400]


def test_every_beginning_of_the_order_is_stratified() -> None:
    strata = ["Supported"] * 75 + ["Contradiction"] * 25
    order = nested(strata)
    assert sorted(order) == list(range(100))
    for size in (20, 40, 60):
        assert sum(strata[row] == "Contradiction" for row in order[:size]) == pytest.approx(size / 4, abs=1)


def test_the_worse_half_goes_and_the_uncompiled_program_stays() -> None:
    tallies = [corpus(accuracy, seed) for seed, accuracy in enumerate((0.1, 0.9, 0.2, 0.85, 0.15, 0.1))]
    kept = survivors(tallies)
    assert kept[0] == 0
    assert 1 in kept
    assert not {2, 4, 5} & set(kept)


def test_a_dropped_candidate_is_judged_on_a_part_of_dev_only() -> None:
    dev = examples_of(100)
    candidates = [Candidate(name, instructed(name)) for name in ("uncompiled", "good", "bad", "worse")]

    def answer(request: object) -> str:
        from scripted import flat, wording

        return right(request) if "good" in wording(request) else flat(request)  # type: ignore[arg-type]

    lm = scripted(answer)
    choice = choose(TRACK1, candidates, dev, lm)
    assert choice.champion.name == "good"
    judged = {contender.name: len(contender.dev.tally) for contender in choice.contenders}
    assert judged["uncompiled"] == judged["good"] == 100
    assert min(judged["bad"], judged["worse"]) < 100
    assert len(requests(lm)) == sum(judged.values())


def examples_of(count: int) -> list[object]:
    program = TRACK1.build({})
    kinds = ("Supported", "Contradiction")
    return [program.prepare(claim(kinds[k % 2], number=k + 1)) for k in range(count)]


def instructed(text: str) -> object:
    program = TRACK1.build({})
    program.label.signature = program.label.signature.with_instructions(text)
    return program


def test_gepas_gate_follows_the_ranking_score_and_not_the_mean() -> None:
    """Ten Supported records and one Contradiction. Finding it at the price of two false alarms lowers the accuracy and
    raises macro-F1."""
    gold = [[["Supported"]]] * 10 + [[["Contradiction"]]]
    flat_said = [["Supported"]] * 11
    finder = [["Contradiction"]] * 2 + [["Supported"]] * 8 + [["Contradiction"]]

    def rows(said: list[list[str]]) -> list[dict[str, float]]:
        return [counts(tally_claims([g], [s])) for g, s in zip(gold, said, strict=True)]

    gate = CorpusAcceptance(TRACK1)
    assert gate._score(rows(finder)) == pytest.approx(_official(gold, finder))
    assert gate._score(rows(flat_said)) == pytest.approx(_official(gold, flat_said))
    assert sum(row[EXACT] for row in rows(finder)) < sum(row[EXACT] for row in rows(flat_said))


def _official(gold: list[list[list[str]]], said: list[list[str]]) -> float:
    from metrics.official import score

    return score(tally_claims(gold, said)).score


def test_demos_hold_rare_labels_and_none_crowds_out_the_others() -> None:
    rows = examples(TRACK1, TRACK1.build({}))
    kinds = [row.sentence_labels[0] for row in rows]
    first = balanced(rows, kinds, seed=0)[: len(set(kinds))]
    assert {row.sentence_labels[0] for row in first} == set(kinds)
    long = rows[0].copy(evidence="word " * 5000)
    chosen = within([long, *rows[1:]], ["evidence", "sentences", "sentence_labels"], most=4, budget=400)
    assert long not in chosen
    assert len(chosen) == 4


def test_a_simulated_race_costs_less_than_judging_everything() -> None:
    from metrics.race_study import races
    from metrics.simulation import WORLDS

    found = np.mean(list(races(WORLDS[0], 12, 100, seeds=4, truth=2000)), axis=0)
    assert found[0] < 0.6
    assert found[1] < 3
