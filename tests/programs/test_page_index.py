"""An index of a claim's pages finds what passages in memory find, and questions find in it what no excerpt holds."""

import copy
import json
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dspy.lm15 import Request
from pydantic import TypeAdapter

from aisr.base.errors import UserError
from aisr.predict.judge import judge
from aisr.predict.prepare import attach_gallery, open_gallery
from aisr.programs import pictures
from aisr.programs.averitec import convert as averitec_data
from aisr.programs.averitec.convert import write
from aisr.programs.averitec.documents import SUFFIX, Indexed, build, held
from aisr.programs.averitec.program import Averitec
from aisr.programs.averitec.record import AveritecRecord, Document
from aisr.programs.averitec.task import AVERITEC
from aisr.programs.records import read
from aisr.programs.retrieval import bm25, matcher
from aisr.programs.text_store import TextStore
from support.averitec import claim, passages
from support.corpora import write as write_lines
from support.drawn import picture
from support.scripted import field, question, requests, scripted, written
from support.trap import Trap

DIGEST = "0123456789abcdef"
DOCUMENTS = [*(claim().documents or ()), *(claim(2).documents or ()), Document(url="https://empty.example/", text="")]


def index(folder: Path, documents: list[Document] = DOCUMENTS) -> Indexed:
    return build(documents, folder / f"{DIGEST}{SUFFIX}")


@pytest.mark.parametrize("retriever", ["bm25", "hybrid"])
def test_it_finds_the_passages_that_are_found_in_memory(retriever: str, tmp_path: Path) -> None:
    queries = [claim().claim, "Which town has a market?"]
    match = matcher(retriever)
    there, here = index(tmp_path).best(queries, 5, match), held(DOCUMENTS).best(queries, 5, match)
    assert next(iter(there)) == next(iter(here))
    assert dict(there) == held(DOCUMENTS).read(there)
    assert copy.deepcopy(index(tmp_path)).read(reversed(list(there))) == dict(reversed(there.items()))


def test_an_index_is_written_once_and_known_by_its_name(tmp_path: Path) -> None:
    file = index(tmp_path).file
    before = file.stat().st_mtime_ns
    assert index(tmp_path, []).file.stat().st_mtime_ns == before
    other = file.rename(tmp_path / f"{DIGEST[::-1]}{SUFFIX}")
    with pytest.raises(UserError, match="holds the pages of '0123456789abcdef'"):
        Indexed(other).best(["bridge"], 3, bm25)
    other.write_bytes(b"no database" * 100)
    with pytest.raises(UserError, match="no index of pages"):
        Indexed(other).best(["bridge"], 3, bm25)
    assert [file.name for file in tmp_path.iterdir()] == [other.name]


def edited(folder: Path, edit: str) -> Indexed:
    """An index that a stranger changed."""
    made = index(folder)
    with closing(sqlite3.connect(made.file)) as opened:
        opened.executescript(edit)
    return made


@pytest.mark.parametrize(
    "edit",
    [
        "update passage set text = x'ff00'",
        "update passage set text = null",
        "delete from passage",
        "update passage set text = cast(zeroblob(20000000) as text)",
        "drop table about; create view about as with recursive n(k) as "
        "(select 1 union all select k + 1 from n where k < 9000000) select max(k) as digest, 1 as passages from n",
    ],
)
def test_a_file_of_a_stranger_is_refused_and_never_without_end(edit: str, tmp_path: Path) -> None:
    key = next(iter(index(tmp_path).best(["bridge"], 1, bm25)))
    changed = edited(tmp_path, edit)
    with pytest.raises(UserError, match="no index of pages"):
        changed.read([key])
    if "null" in edit:
        for search in (lambda: changed.best(["bridge"], 3, bm25), lambda: changed.excerpts("bridge", 3)):
            with pytest.raises(UserError, match="no index of pages"):
                search()


@pytest.mark.parametrize("value", ["'x'", "null", "x'00'"])
def test_an_odd_number_of_passages_stops_no_search(value: str, tmp_path: Path) -> None:
    assert edited(tmp_path, f"update about set passages = {value}").best(["bridge"], 3, bm25)


def test_excerpts_around_a_passage_that_is_gone_are_of_the_others(tmp_path: Path) -> None:
    changed = edited(tmp_path, "delete from passage where text like '%bridge of town 1 %'")
    assert not any("bridge of town 1 " in one.text for one in changed.excerpts("bridge of town 1", 2))


FAR = "Divers inspected cracked pillars for nineteen days."


def converted(folder: Path) -> Path:
    """Records of a claim whose decisive page shares no word with it, so that no excerpt holds it."""
    rows = [{"url": page.url, "url2text": page.text} for page in claim().documents or ()]
    (folder / "store").mkdir()
    lines = [*rows, {"url": "https://far.example/", "url2text": [FAR]}]
    (folder / "store" / "0.json").write_text("".join(json.dumps(row) + "\n" for row in lines))
    (folder / "dev.json").write_text(json.dumps([claim().model_dump(exclude={"id", "claim_id", "documents"})]))
    out = folder / "data" / "dev.jsonl"
    write(folder / "dev.json", folder / "store", out, passages=1, index=True)
    return out


def asking(request: Request) -> str:
    """Asks what the claim does not say, and quotes the passage that answers it."""
    prompt = question(request)
    if shown := passages(prompt):
        key = next((key for key, text in shown.items() if text == FAR), next(iter(shown)))
        return written(prompt, {"pairs": [{"question": "Which?", "answer": shown[key], "source": key}]})
    if field(prompt, "evidence") is not None:
        return written(prompt, {"label": "Refuted"})
    return written(prompt, {"questions": ["How long did divers inspect cracked pillars?"]})


def test_questions_search_all_pages(tmp_path: Path, aisr: Callable[..., Any]) -> None:
    out = converted(tmp_path)
    (record,) = read(out, AveritecRecord, "averitec")
    assert FAR not in str(record.documents)
    assert record.store is not None
    program = attach_gallery(Averitec(), open_gallery(out.parent, tmp_path))
    lm = scripted(asking)
    answer = judge(AVERITEC, program, program.prepare(record), lm).answer
    assert answer is not None
    assert answer.label == "Refuted"
    assert next((pair.answer, pair.url) for pair in answer.evidence) == (FAR, "https://far.example/")
    first, second, third = map(question, requests(lm))
    assert "Mira Holt" in first
    assert "cracked pillars" in (field(second, "questions") or "")
    assert "1. Which? far.example: " in (field(third, "evidence") or "")
    alone = Averitec()
    without = judge(AVERITEC, alone, alone.prepare(record.model_copy(update={"store": None})), scripted(asking)).answer
    assert without is not None
    assert FAR not in str(without.evidence)
    assert aisr("check", out, "--task", "averitec").code == 0


def test_a_store_is_a_file_below_a_folder_and_named_where_it_is_missing(tmp_path: Path) -> None:
    for store in ("../0123456789abcdef.db", "pages/x.db"):
        row = claim().model_dump(mode="json") | {"store": store}
        with pytest.raises(UserError, match="store"):
            list(read(write_lines(tmp_path / "a.jsonl", [json.dumps(row)]), AveritecRecord, "averitec"))
    record = claim().model_copy(update={"store": f"pages/{DIGEST}{SUFFIX}"})
    with pytest.raises(UserError, match="--image-root"):
        Averitec().prepare(record)
    with pytest.raises(UserError, match="not found under"):
        attach_gallery(Averitec(), open_gallery(tmp_path, tmp_path)).prepare(record)


# --- Somebody who can write to the folder of a text store gets nothing run by that, nor text of another form believed


def read_picture(folder: Path) -> list[str]:
    picture(folder / "a.png")
    return pictures.Reader(folder / "kept")(str(folder / "a.png"))


def read_converted(folder: Path) -> list[str]:
    page, out = folder / "pages" / "0.json", folder / "out.jsonl"
    if not out.exists():
        (folder / "claims.json").write_text(json.dumps([{"claim": "Roofs are green."}]))
        page.parent.mkdir()
        page.write_text(json.dumps({"url": "https://roofs.example/", "url2text": ["Roofs are green, they say."]}))
    out.unlink(missing_ok=True)
    write(folder / "claims.json", page.parent, out)
    return [json.loads(line)["documents"][0]["text"] for line in out.read_text().splitlines()]


@pytest.mark.parametrize("read", [read_picture, read_converted])
@pytest.mark.parametrize("planting", ["a pickle", "another form", "no JSON"])
def test_a_planted_row_is_not_run_and_not_believed(
    planting: str, read: Callable[[Path], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "read_pieces", lambda file: [pictures.Piece("read", 0, 0, 1)])
    first = read(tmp_path)
    assert first
    mark = tmp_path / "mark"
    contents = {"a pickle": pickle.dumps(Trap(mark)), "another form": '{"0": 1}', "no JSON": "["}
    for file in tmp_path.rglob("kept.db"):
        with closing(sqlite3.connect(file)) as rows, rows:
            assert rows.execute("UPDATE kept SET text = ?", (contents[planting],)).rowcount
    assert read(tmp_path) == first
    assert not mark.exists()
    monkeypatch.setattr(pictures, "read_pieces", lambda file: pytest.fail("read again, though it was kept"))
    monkeypatch.setattr(averitec_data, "reduced", lambda *given: pytest.fail("read again, though it was kept"))
    assert read(tmp_path) == first


def test_a_damaged_store_is_told_of_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "kept.db").write_bytes(b"no database, " * 400)
    with pytest.raises(UserError, match="remove it"):
        TextStore(tmp_path, TypeAdapter(list[str]))
