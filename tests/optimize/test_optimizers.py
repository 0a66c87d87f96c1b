"""Every optimizer gives back all that it tried, in a fixed order, stripped to what a program needs."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, RefusalPart, Response, TextPart, Usage
from gepa.proposer.base import CandidateProposal, SubsampleEvaluation

from aisr.artifact.program import parse, program_text, uncompiled_baseline
from aisr.base.errors import UserError
from aisr.judging.judge import judge_all
from aisr.optimize.demos import complete_set, covering
from aisr.optimize.optimizers import CorpusAcceptance, Reflection, compile_candidates
from aisr.optimize.search import GRADIENT_RECORDS, Candidate, Search, Settings, gradient_records
from aisr.programs.case import Case
from aisr.programs.track1 import TRACK1, Track1Record
from aisr.programs.track2 import CITATION_LABELS, TRACK2
from support.corpora import CAUSAL, CONTRA, ENTITY, SCOPE, S
from support.scripted import Answers, cases, citation, claim, corpus, flat, question, requests, right, scripted, wording


def half_right(request: Any) -> str:
    """Right about records with an even number; of the others, the answers are half right."""
    return right(request) if re.search(r"Row \d*[02468]\.", question(request)) else flat(request)


def compiled(
    optimizer: str,
    answers: Answers = half_right,
    *,
    seed: int = 0,
    threads: int = 1,
    note: Callable[[str], None] = lambda text: None,
) -> list[Candidate]:
    """The candidates for Track 1."""
    student = TRACK1.build({})
    rows = cases(TRACK1, student)
    train, dev = rows[:8], rows[8:]
    lm = scripted(answers, threads=threads)
    settings = Settings(demos=3, candidates=3, seed=seed)
    work = Search(TRACK1, student, train, dev, settings, lm, lm, note)
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


def proposing(request: Any) -> str:
    """Right under the proposed instruction, half right under any other."""
    if "sentence_labels" in str(request.system) and "## sentences ##" in question(request):
        return right(request) if "LOOK CLOSELY" in wording(request) else half_right(request)
    fields = re.findall(r"\d+\. `(\w+)`", str(request.system).split("Your output fields are:")[-1])
    return json.dumps({name: "LOOK CLOSELY at each sentence, and at all of its words." for name in fields})


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        *((name, None) for name in ("labeled", "knn", "bootstrap", "random-search")),
        ("mipro", r"mipro: 1 new instruction in the \d+ programs that it tried"),
        ("gepa", r"gepa: \d+ instructions? proposed, 0 refused for quoting .*; 1 of \d+ better than the one before"),
    ],
)
def test_every_optimizer_leaves_whole_programs_and_says_what_it_proposed(optimizer: str, said: str | None) -> None:
    notes = list[str]()
    candidates = compiled(optimizer, proposing, note=notes.append)
    assert candidates[0].name == "uncompiled"
    assert len(candidates) > 1
    assert all(predictor.lm is None for _, program in candidates for predictor in program.predictors())
    assert len(set(texts(candidates))) == len(candidates)
    instructions = [program.main_predictor.signature.instructions for _, program in candidates[1:]]
    assert any("LOOK CLOSELY" in instruction for instruction in instructions) == (optimizer in ("mipro", "gepa"))
    assert said is None or any(re.match(said, note) for note in notes), notes


NO_INSTRUCTION = "it holds no instruction"
UNUSABLE: dict[str, tuple[str | None, Any, str]] = {
    "cut": ("LOOK CLOSELY at each sent", "length", "the answer was cut after"),
    "refused": (None, "stop", "the model refused to answer: I cannot"),
    "filtered": ("", "content_filter", "the answer was filtered"),
    "null": ('{"FIELD": null}', "stop", NO_INSTRUCTION),
    "list": ('{"FIELD": ["LOOK CLOSELY"]}', "stop", NO_INSTRUCTION),
}


@pytest.mark.parametrize(("text", "ending", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_reflection_that_is_no_instruction_is_counted_with_its_reason(
    text: str | None, ending: Any, reason: str
) -> None:
    def reflecting(request: Any) -> str | Response:
        whole = proposing(request)
        if "LOOK CLOSELY" not in whole:
            return whole
        field = next(iter(json.loads(whole)))
        part = RefusalPart("I cannot.") if text is None else TextPart(text.replace("FIELD", field))
        message = Message.assistant([part])
        return Response(id=None, model="x", message=message, finish_reason=ending, usage=Usage())

    notes = list[str]()
    candidates = compiled("gepa", reflecting, note=notes.append)
    assert any(re.match(rf"gepa: \d+ reflections? could not be used, the first: {reason}", one) for one in notes), notes
    assert {program.main_predictor.signature.instructions for _, program in candidates} == {
        TRACK1.build({}).main_predictor.signature.instructions
    }


def test_a_function_of_ones_own_is_an_optimizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger.py").write_text("""
def terse(search):
    program = search.student.deepcopy()
    for predictor in program.predictors():
        predictor.signature = predictor.signature.with_instructions("Be terse.")
    return [program]


def nothing(search):
    return None


def broken(search):
    raise KeyError("x")
""")
    monkeypatch.syspath_prepend(tmp_path)
    candidates = compiled("stranger:terse", flat)
    assert [candidate.name for candidate in candidates] == ["uncompiled", "stranger:terse 1"]
    assert candidates[1].program.main_predictor.signature.instructions == "Be terse."
    for name, message in {
        "math:pi": "it is float; expected a function from a Search",
        "stranger:lost": "AttributeError: module 'stranger' has no attribute",
        "stranger:nothing": "returned something else than a list of programs",
        "stranger:broken": "raised KeyError: 'x'; expected a list of programs",
    }.items():
        with pytest.raises(UserError, match=f"optimizer {name}:? {message}"):
            compiled(name, flat)


def test_every_set_of_labelled_demos_has_all_labels_and_evidence_where_there_is_some() -> None:
    student, lm = TRACK2.build({}), scripted(right)
    labels = [*["Supported"] * 20, *[*CITATION_LABELS] * 3]
    train = [
        student.prepare(citation(label, *["P20"] * (label != "Irrelevant"), number=k, paragraphs=40))
        for k, label in enumerate(labels)
    ]
    work = Search(TRACK2, student, train, train, Settings(demos=4, candidates=3), lm, lm, print)
    candidates = compile_candidates("labeled", work, [Candidate("uncompiled", student)])
    assert len(candidates) == 4
    for candidate in candidates[1:]:
        demos = candidate.program.main_predictor.demos
        assert {demo["label"] for demo in demos} == set(CITATION_LABELS)
        for demo in demos:
            assert demo["evidence_ids"] == ([] if demo["label"] == "Irrelevant" else ["P20"])
            assert all(f"[{key}] " in demo["passages"] for key in demo["evidence_ids"])
            assert demo["passages"].count("Model") < 40


@pytest.mark.parametrize(
    ("rows", "demos", "expected"),
    [
        ([[S], [S], [S], [CONTRA]], 3, [3, 0, 1]),  # a missing label first, then the order
        ([[S, CONTRA], [ENTITY], [CAUSAL, SCOPE]], 2, [0, 2]),  # fewer places than labels: as many of them as can be
    ],
)
def test_demos_cover_the_labels_before_they_follow_the_order(
    rows: list[list[str]], demos: int, expected: list[int]
) -> None:
    student, lm = TRACK1.build({}), scripted(right)
    train = [student.prepare(claim(*labels, number=k)) for k, labels in enumerate(rows)]
    work = Search(TRACK1, student, train, train, Settings(demos=demos), lm, lm, print)
    examples = [case.example for case in train]
    assert sorted(examples.index(demo) for demo in covering(work, examples)) == sorted(expected)


def test_a_bootstrapped_set_gets_one_labelled_record_of_each_label_that_it_lacks() -> None:
    student, lm = TRACK1.build({}), scripted(right)
    train = [student.prepare(claim(label, number=k)) for k, label in enumerate([S, *[CONTRA] * 4, *[ENTITY] * 4])]
    work = Search(TRACK1, student, train, train, Settings(demos=8), lm, lm, print)
    demos = complete_set(work, [train[0].example])
    assert sorted(label for demo in demos for label in demo["sentence_labels"]) == sorted([S, CONTRA, ENTITY])


def test_bootstrapping_asks_about_records_whose_evidence_the_prompt_would_cut_away() -> None:
    """Each is cut to what teaches: the gold paragraph of a long paper, and two more."""
    student, lm = TRACK2.build({"context_tokens": 60}), scripted(right)
    train = []
    for number, label in enumerate(CITATION_LABELS * 3):
        record = citation(label, *["P38"] * (label != "Irrelevant"), number=number, paragraphs=40)
        text = f"Model {number} is {label} by it."
        train.append(student.prepare(record.model_copy(update={"claim_text": text})))
    work = Search(TRACK2, student, train, train, Settings(demos=3, candidates=1), lm, lm, print)
    compile_candidates("bootstrap", work, [Candidate("uncompiled", student)])
    asked = [question(request) for request in requests(lm)[len(train) :]]  # before, for the objective
    assert any("[P38]" in text for text in asked)
    assert all("[P38]" in text or "Irrelevant by it" in text for text in asked)


def test_demos_with_nearly_the_same_statement_do_not_stand_in_one_prompt() -> None:
    student, lm = TRACK2.build({}), scripted(right)
    same = "Of nine birds the heron alone gains four points of recall in the dark, as the {} night count says"
    others = ["Herons gain nothing by day.", "Nobody counts birds in winter."]
    texts = [*(same.format(night) for night in ("first", "second", "third")), *others]
    records = [citation("Supported", number=number) for number in range(len(texts))]
    train = [
        student.prepare(record.model_copy(update={"claim_text": text}))
        for record, text in zip(records, texts, strict=True)
    ]
    work = Search(TRACK2, student, train, train, Settings(demos=3, candidates=1), lm, lm, print)
    for _, program in compile_candidates("knn", work, [Candidate("uncompiled", student)])[1:]:
        shown = [demo["claim"] for demo in program.nearest_demos(program.main_predictor.demos, texts[0])]
        assert sorted(shown) == sorted([texts[0], *others])


def test_the_objective_sees_some_of_each_label_that_train_has() -> None:
    labels = ["Supported"] * 300
    labels[150:152] = ["Contradiction"] * 2
    student = TRACK1.build({})
    train = [student.prepare(claim(label, number=k)) for k, label in enumerate(labels)]
    for seed in range(5):
        judged = gradient_records(TRACK1, train, seed)
        assert sum(case.gold == [["Contradiction"]] for case in judged) == 2
        assert len(judged) <= GRADIENT_RECORDS + 2


def test_the_prompt_asks_for_no_evidence_where_train_lists_none_and_demos_agree() -> None:
    """In every prompt of a compile and of the saved program, also where the LM names some all the same."""
    labels = [*CITATION_LABELS] * 4
    records = [citation(label, *(["P1"] if label == "Supported" else []), number=k) for k, label in enumerate(labels)]
    lm = scripted(lambda request: right(request).replace("[]", '["P2"]'))
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
    for request in requests(lm):
        assert "empty where the label is Irrelevant or Overstate or Topical Match" in wording(request)
        assert "contradict it decide, too" not in wording(request)


# --- GEPA: its gate, what it is told of the whole of train, and that no instruction keeps what it quotes

STATE: Any = None  # the gate does not look at what GEPA knows
QUOTED = "Row 3.1 is Unsupported Entity"  # the beginning of a record of train
RULES = "Compare every number with the evidence before anything else. Take a name that it lacks for new. "


def test_what_an_instruction_quotes_is_cut_out_of_it_but_for_words_of_the_uncompiled_one() -> None:
    program = TRACK1.build({})
    own = " ".join(program.main_predictor.signature.instructions.split()[:12])
    rows = [
        *corpus(TRACK1),
        Track1Record.model_validate(
            {**claim("Supported").model_dump(), "sentence_label": [{"sentence": own, "types": ["Supported"]}]}
        ),
    ]
    cleaned = Reflection(program, [program.prepare(row) for row in rows], "").without_quotes
    kept = cleaned(f"{RULES}For example: {QUOTED.upper()}, is supported. Then answer.")
    assert "Compare every number" in kept
    assert "Then answer." in kept
    assert "ROW" not in kept
    for free in (RULES, f"{RULES}Say that 3.1 is unsupported entity.", own):  # six words in a row are a quote
        assert cleaned(free) == free
    with pytest.raises(ValueError, match="quotes records of train"):
        cleaned(f"Look. {QUOTED} is Supported.")


def test_gepas_gate_follows_the_ranking_score_and_not_the_mean() -> None:
    """Twenty Supported records and one Contradiction. Finding it at the price of two false alarms lowers the accuracy
    and raises macro-F1."""
    gold = [[["Supported"]]] * 20 + [[["Contradiction"]]]
    flat_said = [["Supported"]] * 21
    finder = [["Contradiction"]] * 2 + [["Supported"]] * 18 + [["Contradiction"]]

    def evaluated(predicted: list[list[str]]) -> SubsampleEvaluation:
        exact = [float(s[0] in g[0]) for g, s in zip(gold, predicted, strict=True)]
        return SubsampleEvaluation(exact, [dspy.Prediction(sentence_labels=s) for s in predicted])

    gate = CorpusAcceptance(TRACK1, [Case(dspy.Example(), types) for types in reversed(gold)])
    places = list(reversed(range(len(gold))))
    result, flat = evaluated(finder), evaluated(flat_said)
    assert sum(result.scores) < sum(flat.scores)
    better = CandidateProposal({}, [0], places, eval_before=flat, eval_after=result)
    worse = CandidateProposal({}, [0], places, eval_before=result, eval_after=flat)
    assert gate.should_accept(better, STATE)
    assert not gate.should_accept(worse, STATE)
