"""Figures are seen: drawings become pictures of points, those of a PDF are cut out of its pages, the rest is listed."""

from pathlib import Path

import pytest
from PIL import Image

from aisr.paper.check.checks import collect_checks
from aisr.paper.draft import Draft
from aisr.paper.readers import pdf
from aisr.paper.readers.figures import LIMITS, Limits, draw_figures, draw_pictures
from aisr.paper.readers.latex import read
from support.pdfs import MIB, column, first_free, forms_in_forms, picture, text, write

RED = "1 0 0 rg 0 0 306 792 re f\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="9" height="6">{}</svg>'
PATCH = '<rect width="9" height="6" fill="#00f"/>'


def figure(*names: str) -> str:
    pictures = "".join(rf"\includegraphics{{{name}}}" for name in names)
    return rf"\begin{{figure}}{pictures}\caption{{A plot.}}\end{{figure}}"


def drawn(folder: Path, *floats: str, limits: Limits = LIMITS) -> Draft:
    (folder / "main.tex").write_text("See Figure 1. It falls by 3 points.\n\n" + "\n".join(floats), "utf-8")
    return draw_pictures(read(folder / "main.tex"), folder / "kept", limits)


def notes(draft: Draft) -> list[str]:
    return [f"{one.place}: {one.reason}" for one in draft.unread]


def colour(draft: Draft, path: str, at: float = 0.25) -> tuple[int, ...]:
    with Image.open(draft.drawings[path]) as image:
        pixel = image.convert("RGB").getpixel((int(at * image.width), image.height // 2))
    assert isinstance(pixel, tuple)
    return pixel


def test_a_pdf_is_drawn_as_its_reader_sees_it(tmp_path: Path) -> None:
    write(tmp_path / "plot.pdf", RED)
    draft = drawn(tmp_path, figure("plot"))
    assert draft.unread == ()
    assert colour(draft, "plot.pdf") == (255, 0, 0)
    assert colour(draft, "plot.pdf", 0.75) == (255, 255, 255)
    with Image.open(draft.drawings["plot.pdf"]) as image:
        assert 900_000 < image.width * image.height < 1_300_000


def test_an_svg_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    script = '<script>alert(1)</script><text x="1" y="5">Wind</text>'
    (tmp_path / "plot.svg").write_text(SVG.format(PATCH + script), "utf-8")
    draft = drawn(tmp_path, figure("plot"))
    assert draft.unread == ()
    assert colour(draft, "plot.svg", 0.9) == (0, 0, 255)


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ('<image x:href="secret.png" width="9" height="6"/>', "it names another file"),
        ('<feImage x:href="http://example.org/a.png"/>', "it names another file"),
        ("<g>" * 300 + "</g>" * 300, "elements within more than"),
        ("<g>", "no SVG that can be read"),
    ],
)
def test_an_svg_that_reaches_out_is_listed(tmp_path: Path, inside: str, why: str) -> None:
    pytest.importorskip("resvg_py")
    Image.new("RGB", (4, 4)).save(tmp_path / "secret.png")
    (tmp_path / "plot.svg").write_text(SVG.format(inside), "utf-8")
    draft = drawn(tmp_path, figure("plot"))
    assert draft.drawings == {}
    assert why in notes(draft)[0]


def test_an_eps_is_shown_by_what_was_made_of_it(tmp_path: Path) -> None:
    for name in ("a.eps", "b.eps"):
        (tmp_path / name).write_text("%!PS", "utf-8")
    write(tmp_path / "a-eps-converted-to.pdf", RED)
    draft = drawn(tmp_path, figure("a.eps"), figure("b"))
    assert list(draft.drawings) == ["a-eps-converted-to.pdf"]
    assert notes(draft) == [
        "main.tex:4: b.eps: not drawn: EPS is not drawn; save it as PDF or PNG beside it under the same name"
    ]


def test_parts_have_their_letters_and_a_figure_all_its_pictures(tmp_path: Path) -> None:
    for name in "abcd":
        write(tmp_path / f"{name}.pdf", RED)
    part = r"\begin{minipage}{3cm}\vskip -0.6em\includegraphics{%s}\subcaption{%s}\end{minipage}"
    whole = rf"\begin{{figure}}{part % ('a', 'Bog.')}{part % ('b', 'Heath.')}\caption{{Both.}}\end{{figure}}"
    draft = drawn(tmp_path, whole, figure("c", "d"))
    pictures = {one.name: [picture.file.stem for picture in one.pictures] for one in draft.floats.values()}
    assert pictures == {"Figure 1": [], "Figure 1a": ["a"], "Figure 1b": ["b"], "Figure 2": ["c", "d"]}
    bundle = collect_checks(draft, {}).claims[0].record.model_dump()["evidence_bundle"]
    assert [(one["image_caption"], one["img_path"]) for one in bundle] == [
        (["Figure 1: Both."], None),
        (["Figure 1a: Bog."], "a.pdf"),
        (["Figure 1b: Heath."], "b.pdf"),
    ]


def test_a_figure_that_ends_its_process_costs_that_alone(tmp_path: Path) -> None:
    write(tmp_path / "good.pdf", RED)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"\xff" * 999)
    write(tmp_path / "last.pdf", RED)
    write(tmp_path / "deep.pdf", f"/X{first_free('1')} Do", more=forms_in_forms(8, 10, first_free("1")))
    names = ("good", "broken", "deep", "last")
    draft = drawn(tmp_path, *map(figure, names), limits=LIMITS._replace(seconds=1.0, memory=600 * MIB))
    assert list(draft.drawings) == ["good.pdf", "last.pdf"]
    broken, deep = (note.split(": not drawn: ") for note in notes(draft))
    assert broken == ["main.tex:4: broken.pdf", "not a PDF, or a broken one; expected a PDF that a viewer opens"]
    assert deep[1] in ("it takes more than 1 s of a core", "broken, or it takes too much memory")  # what it meets first


def test_a_sheet_as_large_as_a_house_is_not_drawn(tmp_path: Path) -> None:
    write(tmp_path / "plot.pdf", RED, boxes="/UserUnit 1 /CropBox [0 0 612 792]")
    raw = (tmp_path / "plot.pdf").read_bytes().replace(b"[0 0 612 792]", b"[0 0 90000 90000]")
    (tmp_path / "plot.pdf").write_bytes(raw)
    assert "not drawn: a page of" in notes(drawn(tmp_path, figure("plot")))[0]


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


@pytest.mark.parametrize(
    ("caption", "drawings", "unread"),
    [
        ("Wrens by night.", ["main.pdf#page=1"], []),
        ("Owls in the snow of May.", [], ["a drawing by code (tikzpicture), which is not read"]),
    ],
)
def test_a_figure_drawn_by_code_is_taken_from_the_paper_as_it_was_set(
    set_paper: Path, caption: str, drawings: list[str], unread: list[str]
) -> None:
    folder = set_paper.parent
    code = rf"\begin{{figure}}\begin{{tikzpicture}}\draw (0,0);\end{{tikzpicture}}\caption{{{caption}}}\end{{figure}}"
    (folder / "main.tex").write_text(f"See Figure 1.\n\n{code}", "utf-8")
    draft = draw_figures(read(folder / "main.tex"), folder / "main.tex", folder / "kept")
    assert [one.split("&box=")[0] for one in draft.drawings] == drawings
    assert [one.split(": ")[1] for one in notes(draft)] == unread
