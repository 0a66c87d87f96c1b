"""The checks as a typed step before the labels."""

import json
from typing import Any

import pytest
from dspy.utils.exceptions import LMError

from aisr.artifact.program_file import parse, program_text
from aisr.lm.open import open_lm
from aisr.programs.asking.ask import UnusableAnswer
from aisr.programs.decision.sentence_checks import SentenceCheck, by_rule
from aisr.tasks.track1 import TRACK1
from support.loopback import Loopback
from support.scripted import claim, field, question, requests, scripted, written

NOTHING: dict[str, list[str]] = {name: [] for name in SentenceCheck.model_fields}
EVIDENCE = "[table 1] Table 1: F1 of Corvid-2 and Zephyrine on HarborQA: 38.9 and 36.8."


def answer(program: Any, record: Any, lm: Any) -> Any:
    with lm.context():
        return program(**program.prepare(record).inputs())


@pytest.mark.parametrize(
    ("sentence", "label", "found"),
    [
        ("Corvid-2 beats NimbusRAG on HarborQA.", "Unsupported Entity", {"absent_names": ["NimbusRAG"]}),
        (
            "Corvid-2 always wins, everywhere.",
            "Scope Overgeneralization",
            {"wide_quantifiers": ["always", "everywhere"]},
        ),
        (
            "Corvid-2 wins because it is deep, as shown.",
            "Unsupported Causal Mechanistic",
            {"unshown_causes": ["because it is deep"]},
        ),
        ("Corvid-2 reaches 83.9.", "Contradiction", {"conflicting_values": ["83.9"]}),
        ("Corvid-2 always reaches 83.9 because of NimbusRAG.", "Supported", {}),
        ("Corvid-2 loses to Zephyrine.", "Contradiction", {}),
    ],
)
def test_a_demo_shows_what_goes_with_its_label(sentence: str, label: str, found: dict[str, list[str]]) -> None:
    assert by_rule(sentence, EVIDENCE, label) == {**NOTHING, **found}


def test_a_rule_lists_no_more_than_the_type_allows() -> None:
    check = by_rule("All, every, each, any and always.", EVIDENCE, "Scope Overgeneralization")
    assert SentenceCheck.model_validate(check).wide_quantifiers == ["All", "every", "each"]


@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize("unit", ["paragraph", "sentence"])
def test_the_check_stands_before_the_label(unit: str, adapter: str) -> None:
    found = {**NOTHING, "absent_names": ["NimbusRAG"]}

    def reply(request: Any) -> str:
        prompt = question(request)
        count = len(json.loads(field(prompt, "sentences") or "[]"))
        if count:
            return written(prompt, {"sentence_checks": [found] * count, "sentence_labels": ["Contradiction"] * count})
        return written(prompt, {"sentence_check": found, "sentence_label": "Contradiction"})

    lm = scripted(reply, adapter=adapter)
    program = TRACK1.build({"unit": unit, "checks": True})
    assert answer(program, claim("Supported", "Supported"), lm).sentence_labels == ["Contradiction"] * 2
    prompt = question(requests(lm)[0])
    assert prompt.rindex("sentence_check") < prompt.rindex("sentence_label")
    assert "absent_names" in str(requests(lm)[0].system)


def test_a_check_that_is_missing_is_asked_for_again() -> None:
    good = {"sentence_checks": [NOTHING] * 2, "sentence_labels": ["Supported"] * 2}
    short = {**good, "sentence_checks": [NOTHING]}
    asked = "Respond with a JSON object"
    lm = scripted([written(asked, short), written(asked, good)])
    program = TRACK1.build({"checks": True})
    assert answer(program, claim("Supported", "Supported"), lm).sentence_labels == ["Supported"] * 2
    assert "1 checks where 2 were asked for" in question(requests(lm)[1])
    with pytest.raises(UnusableAnswer):
        answer(program, claim("Supported", "Supported", number=2), scripted([written(asked, short)] * 2))


@pytest.mark.parametrize("unit", ["paragraph", "sentence"])
def test_labelled_demos_hold_their_checks_and_survive_the_artifact(unit: str, loopback: Loopback) -> None:
    program = TRACK1.build({"unit": unit, "checks": True})
    rows = program.demo_rows(program.prepare(claim("Scope Overgeneralization", "Supported")))
    program.judging.demos = [dict(row) for row in rows]
    for demo in program.judging.demos:
        demo.pop("gold", None)
        demo.pop("id", None)
    text = program_text(TRACK1, program)
    again = parse(text, "test").program
    assert program_text(TRACK1, again) == text
    loopback.reply = lambda asked: (500, "{}")
    lm = open_lm("openai/x", api_base=loopback.url)
    lm.lm.num_retries = 0
    with lm.context(), pytest.raises(LMError):
        again(**again.prepare(claim("Supported")).inputs())
    shown = json.dumps(loopback.asked[0].body["messages"])
    assert "wide_quantifiers" in shown
    assert "Not supplied" not in shown
