"""Two sections that say the same with another number are found, and nothing that may rightly differ."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.arithmetic.facts import Label
from aisr.arithmetic.hints import by_sentence
from aisr.arithmetic.recompute import recomputed
from aisr.arithmetic.told_twice import MOST
from aisr.paper.draft import Draft, Paragraph, Place, Sentence

BODY = "Wren reaches an F1 of 72.4 on the windy heath"


def paper(*sections: tuple[str, str]) -> Draft:
    paragraphs = [
        Paragraph((Sentence(f"{said}.", Place("main.tex", line)),), (heading,) if heading else ())
        for line, (heading, said) in enumerate(sections, start=1)
    ]
    return Draft(Path("/paper"), "Wrens", tuple(paragraphs), {}, {})


def found(*sections: tuple[str, str]) -> list[tuple[int | None, str]]:
    facts = recomputed(paper(*sections))
    return [(one.paragraph, one.fact.computed) for one in facts if one.fact.label is Label.PLACES]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (BODY, BODY.replace("72.4", "74.2")),
        (BODY, "We find that, overall, Wren reached an F1 of 74.2 on the windy heath"),
        ("Here we recorded 19,539 calls of migrating birds", "We recorded 19,359 calls of migrating birds"),
        ("Wren misses 12 % of all calls after rain", "Wren misses 21 % of all calls after rain"),
        ("Wren and Lark reach an F1 of 72.4 and 66.1 at night", "Wren and Lark reach an F1 of 72.4 and 61.6 at night"),
    ],
)
def test_a_number_that_another_section_has_otherwise(here: str, there: str) -> None:
    ((place, why),) = found(("", there), ("Results", here))
    assert place == 0
    assert why.startswith("Results (main.tex:2) has ")
    assert [place for place, _ in found(("", here), ("Results", here), ("4 Conclusion", there))] == [2]
    assert [place for place, _ in found(("Abstract", here), ("4 Conclusion", there))] == [1]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (BODY, BODY),
        (BODY, BODY.replace("72.4", "72")),  # rounded
        (BODY, BODY.replace("72.4", "74.2").replace("Wren", "Lark")),
        (BODY, BODY.replace("72.4", "74.2").replace("F1", "recall")),
        (BODY, BODY.replace("72.4", "74.2").replace("windy", "calm")),
        (BODY, BODY.replace("of 72.4", "of more than 70")),
        ("Wren beats Lark at night by 72.4 points", "Lark beats Wren at night by 74.2 points"),
        ("Wren saves 72.4 minutes of every night", "Wren saves 74.2 % of every night"),
        ("In experiment 1 the detectors hear calls at night", "In experiment 2 the detectors hear calls at night"),
        ("In 2019 the detectors heard many calls at night", "In 2020 the detectors heard many calls at night"),
        ("Section 3 says what the detectors hear at night", "Section 4 says what the detectors hear at night"),
        ("With a threshold of 0.5 Wren hears most calls", "With a threshold of 0.7 Wren hears most calls"),
        ("Wren and Lark reach an F1 of 72.4 and 66.1 at night", "Wren and Lark reach an F1 of 70.4 and 61.6 at night"),
        ("It is 3.5", "It is 5.3"),
    ],
)
def test_what_may_rightly_differ(here: str, there: str) -> None:
    assert found(("", there), ("Results", here), ("Conclusion", there)) == []


def test_sections_that_report_differ_by_right_and_lists_are_none() -> None:
    other = BODY.replace("72.4", "74.2")
    assert found(("Results at Bog", BODY), ("Results at Heath", other)) == []
    assert found(("Conclusion", BODY), ("Conclusion", other)) == []
    assert found(("", other), ("Results", BODY), ("Results", other)) == []  # one of the two is the same
    assert found(*(("Results", BODY) for _ in range(MOST)), ("Conclusion", other)) == []


def test_neither_place_is_told_to_a_model_as_proof() -> None:
    assert by_sentence(recomputed(paper(("", BODY.replace("72.4", "74.2")), ("Results", BODY)))) == {}


def test_it_stands_in_every_view_and_fails_a_check(aisr: Callable[..., Any], tmp_path: Path) -> None:
    file, out = tmp_path / "paper.md", tmp_path / "out"
    planted = BODY.replace("72.4", "74.2")
    file.write_text(f"# Wrens\n\n## Abstract\n\n{planted}.\n\n## Results\n\nIt was dark. {BODY}.\n", encoding="utf-8")
    result = aisr("check-paper", file, "--lm", "none", "--out", out, "--fail-on", "arithmetic", "--root", tmp_path)
    assert result.code != 0
    for name in ("paper.html", "paper.jsonl", "paper.sarif"):
        assert "Two places disagree" in (out / name).read_text(encoding="utf-8")
        assert "paper.md:9" in (out / name).read_text(encoding="utf-8")
    assert "Two places disagree" in result.out
