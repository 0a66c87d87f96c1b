"""The organisers' claims and page stores become records that hold what is needed to judge them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aisr.programs.errors import UserError
from aisr.programs.judges.averitec import AveritecJudge
from aisr.programs.reading.lines import read
from aisr.programs.records.averitec import AveritecRecord, Document
from aisr.programs.retrieval.documents import pages, pieces, reduced
from aisr.tasks.averitec_data import write
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
        [sys.executable, "-m", "aisr.tasks.averitec_data", *map(str, words)], capture_output=True, text=True
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

    monkeypatch.setattr("aisr.tasks.averitec_data.pages", noted)
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


def test_a_passage_brings_its_neighbours_of_the_same_page() -> None:
    after = FILLER.replace("register", "cadastre")
    page = Document(url="https://a.example", text=f"{FILLER} The bridge closed for a week in spring. {after}")
    other = Document(url="https://b.example", text="The bridge reopened.")
    (found,) = reduced("The bridge closed for a week", iter([page]), 1)
    places = [k for k, text in enumerate(pieces(page.text)) if text in found.text]
    assert len(places) in (2, 3)
    assert places == list(range(places[0], places[0] + len(places)))
    assert [one.url for one in reduced("bridge", iter([page, other]), 2)] == [page.url, other.url]
    assert reduced("bridge", iter([]), 5) == []


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


def test_what_no_text_can_hold_breaks_nothing(tmp_path: Path) -> None:
    """Half a surrogate pair in claim and page, a claim with a sign that some take for the end of a line, and a word
    without an end."""
    claims = [{"claim": "Roofs\u2028are \ud800 green."}, {"claim": "Roofs are red."}]
    said = "\n".join(json.dumps(one, ensure_ascii=False) for one in claims)
    (tmp_path / "claims.jsonl").write_bytes(said.replace("\ud800", "\\ud800").encode())
    (tmp_path / "pages").mkdir()
    page = {"url": "u", "url2text": ["Roofs are \ud800 green. " + "x" * 3_000_000]}
    for number in range(2):
        (tmp_path / "pages" / f"{number}.json").write_text(json.dumps(page))
    out = tmp_path / "out.jsonl"
    assert write(tmp_path / "claims.jsonl", tmp_path / "pages", out, 3) == 2
    records = list(read(out, AveritecRecord, "averitec"))
    assert len(records) == 2
    assert "green" in str(records[0].documents)
    assert max(len(text) for text in pieces("x" * 3_000_000)) <= 80 * 501
