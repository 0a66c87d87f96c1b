"""The organisers' claims and page stores become records that hold what is needed to judge them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.programs.averitec.convert import write
from aisr.programs.averitec.documents import pages
from aisr.programs.averitec.judge import AveritecJudge
from aisr.programs.averitec.record import AveritecRecord, Document
from aisr.programs.records import read
from support.averitec import claim

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
    assert "gold" not in out.read_text().replace('"gold"', "gold").split("documents")[1]


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
