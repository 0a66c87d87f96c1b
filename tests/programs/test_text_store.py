"""Text that is read in pictures is kept, and a store that somebody changed is neither run nor believed."""

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from aisr.base.errors import UserError
from aisr.programs import pictures
from aisr.programs.text_store import TextStore
from support.drawn import picture
from support.trap import Trap


def text_in_picture(folder: Path) -> list[str]:
    picture(folder / "a.png")
    return pictures.Reader(folder / "kept")(str(folder / "a.png"))


@pytest.mark.parametrize("planting", ["a pickle", "another form", "no JSON"])
def test_a_planted_row_is_not_run_and_not_believed(
    planting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "read_pieces", lambda file: [pictures.Piece("read", 0, 0, 1)])
    first = text_in_picture(tmp_path)
    assert first
    mark = tmp_path / "mark"
    contents = {"a pickle": pickle.dumps(Trap(mark)), "another form": '{"0": 1}', "no JSON": "["}
    for file in tmp_path.rglob("kept.db"):
        with closing(sqlite3.connect(file)) as rows, rows:
            assert rows.execute("UPDATE kept SET text = ?", (contents[planting],)).rowcount
    assert text_in_picture(tmp_path) == first
    assert not mark.exists()
    monkeypatch.setattr(pictures, "read_pieces", lambda file: pytest.fail("read again, though it was kept"))
    assert text_in_picture(tmp_path) == first


def test_a_damaged_store_is_told_of_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "kept.db").write_bytes(b"no database, " * 400)
    with pytest.raises(UserError, match="remove it"):
        TextStore(tmp_path, TypeAdapter(list[str]))
