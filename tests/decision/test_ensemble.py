"""Several compiled programs as one program, and as an artifact like any other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dspy.lm15 import Request

from aisr.artifact.program_file import Loaded, parse, program_text
from aisr.base.files import BadArtifact
from aisr.inference.judge import judge_all
from aisr.optimize.experiment.compile import compile_program
from aisr.optimize.experiment.plan import Plan
from aisr.optimize.search.compilation import Settings
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.decision.layer import Decision, Rule
from aisr.programs.errors import UserError
from aisr.programs.judges.ensemble import Ensemble, in_prompt
from aisr.programs.labels import CLAIM_LABELS
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2
from support import scripted
from support.plans import SILENT
from support.scripted import TRACKS

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS


def member(task: Task, word: str) -> Loaded:
    """A compiled program that can be told by its instruction, with a demo of the corpus."""
    program = task.build({})
    (predictor,) = program.predictors()
    predictor.signature = predictor.signature.with_instructions(f"{word}. Judge.")
    return parse(program_text(task, program), word)


def blind(request: Request) -> str:
    """Member A sees contradictions and takes all else for Supported; member B sees what is too general alone."""
    seen = CONTRA if "A. Judge." in scripted.wording(request) else SCOPE
    labels = re.findall(r'" is ([^.]*)\.|is ([^.]*)\.', scripted.field(scripted.question(request), "sentences") or "")
    said = [one or other for one, other in labels]
    return scripted.written(
        scripted.question(request), {"sentence_labels": [label if label == seen else S for label in said]}
    )


def plan(folder: Path, members: dict[str, Loaded], **changes: Any) -> Plan:
    data = {}
    for place, name in enumerate(("train", "dev", "test")):
        labels = [S, CONTRA, SCOPE]
        records = [scripted.claim(labels[k % 3], S, labels[(k + 1) % 3], number=1 + k + 100 * place) for k in range(24)]
        folder.mkdir(parents=True, exist_ok=True)
        data[name] = folder / f"{name}.jsonl"
        data[name].write_text("".join(record.model_dump_json() + "\n" for record in records))
    given: dict[str, Any] = {"optimizers": [], "settings": Settings(), "options": {}, "limits": {}, "members": members}
    return Plan(task=TRACK1, name="both", data=data, command="aisr compile", **{**given, **changes})


def test_two_members_that_see_different_things_see_both_together(tmp_path: Path) -> None:
    members = {"a": member(TRACK1, "A"), "b": member(TRACK1, "B")}
    lm = scripted.scripted(blind)
    made = compile_program(plan(tmp_path / "data", members), lm, lm, tmp_path / "out", SILENT)
    assert made.test is not None
    assert made.test.baseline is not None
    assert made.test.gain is not None
    assert made.test.champion.score.per_label[CONTRA].f1 == 1
    assert made.test.champion.score.per_label[SCOPE].f1 == 1
    assert made.test.gain.low > 0
    assert made.manifest.baseline in members
    assert made.manifest.members == {name: loaded.digest for name, loaded in members.items()}


def test_an_ensemble_of_which_nothing_is_answered_is_not_saved(tmp_path: Path) -> None:
    members = {"a": member(TRACK1, "A"), "b": member(TRACK1, "B")}
    lm = scripted.scripted(lambda request: "x" if "B. Judge." in scripted.wording(request) else blind(request))
    with pytest.raises(UserError, match="every record of dev with b failed, the first with: UnusableAnswer"):
        compile_program(plan(tmp_path / "data", members), lm, lm, tmp_path / "out", SILENT)
    assert not list((tmp_path / "out").rglob("*.*"))


@pytest.mark.parametrize("task", TRACKS)
def test_an_ensemble_is_an_artifact_like_any_other(task: Task) -> None:
    members = {"a": task.build({}), "b": task.build({"states": True})}
    program = Ensemble(members)
    text = program_text(task, program)
    loaded = parse(text, "a test").program
    given = scripted.examples(task, loaded)
    found = judge_all(task, loaded, given, scripted.scripted(scripted.right))
    assert all(outcome.failure is None for outcome in found)
    assert [[judged.label for judged in outcome.judgements] for outcome in found] == [
        task.labelled.said(example.gold) for example in given
    ]
    assert program_text(task, loaded) == text


def test_a_record_that_a_member_fails_is_failed() -> None:
    program = Ensemble({"a": TRACK1.build({}), "b": TRACK1.build({})})
    for name, one in program.members.items():
        one.judging.signature = one.judging.signature.with_instructions(f"{name.upper()}. Judge.")
    lm = scripted.scripted(lambda r: "nonsense" if "B. Judge." in scripted.wording(r) else scripted.right(r))
    (found,) = judge_all(TRACK1, program, [program.prepare(scripted.claim(S))], lm)
    assert found.answer is None
    assert "unusable" in (found.failure or "")


def test_a_record_in_any_prompt_is_told_from_others() -> None:
    shown, other = scripted.claim(S, CONTRA, number=1), scripted.claim(S, number=2)
    program = Ensemble({"a": TRACK1.build({}), "b": TRACK1.build({"unit": "sentence"})})
    rows = program.members["b"].demo_rows(program.members["b"].prepare(shown))
    program.members["b"].judging.demos = [rows[1].toDict()]
    assert in_prompt(program, program.prepare(shown))
    assert not in_prompt(program, program.prepare(other))


def test_members_that_show_different_parts_of_a_paper_each_get_their_own() -> None:
    program = Ensemble({"long": TRACK2.build({}), "short": TRACK2.build({"context_tokens": 1})})
    example = program.prepare(scripted.citation("Supported", "P2"))
    assert len(example.parts["short"]["shown"]) == 1
    assert len(example.parts["long"]["shown"]) == 4


def test_a_rare_label_passes_with_enough_votes_and_no_fewer() -> None:
    weights = {"a": 1.0, "b": 1.0, "c": 1.0}
    rule = Rule(weights=weights, offsets=[6.0, 0, 0, 0, 0], votes={3: 2, 4: 1})
    layer = Decision(labels=list(CLAIM_LABELS), majority=S, kept=True, says=rule, means=rule)

    def said(*labels: str) -> str:
        votes = {
            name: [Judgement(label, [0.9 if label == one else 0.025 for one in CLAIM_LABELS], "vote")]
            for name, label in zip(weights, labels, strict=True)
        }
        return layer.decide(["A sentence."], "", votes)[0].label

    assert said(S, S, S) == S
    assert said(S, S, CONTRA) == CONTRA
    assert said(S, S, SCOPE) == S
    assert said(S, SCOPE, SCOPE) == SCOPE
    assert said(SCOPE, SCOPE, CONTRA) == SCOPE  # both pass; the higher sum
    assert said(ENTITY, ENTITY, S) != ENTITY  # no number of votes lets it pass, and the sum is for Supported


def test_names_and_members_that_would_be_taken_for_others_are_refused() -> None:
    program = Ensemble({"a": TRACK1.build({}), "b": TRACK1.build({})})
    with pytest.raises(ValueError, match="'wording'"):
        Ensemble({"wording": TRACK1.build({}), "b": TRACK1.build({})})
    with pytest.raises(ValueError, match="name its members instead"):
        Ensemble({"a": program, "b": TRACK1.build({})})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"members": {"a": {}}}, "two or more"),
        ({"members": {"../a": {}, "b": {}}}, "letters, digits"),
        ({"members": {"a": {"unit": "chapter"}, "b": {}}}, "chapter"),
        ({"members": {"a": {}, "c": {}}}, "predictors"),
    ],
)
def test_an_ensemble_file_that_was_tampered_with_is_refused(change: dict[str, object], complaint: str) -> None:
    program = Ensemble({"a": TRACK1.build({}), "b": TRACK1.build({})})
    content = json.loads(program_text(TRACK1, program))
    with pytest.raises(BadArtifact, match=complaint):
        parse(json.dumps(content | change), "program.json")
