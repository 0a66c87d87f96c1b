"""Label weights: what they learn, what they must not see, and what becomes of hopeless data."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from aisr.artifact.program import parse, program_text, uncompiled_baseline
from aisr.judging.judge import Outcome, another_lm, judge_all
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.metrics.scores import value
from aisr.optimize.label_weights import JudgedRecord, Judgements, fit_label_weights, judge_without_own_demos
from aisr.optimize.leakage import group_records, prepare_all
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.search import Search, Settings
from aisr.programs.probabilities import Judgement, LabelWeights, Rule
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from aisr.programs.track2 import CITATION_LABELS, TRACK2
from support import scripted

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS


def judged_claims(count: int, wrong: float = 0.0, seed: int = 0) -> list[JudgedRecord]:
    """Records of three sentences, of which the model says Supported where it is `wrong`, else the right label, with a
    probability of .6."""
    draw = Random(seed)
    program = TRACK1.build({})
    rows = []
    for k in range(count):
        labels = [draw.choice([S, CAUSAL, SCOPE, ENTITY]), S, S]
        record = scripted.claim(*labels, number=k + 1)
        judgements = [judgement(S if draw.random() < wrong else label) for label in labels]
        outcome = Outcome([judged.label for judged in judgements], None, judgements)
        rows.append(JudgedRecord(program.prepare(record), k, outcome))
    return rows


def judgement(label: str, chance: float = 0.6) -> Judgement:
    rest = (1 - chance) / 4
    return Judgement(label, [chance if name == label else rest for name in CLAIM_LABELS], "logprobs")


def final_labels(weights: LabelWeights | None, judgements: Sequence[Judgement]) -> list[str]:
    assert weights is not None
    return [judged.label for judged in weights.apply(judgements)]


def test_noise_is_not_kept_for_a_gain() -> None:
    """The labels have nothing to do with what the model thinks; one of two strengths looks better, and is not on the
    records that had no part in choosing it."""
    draw = Random(4)
    rows = []
    for one in judged_claims(40, seed=4):
        thoughts = [judgement(draw.choice([S, S, S, SCOPE]), draw.uniform(0.3, 0.9)) for _ in range(3)]
        rows.append(one._replace(outcome=Outcome(None, None, thoughts)))
    fitted = fit_label_weights(TRACK1, TRACK1.build({}), rows, seed=4)
    assert fitted.report["kept"] is False
    nothing = fit_label_weights(TRACK1, TRACK1.build({}), [], seed=4)
    assert nothing.report["why"] == "0 groups of records that share nothing; 5 are needed"


def test_a_label_that_the_model_says_too_rarely_is_said_more_readily_whatever_the_seed() -> None:
    """What is saved decides alike."""
    rows, unsure = [], [0.55, 0.05, 0.05, 0.3, 0.05]
    for record in judged_claims(40):
        thoughts = [
            one._replace(label=S, probabilities=unsure) if one.label == SCOPE else one
            for one in record.outcome.judgements
        ]
        rows.append(record._replace(outcome=Outcome([one.label for one in thoughts], None, thoughts)))
    program = TRACK1.build({})
    first, second = (fit_label_weights(TRACK1, program, rows, seed) for seed in range(2))
    assert first.report["kept"]
    assert second.report["kept"]
    assert first.report["gain"][0] == pytest.approx(second.report["gain"][0], abs=0.01)
    assert first.report["cross_validated"]["LM alone"] < 0.75 < first.report["cross_validated"]["with label weights"]
    program.label_weights = first.weights
    loaded = parse(program_text(TRACK1, program), "a test").program
    for weights in (first.weights, loaded.label_weights):
        assert final_labels(weights, [Judgement(S, unsure, "logprobs")]) == [SCOPE]


def test_records_like_a_demo_and_those_that_an_instruction_quotes_are_not_asked_about() -> None:
    """Label weights are not fitted on such a record, nor on others of its group."""
    program, lm = TRACK1.build({}), scripted.scripted(scripted.right)
    parent, other = scripted.claim(S, S, number=1), scripted.claim(ENTITY, CONTRA, number=2)
    edited = scripted.claim(S, SCOPE, number=1).sentence_label
    beside = parent.model_copy(update={"id": "beside", "sentence_label": edited})
    records = [parent, other, beside]
    rows = prepare_all(TRACK1, program.prepare, records, Path("train.jsonl"), group_records(TRACK1, records))
    program.main_predictor.demos = [rows[2].example.toDict()]
    assert [one.case.id for one in judge_without_own_demos(TRACK1, program, rows, lm, lambda: None)] == [other.id]
    program.main_predictor.demos = []
    program.main_predictor.signature = program.main_predictor.signature.with_instructions(
        "Row 2.1 is Unsupported Entity, for one."
    )
    assert [one.case.id for one in judge_without_own_demos(TRACK1, program, rows, lm, lambda: None)] == [
        parent.id,
        "beside",
    ]


def test_weights_that_were_fitted_on_another_lm_are_warned_of_and_not_where_its_lm_only_moved() -> None:
    here, there = (open_lm(LMConfig("openai/local", api_base=f"http://127.0.0.1:{port}/v1")) for port in (8000, 8001))
    program = TRACK1.build({})
    rule = Rule(weight=1.0, offsets=[0.0] * len(CLAIM_LABELS))
    program.label_weights = LabelWeights(
        labels=list(CLAIM_LABELS), fitted_on=here.identity, label_rule=rule, probability_rule=rule
    )
    assert another_lm(program, there) is None
    other = open_lm(LMConfig("openai/other", api_base="http://127.0.0.1:8000/v1"))
    assert "fitted on openai/local " in str(another_lm(program, other))


def test_the_prompt_asks_for_no_evidence_where_train_lists_none_and_demos_agree() -> None:
    """In every prompt of a compile and of the saved program, also where the LM names some all the same."""
    labels = [*CITATION_LABELS] * 4
    records = [
        scripted.citation(label, *(["P1"] if label == "Supported" else []), number=k) for k, label in enumerate(labels)
    ]
    lm = scripted.scripted(lambda request: scripted.right(request).replace("[]", '["P2"]'))
    student = TRACK2.build({})
    student.fit(records)
    rows = [student.prepare(record) for record in records]
    work = Search(TRACK2, student, rows[:12], rows[12:], Settings(), lm, lm, lambda text: None)
    ((_, program),) = compile_candidates("bootstrap", work, [])
    loaded = parse(program_text(TRACK2, program), "a test")
    for one in (student, program, loaded.program, uncompiled_baseline(loaded).program):
        for outcome in judge_all(TRACK2, one, rows[12:], lm):
            assert outcome.answer is not None
            assert bool(outcome.answer.evidence_para_ids) == (outcome.answer.label == "Supported")
    assert len(program.main_predictor.demos) > 2
    for demo in program.main_predictor.demos:
        assert bool(demo["evidence_ids"]) == (demo["label"] == "Supported")
    for request in scripted.requests(lm):
        assert "empty where the label is Irrelevant or Overstate or Topical Match" in scripted.wording(request)
        assert "contradict it decide, too" not in scripted.wording(request)


def test_several_labellings_at_once_score_as_each_alone() -> None:
    """While offsets are fitted, scores are counted in arrays: they are the official ones."""
    draw = np.random.default_rng(0)
    records = [[[S], [CAUSAL, S]], [[ENTITY]], [[CAUSAL], [CAUSAL], [S, ENTITY]]] * 5
    predicted, moved = draw.integers(3, size=30), draw.random((4, 30)) < 0.4
    judgements = Judgements.of(np.full((30, 5), 0.2).tolist(), records, np.ones(15, dtype=bool), TRACK1)

    def official(labels: NDArray[np.int64]) -> float:
        rows = iter(CLAIM_LABELS[k] for k in labels)
        return value(TRACK1.score(records, [[next(rows) for _ in sentences] for sentences in records]))

    wanted = [official(np.where(row, 1, predicted)) for row in moved]
    assert judgements.ranking(predicted, 1, moved, doubt=0.0) == pytest.approx(wanted, abs=1e-12)
    assert (judgements.ranking(predicted, 1, moved, doubt=1.0) < wanted).all()
