"""The evidence ranker: what it learns, where it is kept, and how it travels with a program."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aisr.artifact.program import parse
from aisr.optimize.ranker_fit import TooFewClaims, fit_ranker, out_of_fold_prepare
from aisr.optimize.run import compile_program
from aisr.programs.ranker import EvidenceRanker
from aisr.programs.retrieval import bm25
from aisr.programs.track2 import TRACK2, Track2, Track2Record
from support.corpora import write
from support.runs import SILENT, plan
from support.scripted import question, scripted, written

ADDED = ["amber", "basalt", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "kelp", "lagoon", "moss"]
CAPTIONED = EvidenceRanker(weights={"caption of a figure or table": -2.0}, spread={"caption of a figure or table": 0.5})


def paper(number: int) -> dict[str, Any]:
    """A claim whose words are best matched by a caption, while a paragraph of prose is the evidence."""
    thing, other = f"{ADDED[number % 12]}{number}", f"{ADDED[(number + 5) % 12]}{number}"
    prose = "It was seen in all of the places that were looked at, and in every season of the two years. " * 2
    texts = [
        f"On {other}: " + ", ".join(f"note{number}of{k}" for k in range(40)),  # or they would be one paper, nearly
        f"{prose} About {other} little is known.",
        f"Figure {number} {thing} makes {other} grow, {thing} and {other}.",
        f"{prose} {thing.title()} lets {other} rise.",
        f"{prose} Nothing else was counted.",
    ]
    return {
        "id": f"c{number}",
        "claim_text": f"{thing} makes {other} grow.",
        "cited_paper_full_text": [{f"P{k}": text} for k, text in enumerate(texts, start=1)],
        "label": "Supported",
        "evidence_para_ids": ["P4"],
    }


def records(count: int) -> list[Track2Record]:
    return [Track2Record.model_validate(paper(k)) for k in range(count)]


def test_fewer_than_ten_groups_of_claims_are_too_few() -> None:
    with pytest.raises(TooFewClaims, match="9 groups that share no paper or claim; a ranker needs 10"):
        fit_ranker(TRACK2, records(9), [{str(k)} for k in range(9)], bm25, seed=0)


def test_records_of_train_are_shown_as_a_ranker_ranks_that_did_not_see_their_papers() -> None:
    first, second = records(2)
    program = Track2()
    plain = [program.prepare(record).example.ranking for record in (first, second)]
    program.ranker = EvidenceRanker(
        weights={"place in the paper, from 0 to 1": 1.0}, spread={"place in the paper, from 0 to 1": 1.0}
    )
    unseen = out_of_fold_prepare(TRACK2, program, {tuple(first.paragraphs.values()): CAPTIONED})
    assert unseen(first).example.ranking[:3] == ["P1", "P2", "P4"] != plain[0][:3]  # the caption is the last of five
    assert unseen(second).example.ranking == program.prepare(second).example.ranking == ["P5", "P4", "P3", "P2", "P1"]


def test_a_compile_learns_from_train_that_captions_are_no_evidence_and_says_so(tmp_path: Path) -> None:
    begin = {"train": range(14), "dev": range(20, 24), "test": range(30, 34)}
    data = {name: write(tmp_path / f"{name}.jsonl", map(paper, numbers)) for name, numbers in begin.items()}
    lm = scripted(lambda request: written(question(request), {"label": "Supported", "evidence_ids": []}))
    stages: list[str] = []
    chosen = replace(plan(tmp_path / "x"), task=TRACK2, data=data)
    made = compile_program(chosen, lm, lm, tmp_path / "artifacts", replace(SILENT, stage=stages.append))
    report, ranker = made.manifest.ranker or {}, made.student.ranker
    assert report["kept"]
    assert (report["before"]["Hit@1"], report["after"]["Hit@1"]) == (0, 1)
    assert any(stage.startswith("evidence ranker: kept, mean reciprocal rank") for stage in stages)
    assert "## Evidence ranker" in (made.folder / "PROMPT.md").read_text()
    assert made.manifest.scores["test"].model_dump()["joint_at_3"] == 1.0
    assert ranker is not None
    assert ranker.weights["caption of a figure or table"] < 0
    assert parse((made.folder / "program.json").read_text(), "it").program.ranker == ranker


@pytest.mark.parametrize("name", ["a\n## Instruction", "a" * 100])
def test_the_name_of_a_feature_is_a_line(name: str) -> None:
    """It stands in PROMPT.md, and may come from a stranger."""
    with pytest.raises(ValidationError, match="should match pattern"):
        EvidenceRanker(weights={name: 1.0}, spread={name: 1.0})
