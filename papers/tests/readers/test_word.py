"""Word papers: what golden drafts do not have, pictures and hostile ones, which are refused in one line."""

import zipfile
from pathlib import Path

import pytest
from PIL import Image

from aisr import UserError
from aisr_papers.readers import word
from aisr_papers.readers.figures import draw_pictures
from aisr_papers.readers.word import MOST_PART, read
from paper_support.golden import READ
from paper_support.word_files import cell, link, paragraph, part, picture, run, table, write


def test_a_picture_of_a_word_file_is_shown(tmp_path: Path) -> None:
    file = READ / "word" / "paper.docx"
    drawn = draw_pictures(read(file), tmp_path / "kept")
    with Image.open(drawn.drawings["paper.docx#word/media/a.png"]) as image:
        assert image.getpixel((1, 1)) == (255, 0, 0)


def math(*content: str) -> str:
    return f"<m:oMath>{''.join(content)}</m:oMath>"


def digits(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def power(base: str, raised: str) -> str:
    return f"<m:sSup><m:e>{digits(base)}</m:e><m:sup>{digits(raised)}</m:sup></m:sSup>"


HALF = f"<m:f><m:num>{digits('1')}</m:num><m:den>{digits('2')}</m:den></m:f>"
BRACKETS = '<m:dPr><m:begChr m:val="["/><m:sepChr m:val=","/><m:endChr m:val="]"/></m:dPr>'
HIDDEN = '<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr><m:e><m:r><m:t>-</m:t></m:r></m:e></m:phant>'


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (math(digits("2"), HALF), "2 1/2"),
        (run("2") + math(HALF) + run("3"), "2 1/2 3"),
        (math(power("10", "−3"), digits("5")), "10^−3 5"),
        (math(f"<m:sSub><m:e>{digits('x')}</m:e><m:sub>{digits('1')}</m:sub></m:sSub>", digits("2")), "x1 2"),
        (math(f"<m:d>{BRACKETS}<m:e>{digits('0.1')}</m:e><m:e>{digits('0.5')}</m:e></m:d>"), "[0.1, 0.5]"),
        (math(HIDDEN, digits("1.5")), "1.5"),
        (math(f"<m:rad><m:deg>{digits('3')}</m:deg><m:e>{digits('8')}</m:e></m:rad>"), "√[3](8)"),
        (math(f"<m:m><m:mr><m:e>{digits('1')}</m:e><m:e>{digits('2')}</m:e></m:mr></m:m>"), "1 2"),
    ],
)
def test_numbers_of_a_formula_stand_apart(tmp_path: Path, content: str, text: str) -> None:
    draft = read(write(tmp_path / "paper.docx", paragraph(content)))
    assert [one.text for one in draft.paragraphs[0].sentences] == [text]


def test_a_row_may_begin_in_a_later_column(tmp_path: Path) -> None:
    header = f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{cell("Pre")}{cell("Post")}</w:tr>'
    rows = table(["A", "1.5", "9.7"]).replace("<w:tbl>", f"<w:tbl>{header}")
    draft = read(write(tmp_path / "paper.docx", paragraph("Table 1. Means.") + rows + paragraph("After it.")))
    assert next(iter(draft.floats.values())).rows == "\tPre\tPost\nA\t1.5\t9.7"


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
