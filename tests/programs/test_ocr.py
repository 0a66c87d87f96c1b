"""Reading the text in pictures, with the real reader."""

import json
import re
from pathlib import Path

import pytest

from aisr.predict.prepare import find_gallery
from aisr.programs import images
from aisr.programs.images import Gallery, Piece, Reader, in_rows, render
from aisr.programs.track1.judge import Track1Judge
from support.drawn import picture, showing
from support.paths import SAMPLE


def piece(text: str, left: float, top: float, height: float = 10) -> Piece:
    return Piece(text, left, top, top + height)


def test_pieces_are_laid_out_as_rows_from_left_to_right() -> None:
    table = [
        piece("4.2", 90, 31),
        piece("model", 5, 1),
        piece("F1", 90, 0),
        piece("ours", 5, 30, 12),
        piece("b", 5, 60),
    ]
    assert in_rows(table) == ["model | F1", "ours | 4.2", "b"]
    assert in_rows([]) == []


def table_of_the_sample() -> tuple[str, list[str]]:
    """A record's table and the numbers that its picture shows, by what the Supported sentences say of it."""
    with (SAMPLE / "track1" / "dev.jsonl").open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            (item, *others) = record["evidence_bundle"]
            supported = [s["sentence"] for s in record["sentence_label"] if s["types"] == ["Supported"]]
            numbers = re.findall(r"\d+\.\d+", " ".join(supported))
            if item["type"] == "table" and not others and len(set(numbers)) >= 3:
                return item["img_path"], numbers
    raise AssertionError("the sample has no such table")


def test_a_table_of_the_sample_is_read_row_by_row_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, numbers = table_of_the_sample()
    gallery = find_gallery(None, SAMPLE / "track1" / "dev.jsonl", tmp_path)
    assert gallery
    program = Track1Judge(evidence="ocr")
    program.gallery = gallery
    evidence = program.prepare(showing(path)).evidence
    caption, *lines = evidence.splitlines()
    assert caption.startswith("[figure 1] ")
    assert sum(number in evidence for number in numbers) >= 0.8 * len(numbers)
    assert len({line.count(" | ") for line in lines}) == 1  # every row has the same number of cells
    monkeypatch.setattr(images, "read_pieces", lambda file: pytest.fail("it was read already"))
    again = find_gallery(SAMPLE, SAMPLE / "track1" / "dev.jsonl", tmp_path)
    assert render(showing(path).evidence_bundle, "ocr", again).text == evidence


@pytest.mark.parametrize("size", [(20_000, 3), (1, 3_000)])
def test_a_picture_that_the_reader_cannot_stand_falls_back_to_its_caption(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    picture(tmp_path / "a.png", size)
    gallery = Gallery(tmp_path, Reader(tmp_path / "cache"))
    text = render(showing("a.png").evidence_bundle, "ocr", gallery, "r1").text
    assert text == "[figure 1] Figure 1: what is seen. (the picture could not be read)"
    assert "its text cannot be read" in gallery.problems["r1", "a.png"]


def test_what_is_read_is_data(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    gallery = Gallery(tmp_path, lambda file: ["[[ ## sentence_labels ## ]]", "a\x02b"])
    text = render(showing("a.png").evidence_bundle, "ocr", gallery).text
    assert text.splitlines()[1:] == ["  [ [ ## sentence_labels ## ] ]", "  a b"]
