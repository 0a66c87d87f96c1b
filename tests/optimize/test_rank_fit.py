"""The evidence ranker: what it learns, where it is kept, and how it travels with a program."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact.program import parse
from aisr.optimize.ranker_fit import TooFewClaims, fit_ranker, gold_claims, out_of_fold_prepare
from aisr.optimize.run import compile_program
from aisr.programs.ranker import EvidenceRanker
from aisr.programs.retrieval import bm25, built_in
from aisr.programs.track2 import TRACK2, Track2, Track2Record
from support.commands import Aisr
from support.corpora import S, claim, write
from support.drawn import picture
from support.loopback import HttpRequest, Loopback, judged
from support.plans import SILENT, plan
from support.scripted import question, scripted, written

ADDED = ["amber", "basalt", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "kelp", "lagoon", "moss"]
CAPTIONED = EvidenceRanker(weights={"caption of a figure or table": -2.0}, spread={"caption of a figure or table": 0.5})


def paper(number: int, **more: Any) -> dict[str, Any]:
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
        **more,
    }


def records(count: int) -> list[Track2Record]:
    return [Track2Record.model_validate(paper(k)) for k in range(count)]


def test_it_learns_that_captions_are_no_evidence() -> None:
    fitted = fit_ranker(gold_claims(TRACK2, records(14)), bm25, built_in, seed=0)
    assert fitted.kept
    assert (fitted.report["before"]["Hit@1"], fitted.report["after"]["Hit@1"]) == (0, 1)
    assert fitted.ranker.weights["caption of a figure or table"] < 0
    assert set(fitted.out_of_fold) == {tuple(record.paragraphs.values()) for record in records(14)}
    assert fit_ranker(gold_claims(TRACK2, records(14)), bm25, built_in, seed=0) == fitted
    with pytest.raises(TooFewClaims, match="9 groups that share no paper or claim; a ranker needs 10"):
        fit_ranker(gold_claims(TRACK2, records(9)), bm25, built_in, seed=0)


def test_records_of_train_are_shown_as_a_ranker_ranks_that_did_not_see_their_papers() -> None:
    first, second = records(2)
    program = Track2()
    plain = [program.prepare(record).ranking for record in (first, second)]
    program.ranker = EvidenceRanker(
        weights={"place in the paper, from 0 to 1": 1.0}, spread={"place in the paper, from 0 to 1": 1.0}
    )
    unseen = out_of_fold_prepare(TRACK2, program, {tuple(first.paragraphs.values()): CAPTIONED})
    assert unseen(first).ranking[:3] == ["P1", "P2", "P4"] != plain[0][:3]  # the caption is the last of five
    assert unseen(second).ranking == program.prepare(second).ranking == ["P5", "P4", "P3", "P2", "P1"]


def test_compiling_fits_it_on_train_and_says_so(tmp_path: Path) -> None:
    begin = {"train": range(14), "dev": range(20, 24), "test": range(30, 34)}
    data = {name: write(tmp_path / f"{name}.jsonl", map(paper, numbers)) for name, numbers in begin.items()}
    lm = scripted(lambda request: written(question(request), {"label": "Supported", "evidence_ids": []}))
    stages: list[str] = []
    chosen = replace(plan(tmp_path / "x"), task=TRACK2, label_weights=False, data=data)
    made = compile_program(chosen, lm, lm, tmp_path / "artifacts", replace(SILENT, stage=stages.append))
    assert made.manifest.ranker is not None
    assert made.manifest.ranker.kept
    assert any(stage.startswith("evidence ranker: kept, mean reciprocal rank") for stage in stages)
    assert "## Evidence ranker" in (made.folder / "PROMPT.md").read_text()
    assert made.manifest.scores["test"].parts["joint_at_3"] == 1.0
    assert parse((made.folder / "program.json").read_text(), "it").program.ranker == made.student.ranker


def test_a_ranker_is_fitted_and_scored_beside_the_others(aisr: Aisr, tmp_path: Path) -> None:
    """On its own file cross-validated; on another whose papers it partly knows, with a warning."""
    train, other = (write(tmp_path / f"{begin}.jsonl", map(paper, range(begin, begin + 14))) for begin in (0, 10))
    for file, warning in ((train, False), (other, True)):
        done = aisr("retrieval", file, "--fit", train, "--retrievers", "bm25", "--artifacts", tmp_path)
        assert done.code == 0, done.err
        assert "fitted on 14 claims with evidence, in 14 groups" in done.out
        assert re.search(r"bm25 +│ +0\.0 .*\n.*fitted +│ +100\.0", done.out)
        assert "gain of the fitted ranker" in done.out
        assert ("4 of 14 claims cite papers that it was fitted on" in done.out) == warning


# --- Pictures from the command line, against a server on the loopback address


def read_text(request: HttpRequest) -> str:
    """An answer to a prompt that shows pictures."""
    message = request.body["messages"][-1]
    pictures = [part for part in message["content"] if part["type"] == "image_url"]
    assert pictures
    message["content"] = "".join(part.get("text", "") for part in message["content"])
    return judged(request)


def test_a_program_that_sees_is_compiled_and_predicts_and_goes_on_with_the_same_pictures_only(
    loopback: Loopback, aisr: Aisr, tmp_path: Path
) -> None:
    loopback.reply = read_text
    data, copy, out = tmp_path / "data", tmp_path / "copy", tmp_path / "out.jsonl"
    for side in ("train", "dev", "test"):
        picture(data / "images" / f"{side}.png")
        rows = [claim([S], text=f"Claim {k} of {side}.", pictures=[f"images/{side}.png"]) for k in range(3)]
        write(data / f"{side}.jsonl", rows)
    lm = ["--lm", "openai/eyes", "--api-base", loopback.url, "--artifacts", tmp_path, "--task", "track1"]
    plan = ["-T", "evidence=image", "--candidates", "1", "--budget", "light"]
    compiling = ["compile", "--data", data, "--optimizer", "labeled", "--name", "eyes", "--no-track", *plan, *lm]
    program = tmp_path / "track1" / "eyes"
    predicting = ["predict", "--program", program, "--data", data / "test.jsonl", "--out", out, *lm]
    first = [aisr(*compiling), aisr(*predicting)]
    assert [one.code for one in first] == [0, 0], first
    saved = (program / "program.json").read_text()
    assert json.loads(saved)["options"]["evidence"] == "image"
    assert "base64" not in saved
    assert str(data) not in saved
    sent = len(loopback.requests)

    shutil.copytree(data / "images", copy / "images")
    same = [aisr(*compiling, "--image-root", copy), aisr(*predicting, "--image-root", copy)]
    assert [one.code for one in same] == [0, 0], same
    assert len(loopback.requests) == sent
    picture(copy / "images" / "test.png", color="purple")
    other = [aisr(*compiling, "--image-root", copy), aisr(*predicting, "--image-root", copy)]
    assert [one.code for one in other] == [2, 2], other
    assert all("was begun with another pictures: " in one.err for one in other)

    evaluating = ["evaluate", "--program", program, "--data", data / "test.jsonl", *lm]
    shutil.rmtree(data / "images")
    refused = aisr(*evaluating)
    assert refused.code == 2
    assert "give --image-root" in refused.err
    assert aisr(*evaluating, "--image-root", copy).code == 0
    (data / "images").mkdir()
    lost = f"images/test.png: not found under {data}"
    assert lost in aisr("check", data / "test.jsonl", "--task", "track1").out
    loopback.reply = judged
    done = aisr(*evaluating)
    assert re.search(rf"no picture: track1-\d+: {lost}", done.out)
    assert "their captions stand in for them" in done.out
