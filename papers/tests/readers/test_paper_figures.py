"""Figures are seen: drawings become pictures of points, those of a PDF are cut out of its pages, the rest is listed."""

from pathlib import Path

import pytest
from PIL import Image

from aisr_papers.draft import Draft
from aisr_papers.readers import figures, pdf
from aisr_papers.readers.figures import LIMITS, draw_pictures
from aisr_papers.readers.latex import read
from aisr_papers.readers.pdf_process import Limits
from paper_support.pdfs import MIB, column, forms_in_forms, picture, text, write

RED = "1 0 0 rg 0 0 306 792 re f\n"


def figure(*names: str) -> str:
    pictures = "".join(rf"\includegraphics{{{name}}}" for name in names)
    return rf"\begin{{figure}}{pictures}\caption{{A plot.}}\end{{figure}}"


def drawn(folder: Path, *floats: str, limits: Limits = LIMITS) -> Draft:
    (folder / "main.tex").write_text("See Figure 1. It falls by 3 points.\n\n" + "\n".join(floats), "utf-8")
    return draw_pictures(read(folder / "main.tex"), folder / "kept", limits)


def colour(draft: Draft, path: str, at: float = 0.25) -> tuple[int, ...]:
    with Image.open(draft.drawings[path]) as image:
        pixel = image.convert("RGB").getpixel((int(at * image.width), image.height // 2))
    assert isinstance(pixel, tuple)
    return pixel


def test_pdf_and_what_was_made_of_an_eps_are_drawn_as_their_reader_sees_them(tmp_path: Path) -> None:
    (tmp_path / "a.eps").write_text("%!PS", "utf-8")
    write(tmp_path / "a-eps-converted-to.pdf", RED)
    write(tmp_path / "plot.pdf", RED)
    draft = drawn(tmp_path, figure("plot"), figure("a.eps"))
    assert draft.unread == ()
    assert list(draft.drawings) == ["plot.pdf", "a-eps-converted-to.pdf"]
    assert colour(draft, "plot.pdf") == (255, 0, 0)
    assert colour(draft, "plot.pdf", 0.75) == (255, 255, 255)
    with Image.open(draft.drawings["plot.pdf"]) as image:
        assert 900_000 < image.width * image.height < 1_300_000


NOT_DRAWN = {
    "b.eps": "EPS is not drawn; save it as PDF or PNG beside it under the same name",
    "broken.pdf": "not a PDF, or a broken one; expected a PDF that a viewer opens",
    "house.pdf": "a page of",
    "deep.pdf": "",  # too much time or memory, whatever it meets first
    "wind.svg": "SVG is not drawn; save it as PDF or PNG beside it under the same name",
}


def test_a_figure_that_cannot_be_drawn_is_listed_and_costs_that_alone(tmp_path: Path) -> None:
    for name in ("first", "house", "last"):
        write(tmp_path / f"{name}.pdf", RED, boxes="/UserUnit 1 /CropBox [0 0 612 792]")
    house = (tmp_path / "house.pdf").read_bytes().replace(b"[0 0 612 792]", b"[0 0 90000 90000]")
    (tmp_path / "house.pdf").write_bytes(house)
    (tmp_path / "b.eps").write_text("%!PS", "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"\xff" * 999)
    deep, forms = forms_in_forms()
    write(tmp_path / "deep.pdf", deep, more=forms)
    (tmp_path / "wind.svg").write_text("<svg/>", "utf-8")
    limits = LIMITS._replace(seconds=1.0, memory=600 * MIB)
    draft = drawn(tmp_path, *map(figure, ("first", *NOT_DRAWN, "last")), limits=limits)
    assert list(draft.drawings) == ["first.pdf", "last.pdf"]
    reasons = dict(one.reason.split(": not drawn: ") for one in draft.unread)
    assert {name: reasons[name][: len(why)] for name, why in NOT_DRAWN.items()} == NOT_DRAWN
    assert reasons["deep.pdf"] in ("takes more than 1 seconds of a core", "broken, or takes over 600 MiB of memory")


def test_an_svg_is_replaced_by_the_picture_beside_it(tmp_path: Path) -> None:
    (tmp_path / "wind.svg").write_text("<svg/>", "utf-8")
    Image.new("RGB", (4, 4)).save(tmp_path / "wind.png")
    (one,) = drawn(tmp_path, figure("wind.svg")).floats.values()
    assert [each.file.name for each in one.pictures] == ["wind.png"]


def test_pictures_beyond_the_cap_and_the_time_are_listed_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "last"):
        write(tmp_path / f"{name}.pdf", RED)
    monkeypatch.setattr(figures, "MOST", 1)
    draft = drawn(tmp_path, figure("first"), figure("last"))
    assert [one.reason for one in draft.unread] == ["last.pdf: not drawn: more than 1 pictures"]
    monkeypatch.setattr(figures, "SECONDS", -1.0)
    monkeypatch.setattr(figures, "digest_file", lambda file: pytest.fail(f"{file} is read after the end"))
    draft = drawn(tmp_path, figure("first"))
    assert ["the figures of this paper take more than" in one.reason for one in draft.unread] == [True]


@pytest.fixture
def set_paper(tmp_path: Path) -> Path:
    """A page with a figure between its text."""
    page = text(72, 740, "A Paper", size=18) + text(72, 710, "1 Results", size=12, font="F2")
    page += column(72, 690, ["Wrens sing at night, as Figure 1 shows, and there are no others that do so at all."])
    page += picture(100, 500, 200, 120) + text(150, 480, "(a) Bog, at night and in the rain, all wrens.", size=8)
    page += text(72, 450, "Figure 1: Wrens by night.", size=9)
    page += column(72, 400, ["It is quiet in the day, and there are none that sing then, as far as we could hear."])
    return write(tmp_path / "main.pdf", page)


def test_the_figure_of_a_pdf_is_what_stands_over_its_caption(set_paper: Path) -> None:
    draft = draw_pictures(pdf.read(set_paper), set_paper.parent / "kept")
    (one,) = draft.floats["Figure 1"].pictures
    assert one.page == 1
    assert one.box is not None
    left, top, right, bottom = one.box
    assert 90 <= left <= 100 <= 300 <= right <= 340
    assert 160 <= top <= 172
    assert 310 <= bottom <= 345  # with the words below its part, without the caption
    assert colour(draft, one.path(draft.folder))[0] == 128
