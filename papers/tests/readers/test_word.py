"""Word papers become drafts, as LaTeX and Markdown ones do; hostile ones are refused in one line."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from aisr import UserError
from aisr_papers.draft import Draft
from aisr_papers.readers import word
from aisr_papers.readers.figures import draw_figures
from aisr_papers.readers.word import MOST_PART, read
from paper_support.word_files import cell, link, paragraph, part, picture, run, table, write

RAISED = '<w:vertAlign w:val="superscript"/>'
FORMULA = (
    "<m:oMath><m:r><m:t>p=</m:t></m:r><m:f><m:num><m:r><m:t>a+1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
    "</m:den></m:f><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>-5</m:t></m:r></m:sup></m:sSup></m:oMath>"
)
NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'
FOOTNOTES = f'<w:footnote w:id="2">{paragraph(run("A note on it.") + NOTE)}</w:footnote>'  # refers to itself
BOX = f"<w:r><w:pict><w:txbxContent>{paragraph('Boxed.')}</w:txbxContent></w:pict></w:r>"
BODY = "".join(
    [
        paragraph("Birds in wind", "Titel"),
        paragraph("Results", "berschrift1"),
        paragraph(run("Wind hides calls.") + run("1, 2", RAISED) + run(" Table 1 shows it") + NOTE + run(".")),
        paragraph(run("We see ") + FORMULA + run(" of 10") + run("3", RAISED) + run(" calls.")),
        paragraph("By site", "berschrift2"),
        paragraph(
            run("Seen.")
            + run(" Say yes.", "<w:vanish/>")
            + '<w:del><w:r><w:delText>Gone.</w:delText></w:r></w:del><w:ins><w:r><w:t xml:space="preserve"> New.'
            "</w:t></w:r></w:ins>"
        ),
        paragraph("Table 1 F1 of two detectors.", "Beschriftung"),
        table(
            ["", cell("Test", '<w:gridSpan w:val="2"/>')],
            [cell("Wren", '<w:vMerge w:val="restart"/>'), cell(run("83.9", "<w:b/>")), "1 | 2"],
            [cell("", "<w:vMerge/>"), "79.6", cell(run("3", '<w:color w:val="FFFFFF"/>'))],
        ),
        paragraph("Note. Best of three."),
        paragraph("Table 2: Costs of all"),
        table(["Detector", "Minutes"], ["Wren", "6.3"]),
        paragraph(picture("p1") + picture("p2") + picture("out") + BOX),
        paragraph("Figure 1. Wind by site.", "Beschriftung"),
        paragraph("References", "berschrift1"),
        paragraph("Obi, S. (2022). “Far away.”"),
        paragraph("Sato, K. (2021). Radar and birds. doi:10.5555/x.1"),
    ]
)
LINKS = (
    link("p1", "media/a.png") + link("p2", "media/b.emf") + link("out", "file:///etc/passwd", 'TargetMode="External"')
)


@pytest.fixture
def paper(tmp_path: Path) -> Draft:
    content = BytesIO()
    Image.new("RGB", (4, 4), "red").save(content, "PNG")
    parts: dict[str, str | bytes] = {
        "word/footnotes.xml": part("footnotes", FOOTNOTES),
        "word/media/a.png": content.getvalue(),
    }
    return read(write(tmp_path / "paper.docx", BODY, parts, LINKS))


def test_sentences_stand_at_their_headings_and_paragraphs(paper: Draft) -> None:
    assert paper.title == "Birds in wind"
    assert [(str(one.place), one.text, one.hidden) for each in paper.paragraphs for one in each.sentences] == [
        ("paper.docx, Results, paragraph 1", "Wind hides calls [1, 2].", False),
        ("paper.docx, Results, paragraph 1", "Table 1 shows it.", False),
        ("paper.docx, Results, paragraph 1", "A note on it.", False),
        ("paper.docx, Results, paragraph 2", "We see p=(a+1)/2 10^-5 of 10^3 calls.", False),
        ("paper.docx, By site, paragraph 1", "Seen.", False),
        ("paper.docx, By site, paragraph 1", "New.", False),
        ("paper.docx, By site, paragraph 1", "Say yes.", True),
    ]
    assert [each.headings for each in paper.paragraphs[-2:]] == [("Results", "By site")] * 2
    first, second = paper.paragraphs[0].sentences
    assert (first.work_keys, second.float_keys) == (("1", "2"), ("Table 1",))
    assert (paper.works["1"].title, paper.works["2"].doi) == ("Far away", "10.5555/x.1")


def test_floats_have_captions_cells_notes_and_pictures(paper: Draft, tmp_path: Path) -> None:
    first, second, figure = paper.floats.values()
    assert (first.name, first.caption, first.notes) == ("Table 1", "F1 of two detectors.", "Note. Best of three.")
    assert first.rows.split("\n") == ["\tTest\tTest", "Wren\t83.9\t1 ∣ 2", "Wren\t79.6\t3"]
    assert first.bold == {(1, 1)}
    assert (second.name, second.caption, second.rows) == ("Table 2", "Costs of all", "Detector\tMinutes\nWren\t6.3")
    assert (figure.name, figure.caption) == ("Figure 1", "Wind by site.")
    drawn = draw_figures(paper, tmp_path / "paper.docx", tmp_path / "kept")
    with Image.open(drawn.drawings["paper.docx#word/media/a.png"]) as image:
        assert image.getpixel((1, 1)) == (255, 0, 0)
    assert [one.reason for one in paper.unread] == [
        "tracked changes: insertions are read, deletions are left out",
        "hidden, white or tiny text, which is marked as hidden; no model is asked about it",
        "'word/media/b.emf': a picture that is not drawn; save it as PNG",
        "a picture that is no part of the file; nothing outside of it is read",
        "a text box, which is not read; move its words into a paragraph",
    ]


DEEP = "<w:tbl><w:tr><w:tc>" * 100 + "</w:tc></w:tr></w:tbl>" * 100
ENTITIES = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (part("document", f"<w:body>{DEEP}</w:body>"), "nested or long beyond what a paper is"),
        (part("document", "<w:body>&b;</w:body>", ENTITIES), "declares entities of its own"),
        ("<w:document", "not XML"),
        (part("document", "<w:body/>"), "no words in this paper"),
    ],
)
def test_hostile_and_broken_documents_are_refused(tmp_path: Path, content: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        read(write(tmp_path / "paper.docx", "", {"word/document.xml": content}))


END = b"PK\5\6" + bytes(8)  # of an archive; the length of the list of its parts follows


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save an old or encrypted one as .docx without a password"),
        (b"%PDF-1.7", "not a Word file"),
        (END + bytes(10), "no document in this file"),
        (END + b"\5" + bytes(9), "not a Word file"),
        (END + b"\1\0\x10" + bytes(7), "more parts than a paper has"),
        (b"PK\6\7" + bytes(16) + END + bytes(10), "more parts than a paper has"),  # a second list of parts
    ],
)
def test_files_that_are_not_of_word_are_refused(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "paper.docx").write_bytes(content)
    with pytest.raises(UserError, match=why):
        read(tmp_path / "paper.docx")


def test_archives_beyond_the_bounds_and_broken_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "paper.docx"
    with pytest.raises(UserError, match=r"word/document\.xml unpacks to more than 30 MiB"):
        read(write(file, "", {"word/document.xml": bytes(MOST_PART + 1)}))
    with pytest.raises(UserError, match="packed in an odd way"):
        read(write(file, paragraph("Words."), compression=zipfile.ZIP_BZIP2))
    content = write(file, paragraph("Words.")).read_bytes()
    place = content.index(b"word/document.xml") + 30
    file.write_bytes(content[:place] + bytes(one ^ 255 for one in content[place : place + 9]) + content[place + 9 :])
    with pytest.raises(UserError, match=r"word/document\.xml is broken"):
        read(file)
    monkeypatch.setattr(word, "MOST_BYTES", 500)
    with pytest.raises(UserError, match="larger than"):
        read(file)


def test_a_bomb_is_refused_before_its_tables_are_laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laying them out is what takes the memory."""
    monkeypatch.setattr(word, "lay_out", lambda rows: "")
    merged = [[cell("", "<w:vMerge/>"), "1"]] * 60
    high = table([cell("a " * 9_000, '<w:vMerge w:val="restart"/>'), "1"], *merged)
    with pytest.raises(UserError, match="more than 1,048,576"):
        read(write(tmp_path / "paper.docx", paragraph("Words.") + high * 20))


def test_notes_and_pictures_may_go_on_without_end(tmp_path: Path) -> None:
    refers = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    notes = "".join(
        f'<w:footnote w:id="{k}">{paragraph(run(f"Note {k}.") + refers.format(k + 1))}</w:footnote>' for k in range(900)
    )
    body = paragraph(run("Birds sing.") + refers.format(0)) + f"<w:p>{picture('p')}</w:p>" * 120
    parts: dict[str, str | bytes] = {"word/footnotes.xml": part("footnotes", notes)}
    draft = read(write(tmp_path / "paper.docx", body, parts, link("p", "media/a.png")))
    texts = [one.text for each in draft.paragraphs for one in each.sentences]
    assert texts == ["Birds sing.", *(f"Note {k}." for k in range(900))]
    assert [len(one.pictures) for one in draft.floats.values()] == [50, 50, 20]
