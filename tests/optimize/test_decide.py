"""The decision layer: what it learns, what it must not see, and what becomes of hopeless data."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from aisr.artifact.program import parse, program_text, uncompiled
from aisr.cli.session import warn_of_another_lm
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.optimize.decision_fit import NO_LM, WEIGHTS, JudgedRecord, Material, fit_decision, gather, judge_fairly
from aisr.optimize.decision_rule import count, fit_cues, fit_wording
from aisr.optimize.examples import group_records, prepare_one
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.search import Search, Settings, objective
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.averitec.task import AVERITEC
from aisr.programs.decision import CUES, LM, Decision, Rule
from aisr.programs.probabilities import Judgement
from aisr.programs.track1.record import CLAIM_LABELS
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.judge import EvidencePolicy
from aisr.programs.track2.record import CITATION_LABELS, Citation
from aisr.programs.track2.task import TRACK2
from support import scripted

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS
TAILS = {S: "", CAUSAL: ", because of its loss", SCOPE: ", and this holds everywhere", ENTITY: ", as ZedNet shows"}


def sentence(draw: Random, label: str) -> str:
    words = draw.sample(["model", "score", "table", "loss", "layer", "token", "margin", "split", "curve", "trend"], 4)
    return f"The {' '.join(words)} number {draw.randrange(10**6)}{TAILS[label]}."


def judged_claims(count: int, wrong: float = 0.0, texts: bool = True, seed: int = 0) -> list[JudgedRecord]:
    """Records of three sentences whose wording tells the label; the model says Supported to everything, or, where it
    is not `wrong`, the right label with a probability of .6."""
    draw = Random(seed)
    program = TRACK1.build({})
    rows = []
    for k in range(count):
        labels = [draw.choice(list(TAILS)), S, S]
        record = scripted.claim(*labels, number=k + 1)
        wordings = [sentence(draw, label if texts else S) for label in labels]
        pairs = zip(record.sentence_label, wordings, strict=True)
        sentences = [old.model_copy(update={"sentence": new}) for old, new in pairs]
        record = record.model_copy(update={"claim_text": " ".join(wordings), "sentence_label": sentences})
        judgements = [judgement(S if draw.random() < wrong else label) for label in labels]
        outcome = Outcome([judged.label for judged in judgements], None, judgements)
        rows.append(JudgedRecord(prepare_one(TRACK1, program.prepare, record), outcome))
    return rows


def judgement(label: str, chance: float = 0.6) -> Judgement:
    rest = (1 - chance) / 4
    return Judgement(label, [chance if name == label else rest for name in CLAIM_LABELS], "logprobs")


def says(decision: Decision | None, statements: Sequence[str], judgements: Sequence[Judgement]) -> list[str]:
    assert decision is not None
    return [judged.label for judged in decision.decide(statements, "Row 1 is what it is.", list(judgements))]


def test_where_classifiers_beat_the_lm_the_program_asks_none_and_they_learn_from_records_it_did_not_judge() -> None:
    few = judged_claims(12, wrong=1.0)
    others = [row for row, _ in judged_claims(80, seed=2)]
    fitted = fit_decision(TRACK1.labelled, few, seed=0, labelled=others)
    assert fitted.report["kept"] == NO_LM  # with such an LM's opinion it would score no better
    assert fitted.gain is not None
    assert fitted.gain.low > 0
    assert fitted.decision == fitted.without_lm
    program = TRACK1.build({}).with_decision(fitted.decision)
    loaded = parse(program_text(TRACK1, program), "a test").program
    fresh = judged_claims(40, seed=1)
    outcomes = judge_all(TRACK1, loaded, [row.example for row, _ in fresh], scripted.scripted([]))
    right = [
        label == wanted
        for (row, _), outcome in zip(fresh, outcomes, strict=True)
        for label, wanted in zip(outcome.answer or [], row.example.sentence_labels, strict=True)
    ]
    assert np.mean(right) > 0.9


def test_a_task_whose_answers_need_an_lm_keeps_it() -> None:
    assert not AVERITEC.judge.can_go_without_lm
    rule = Rule(weights={"wording": 1.0}, offsets=[0.0] * len(AVERITEC.labels))
    wording = fit_wording(count(["a b"]), np.array([True]), np.array([0]), len(AVERITEC.labels))
    layer = Decision(labels=list(AVERITEC.labels), says=rule, means=rule, wording=wording)
    assert AVERITEC.build({}).with_decision(layer).asks_lm


def test_nothing_is_learnt_from_the_records_that_are_held_out() -> None:
    """A word that tells the label in one fold alone must not help in that fold."""
    rows, held_out = judged_claims(50, wrong=1.0, texts=False), 2
    fold = gathered(rows).texts.fold.tolist()
    marked: list[JudgedRecord] = []
    for row, outcome in rows:
        words = [
            f"Model {len(marked)} was measured" + (f" zyx{label.split()[-1]}" if fold.pop(0) == held_out else "")
            for label in TRACK1.labelled.first_labels(row.example.gold)
        ]
        marked.append(JudgedRecord(row._replace(example=row.example.copy(sentences=words)), outcome))
    material = gathered(marked)
    here = material.texts.fold == held_out
    gold = material.gold.first[here]
    unseen = material.opinions["wording"][here].argmax(axis=1)
    seen, _ = material.texts.fit(here)
    texts = [text for text, kept in zip(material.texts.statements, here, strict=True) if kept]
    assert len(set(unseen)) == 1  # to a prior that saw the other folds, all of these sentences are the same
    assert np.mean(seen.probabilities(texts).argmax(axis=1) == gold) == 1  # to whoever sees it, the word does tell


def gathered(rows: Sequence[JudgedRecord]) -> Material:
    return gather(TRACK1.labelled, rows, group_records([row for row, _ in rows]), 0, EvidencePolicy().choose)


def test_too_few_records_leave_the_model_as_it_is_and_say_so() -> None:
    fitted = fit_decision(TRACK1.labelled, judged_claims(4), seed=0)
    assert fitted.decision is None
    assert "5 are needed" in fitted.report["why"]
    with pytest.raises(ValueError, match="no judged records"):
        fit_decision(TRACK1.labelled, [], seed=0)


def test_labels_that_never_occur_and_labels_that_are_all_the_same_do_no_harm() -> None:
    rows = [
        JudgedRecord(row._replace(example=row.example.copy(gold=[[S]] * 3, sentence_labels=[S] * 3)), outcome)
        for row, outcome in judged_claims(20)
    ]
    fitted = fit_decision(TRACK1.labelled, rows, seed=0)
    assert says(fitted.decision, ["A token."], [judgement(S)]) == [S]
    both = np.ones(2, dtype=np.bool_)
    prior = fit_wording(count(["a b", "a b"]), both, np.array([0, 3]), 5)
    assert np.isfinite(prior.probabilities(["a", "zzz", ""])).all()
    assert np.isfinite(fit_cues(np.zeros((2, len(CUES))), np.array([0, 3]), 5).probabilities(["a"], "")).all()
    mute = fit_wording(count(["a", "b"]), both, np.array([0, 1]), 5)
    assert mute.probabilities(["q"])[0, :2] == pytest.approx([0.5, 0.5], abs=1e-3)


def test_a_model_that_is_right_is_left_alone_and_says_what_it_said() -> None:
    """Where log-probabilities are shared among labels, the likeliest label need not be the one that was written."""
    rows = []
    for row, outcome in judged_claims(30, texts=False):
        judgements = [Judgement(judged.label, [0.4, 0.2, 0.2, 0.1, 0.1], "logprobs") for judged in outcome.judgements]
        rows.append(JudgedRecord(row, Outcome(None, None, judgements)))
    fitted = fit_decision(TRACK1.labelled, rows, seed=0)
    assert fitted.report["cross_validated"]["LM alone"] == pytest.approx(0.9)  # no Contradiction in gold
    assert fitted.report["kept"] is None
    assert fitted.decision is None


def test_noise_is_not_kept_for_a_gain() -> None:
    """The labels have nothing to do with the texts, nor with what the model thinks; of many ways one looks better, and
    is not on the records that had no part in choosing it."""
    draw = Random(4)
    rows = []
    for row, _ in judged_claims(40, texts=False, seed=4):
        thoughts = [judgement(draw.choice([S, S, S, SCOPE]), draw.uniform(0.3, 0.9)) for _ in range(3)]
        rows.append(JudgedRecord(row, Outcome(None, None, thoughts)))
    fitted = fit_decision(TRACK1.labelled, rows, seed=4)
    assert fitted.report["kept"] in (None, NO_LM)  # what never guesses may be better than an LM that does


def test_a_label_that_the_model_says_too_rarely_is_said_more_readily_whatever_the_seed() -> None:
    """The model says Scope too rarely; the wording has nothing to do with the labels, so its prior falls out. What is
    saved decides alike."""
    rows, unsure = [], [0.55, 0.05, 0.05, 0.3, 0.05]
    for row, outcome in judged_claims(40, texts=False):
        thoughts = [
            one._replace(label=S, probabilities=unsure) if one.label == SCOPE else one for one in outcome.judgements
        ]
        rows.append(JudgedRecord(row, Outcome([one.label for one in thoughts], None, thoughts)))
    first, second = (fit_decision(TRACK1.labelled, rows, seed) for seed in range(2))
    assert first.report["kept"] == second.report["kept"] == WEIGHTS
    assert first.report["gain"][0] == pytest.approx(second.report["gain"][0], abs=0.01)
    assert first.report["cross_validated"]["LM alone"] < 0.75 < first.report["cross_validated"][WEIGHTS]
    loaded = parse(program_text(TRACK1, TRACK1.build({}).with_decision(first.decision)), "a test").program
    for decision in (first.decision, loaded.decision):
        assert says(decision, ["A token."], [Judgement(S, unsure, "logprobs")]) == [SCOPE]


def test_records_like_a_demo_and_those_that_an_instruction_quotes_are_not_asked_about() -> None:
    """The decision layer is not fitted on such a record, nor on others of its group."""
    program, lm = TRACK1.build({}), scripted.scripted(scripted.right)
    parent, other = scripted.claim(S, S, number=1), scripted.claim(ENTITY, CONTRA, number=2)
    edited = scripted.claim(S, SCOPE, number=1).sentence_label
    beside = parent.model_copy(update={"id": "beside", "sentence_label": edited})
    rows = [prepare_one(TRACK1, program.prepare, record) for record in (parent, other, beside)]
    program.main_predictor.demos = [rows[2].example.toDict()]
    assert [row.example.id for row, _ in judge_fairly(TRACK1, program, rows, lm, lambda: None)] == [other.id]
    program.main_predictor.demos = []
    program.main_predictor.signature = program.main_predictor.signature.with_instructions(
        "Row 2.1 is Unsupported Entity, for one."
    )
    assert [row.example.id for row, _ in judge_fairly(TRACK1, program, rows, lm, lambda: None)] == [parent.id, "beside"]


def test_a_layer_that_was_fitted_on_another_lm_is_warned_of_and_not_where_its_lm_only_moved(
    capsys: pytest.CaptureFixture[str],
) -> None:
    here, there = (open_lm(LMConfig("openai/local", api_base=f"http://127.0.0.1:{port}/v1")) for port in (8000, 8001))
    program, rule = TRACK1.build({}), Rule(weights={LM: 1.0}, offsets=[0.0] * 5)
    fitted: dict[str, Any] = {"labels": list(CLAIM_LABELS), "says": rule, "means": rule}
    program.decision = Decision(**fitted, fitted_on=here.identity)
    warn_of_another_lm(program, there)
    assert capsys.readouterr().out == ""
    warn_of_another_lm(program, open_lm(LMConfig("openai/other", api_base="http://127.0.0.1:8000/v1")))
    assert "fitted on openai/local " in capsys.readouterr().out


# --- Which paragraphs are named as evidence: train tells with which labels none are, and the prompt says so from the
# first call on

TOPICAL = "Topical Match"


@pytest.mark.parametrize(
    ("gold", "none"),
    [
        ([Citation(TOPICAL, [])] * 3 + [Citation(TOPICAL, ["P1"])], ("Irrelevant", TOPICAL)),  # train has no Irrelevant
        ([Citation("Supported", [])] + [Citation("Supported", ["P1"])] * 2, ("Irrelevant",)),
        ([Citation(label, ["P1"]) for label in CITATION_LABELS], ()),
    ],
)
def test_labels_most_of_whose_records_have_no_gold_evidence_name_none(
    gold: Sequence[Citation], none: Sequence[str]
) -> None:
    policy = EvidencePolicy.from_gold(gold)
    assert policy.none == none
    for label in CITATION_LABELS:
        assert policy.choose(label, ["P1"], ["P2", "P3"]) == ([] if label in none else ["P1", "P2", "P3"])


def test_two_ids_are_the_lms_and_the_third_is_the_rankers_best_of_the_rest() -> None:
    choose, ranked = EvidencePolicy().choose, ["P1", "P2", "P3"]
    assert choose("Supported", ["P9", "P8", "P7"], ranked) == ["P9", "P8", "P1"]
    assert choose("Supported", ["P1", "P1"], ranked) == choose("Supported", [], ranked) == ranked


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
    baseline = objective(TRACK2, rows, judge_all(TRACK2, student, rows, lm))
    work = Search(TRACK2, student, rows[:12], rows[12:], lambda: baseline, Settings(), lm, lm, lambda text: None)
    ((_, program),) = compile_candidates("bootstrap", work, [])
    loaded = parse(program_text(TRACK2, program), "a test")
    for one in (student, program, loaded.program, uncompiled(loaded).program):
        for outcome in judge_all(TRACK2, one, rows[12:], lm):
            assert outcome.answer is not None
            assert bool(outcome.answer.evidence_para_ids) == (outcome.answer.label == "Supported")
    assert len(program.main_predictor.demos) > 2
    for demo in program.main_predictor.demos:
        assert bool(demo["evidence_ids"]) == (demo["label"] == "Supported")
    for request in scripted.requests(lm):
        assert "empty where the label is Irrelevant or Overstate or Topical Match" in scripted.wording(request)
