"""Somebody who can write to the folder of a text store gets nothing run by that, nor text of another form believed."""

import json
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from aisr.base.errors import UserError
from aisr.programs import images
from aisr.programs.averitec import convert as averitec_data
from aisr.programs.text_store import TextStore
from support.drawn import picture
from support.trap import Trap


def planted(folder: Path, value: object) -> None:
    """Every row below a folder made one of a value."""
    met = 0
    for file in folder.rglob("kept.db"):
        with closing(sqlite3.connect(file)) as rows, rows:
            met += rows.execute("UPDATE kept SET text = ?", (value,)).rowcount
    assert met


def read_picture(folder: Path) -> list[str]:
    return images.Reader(folder / "kept")(str(folder / "a.png"))


def converted(folder: Path) -> list[str]:
    out = folder / "out.jsonl"
    out.unlink(missing_ok=True)
    averitec_data.write(folder / "claims.json", folder / "pages", out)
    return [json.loads(line)["documents"][0]["text"] for line in out.read_text().splitlines()]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a picture, a claim and its pages; their texts are cached."""
    picture(tmp_path / "a.png")
    (tmp_path / "claims.json").write_text(json.dumps([{"claim": "Roofs are green."}]))
    (tmp_path / "pages").mkdir()
    page = {"url": "https://roofs.example/", "url2text": ["Roofs are green, the register of roofs says."]}
    (tmp_path / "pages" / "0.json").write_text(json.dumps(page))
    return tmp_path


@pytest.mark.parametrize("read", [read_picture, converted])
@pytest.mark.parametrize("planting", ["a pickle", "another form", "no JSON"])
def test_a_planted_row_is_not_run_and_not_believed(
    planting: str, read: Callable[[Path], list[str]], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "read_pieces", lambda file: [images.Piece("read", 0, 0, 1)])
    first = read(kept)
    assert first
    mark = kept / "mark"
    contents = {"a pickle": pickle.dumps(Trap(mark)), "another form": '{"0": 1}', "no JSON": "["}
    planted(kept, contents[planting])
    assert read(kept) == first
    assert not mark.exists()
    monkeypatch.setattr(images, "read_pieces", lambda file: pytest.fail("read again, though it was kept"))
    monkeypatch.setattr(averitec_data, "reduced", lambda *given: pytest.fail("read again, though it was kept"))
    assert read(kept) == first


def test_a_damaged_store_is_told_of_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "kept.db").write_bytes(b"no database, " * 400)
    with pytest.raises(UserError, match="remove it"):
        TextStore(tmp_path, TypeAdapter(list[str]))
