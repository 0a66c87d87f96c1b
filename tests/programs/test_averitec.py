"""AVeriTeC walks the way of every task: check, split, compile, evaluate, predict, report, submit."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aisr.base.errors import UserError
from aisr.metrics.averitec import score_official
from aisr.metrics.judgements import Gold, raised, tally
from aisr.metrics.scores import value
from aisr.programs.averitec.convert import write
from aisr.programs.averitec.documents import pages
from aisr.programs.averitec.judge import AveritecJudge
from aisr.programs.averitec.record import AveritecRecord, Document, FactCheck, Pair
from aisr.programs.averitec.task import AVERITEC
from aisr.programs.records import read
from aisr.tracking.store import open_store
from support.averitec import claim, quoting
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback
from support.paths import ROOT
from support.walks import replying, walk

Aisr = Callable[..., Any]
SAMPLE = ROOT / "data" / "sample" / "averitec"


def reader(request: HttpRequest) -> str:
    """Quotes the passages. Says Supported to all until demos or a better instruction show it that most are false."""
    return quoting(request.question, "Refuted" if request.has_demos else "Supported")


server = replying(reader)


def test_the_walk(server: Loopback, artifacts: Path, aisr: Aisr, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row for side in ("train", "dev", "test") for row in read_rows(SAMPLE / f"{side}.jsonl")]
    rows = [{**row, "id": f"c{k}"} for k, row in enumerate(rows)]
    hidden = ("label", "questions", "claim_types", "justification")
    walked = walk(server, artifacts, aisr, "averitec", rows, hidden, "--optimizer", "labeled", "-T", "questions=3")
    scores = walked.manifest["scores"]
    assert walked.manifest["options"]["questions"] == 3
    assert walked.manifest["champion"].startswith("labeled")
    # It quotes the passages and says the commonest label: no better than what needs no LM.
    assert scores["test"]["accuracy"] == scores["no_lm_test"]["accuracy"]
    state = json.loads((walked.folder / "program.json").read_text())["state"]
    assert {name: len(part["demos"]) for name, part in state.items()} == {"ask": 2, "find": 2, "judge": 2}
    for words in ("label accuracy", "without any LM", "words a string"):
        assert words in walked.output["evaluate"]

    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", server.url)
    served = open_store(artifacts).pyfunc.load_model("models:/aisr-averitec@champion").predict(read_rows(walked.inputs))
    predicted = read_rows(walked.predictions)
    assert served == [{key: value for key, value in row.items() if key != "probabilities"} for row in predicted]
    (artifacts.parent / "gold.json").write_text(json.dumps(walked.gold))
    official = score_official(artifacts.parent / "gold.json", walked.packed)
    assert official.averitec["0.25"] == pytest.approx(scores["test"]["score"])
    ranked = aisr("retrieval", artifacts.parent / "split" / "test.jsonl", "--task", "averitec", "--retrievers", "bm25")
    assert ranked.code == 0, ranked.err


def test_a_submission_serves_both_forms_and_stands_in_the_order_of_claim_numbers(tmp_path: Path) -> None:
    pair = {"question": "Q?", "answer": "A.", "url": "https://a.example"}

    def submitted(*numbers: int | None) -> list[dict[str, Any]]:
        row = {"label": "Refuted", "evidence": [{**pair, "filled": True}]}
        lines = [{"id": f"c{k}", "claim_id": n, "claim": f"Claim {k}.", **row} for k, n in enumerate(numbers)]
        AVERITEC.submission.write(lines, tmp_path / "s.json")
        rows: list[dict[str, Any]] = json.loads((tmp_path / "s.json").read_text())
        (tmp_path / "s.json").unlink()
        return rows

    first, *rest = submitted(2, 0, 1)
    labels = {"label": "Refuted", "pred_label": "Refuted"}
    assert first == {"id": "c1", "claim_id": 0, "claim": "Claim 1.", **labels, "evidence": [pair]}
    assert [row["claim_id"] for row in rest] == [1, 2]
    assert [row["claim_id"] for row in submitted(None, None)] == [0, 1]
    for gaps in ((0, 2), (0, 0), (0, None)):
        with pytest.raises(UserError, match="match by position"):
            submitted(*gaps)
        assert not (tmp_path / "s.json").exists()


def test_a_decision_layer_is_fitted_for_the_score_of_the_task() -> None:
    labelled = AVERITEC.labelled
    records = [claim(1, "Refuted"), claim(2, "Supported"), claim(3, "Refuted")]
    gold = [record.gold for record in records if record.gold]
    good = [(Pair(result.questions[0].question, result.questions[0].answers[0].answer),) for result in gold]
    answers = [FactCheck("Refuted", good[0]), FactCheck("Refuted", good[1]), FactCheck("Refuted", ())]
    right = np.array([labelled.answer_right(one, answer) for one, answer in zip(gold, answers, strict=True)])
    assert right.tolist() == [True, True, False]  # whatever the label
    rows = Gold.of([labelled.gold_labels(one) for one in gold], labelled.labels, labelled.f1_share)
    labels = np.array([labelled.labels.index(answer.label) for answer in answers])
    assert AVERITEC.score(gold, answers).report().score == pytest.approx(1 / 3)
    assert value(tally(rows, labels, right, labelled.labels)) == pytest.approx(1 / 3)
    moved = np.ones((1, 3), dtype=np.bool_)
    assert raised(rows, labels, labelled.labels.index("Supported"), moved, right, 0.0) == pytest.approx([1 / 3])


# --- The organisers' claims and page stores become records that hold what is needed to judge them

FILLER = " ".join(f"Number {k} of the register is about roofs and gardens in general." for k in range(60))


def store(folder: Path, numbers: int) -> Path:
    """A page store: for each claim a page that answers it amid others, in the form that the organisers ship."""
    folder.mkdir()
    for k in range(numbers):
        answer = (claim(k).questions or [])[0].answers[0].answer
        rows = [
            {"claim_id": str(k), "type": "web", "url": "https://roofs.example/", "url2text": [FILLER]},
            {"claim_id": str(k), "type": "gold", "url": "https://news.example/", "url2text": [FILLER, answer, FILLER]},
        ]
        (folder / f"{k}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def dev(file: Path, numbers: int) -> Path:
    """Claims as the organisers' dev.json has them."""
    rows = [claim(k).model_dump(exclude={"id", "claim_id", "documents"}) for k in range(numbers)]
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def test_claims_get_the_best_excerpts_of_their_pages(tmp_path: Path) -> None:
    out = tmp_path / "dev.jsonl"
    words = [dev(tmp_path / "dev.json", 3), "--documents", store(tmp_path / "pages", 3), "--out", out, "--passages", 2]
    done = subprocess.run(
        [sys.executable, "-m", "aisr.programs.averitec.convert", *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    records = list(read(out, AveritecRecord, "averitec"))
    assert [record.claim_id for record in records] == [0, 1, 2]
    for k, record in enumerate(records):
        text = " ".join(page.text for page in record.documents or ())
        assert f"closed for {k} weeks" in text
        assert len(text) < len(FILLER)
        assert f"closed for {k} weeks" in AveritecJudge().prepare(record).passages
    assert "gold" not in out.read_text().split("documents")[1]


def test_a_conversion_that_stopped_goes_on_and_reads_changed_pages_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder, read_files = dev(tmp_path / "dev.json", 3), store(tmp_path / "pages", 3), list[str]()

    def noted(pages_of: Path) -> Iterator[Document]:
        read_files.append(pages_of.name)
        return pages(pages_of)

    monkeypatch.setattr("aisr.programs.averitec.convert.pages", noted)
    last = (folder / "2.json").read_bytes()
    (folder / "2.json").write_text("torn")
    with pytest.raises(UserError, match=r"2\.json:1"):
        write(file, folder, tmp_path / "dev.jsonl")
    (folder / "2.json").write_bytes(last)
    assert write(file, folder, tmp_path / "dev.jsonl") == 3
    assert read_files == ["0.json", "1.json", "2.json", "2.json"]
    (folder / "1.json").write_bytes(last)
    write(file, folder, tmp_path / "again.jsonl")
    assert read_files[4:] == ["1.json"]
    rows = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert rows[1]["documents"] == rows[2]["documents"]


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda file, pages: file.write_text("{}"), "claim: missing"),
        (lambda file, pages: (pages / "1.json").unlink(), "no 1.json in there"),
        (lambda file, pages: (pages / "1.json").write_text('{"url": 3}\n'), r"1.json:1: url"),
    ],
)
def test_bad_input_writes_nothing(break_it: Any, message: str, tmp_path: Path) -> None:
    file, pages = dev(tmp_path / "dev.json", 2), store(tmp_path / "pages", 2)
    break_it(file, pages)
    with pytest.raises(UserError, match=message):
        write(file, pages, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
