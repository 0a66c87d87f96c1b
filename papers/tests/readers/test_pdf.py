"""PDF drafts: sections, tables and works by size, place and wording."""

from collections.abc import Sequence
from pathlib import Path

from aisr_papers.draft import Draft, Work
from aisr_papers.readers.pdf import read
from paper_support.pdfs import column, picture, rule, text, write

LEFT = [
    "We compare fluff of two kinds, and find that the first kind is bet-",
    "ter than the second. It is soft, as earlier work has shown [1-3],",
    "and Table I says how soft. State-of-the-art fluff is hard, and com-",
    "puters do not tell one from the other, however long they look at it",
]
RIGHT = [
    "and whatever they are asked. Fig. 2 shows it in 5 ways.",
    "   A second paragraph begins further in. It goes on over this line of",
    "text and ends in the middle of the third one [2].",
]
LIST = [
    "[1] A. Smith and B. Lee. Parsing with deep fluff. J. Fluff 3, 2020.",
    "doi:10.1234/fluff.2020.17",
    '[2] E. Jones, "Retrieval at scale," in Proc. Fluff, 2021.',
    "[3] Doe, J. (2019). Everything is hard. Hard Press.",
]


def table(x: float, y: float) -> str:
    """Rows with a gap in one of them, a heading above two columns, and rules."""
    cells = [(0, 0, "Kind"), (80, 16, "Softness"), (80, 0, "Dry"), (130, 0, "Wet")]
    cells += [(0, -16, "First kind"), (80, -16, "9.5"), (130, -16, "8.1"), (0, -28, "Second"), (130, -28, "-2.0")]
    return (
        "".join(text(x + dx, y + dy, cell, size=9) for dx, dy, cell in cells)
        + rule(x, y + 26, 160)
        + rule(x + 78, y + 11, 74)
        + rule(x, y - 4, 160)
        + rule(x, y - 34, 160)
    )


def fluff() -> list[str]:
    """The pages of a paper in two columns."""
    first = (
        text(150, 740, "Two Kinds of Fluff", size=18)
        + text(100, 715, "Ann Author")
        + text(400, 715, "Bob Writer")
        + text(54, 690, "Abstract", size=12, font="F2")
        + column(54, 670, LEFT, size=8)
        + text(54, 618, "1  Results", size=12, font="F2")
        + text(54, 602, "1.1  Of the first kind", size=11, font="F2")
        + column(54, 586, LEFT, size=8)
        + column(320, 690, RIGHT, size=8)
        + text(320, 640, "TABLE I: How soft fluff is.", size=8)
        + table(330, 600)
    )
    second = (
        picture(60, 600, 200, 100)
        + text(265, 650, "axis", size=7)
        + text(60, 585, "Figure 2. Fluff in five ways.", size=8)
        + text(54, 540, "References", size=12, font="F2")
        + column(54, 520, LIST, size=8)
    )
    third = column(54, 690, LEFT, size=8) + column(320, 690, RIGHT, size=8)
    return [
        text(54, 770, f"Journal of Fluff {number}", size=7) + text(300, 20, str(number), size=7) + page
        for number, page in enumerate((first, second, third), start=1)
    ]


def texts(draft: Draft) -> list[str]:
    return [" ".join(one.text for one in paragraph.sentences) for paragraph in draft.paragraphs]


def test_a_paper_in_two_columns(tmp_path: Path) -> None:
    draft = read(write(tmp_path / "fluff.pdf", *fluff()))
    assert draft.title == "Two Kinds of Fluff"
    assert [one.headings for one in draft.paragraphs][:2] == [("Abstract",), ("Results", "Of the first kind")]
    assert not any("Author" in text or "Journal of Fluff" in text for text in texts(draft))

    assert "the first kind is better than the second." in texts(draft)[1]
    assert "State-of-the-art fluff is hard, and computers do not" in texts(draft)[1]
    assert "however long they look at it and whatever they are asked." in texts(draft)[1]
    assert texts(draft)[2].startswith("A second paragraph begins further in.")

    sentences = {one.text: one for paragraph in draft.paragraphs for one in paragraph.sentences}
    soft = sentences["It is soft, as earlier work has shown [1-3], and Table I says how soft."]
    assert (soft.float_keys, soft.work_keys) == (("Table I",), ("1", "2", "3"))
    assert sentences["Fig. 2 shows it in 5 ways."].float_keys == ("Figure 2",)
    assert (draft.floats["Table I"].caption, draft.floats["Figure 2"].caption) == (
        "How soft fluff is.",
        "Fluff in five ways.",
    )
    assert draft.floats["Table I"].rows.splitlines() == [
        "\tSoftness\tSoftness",
        "Kind\tDry\tWet",
        "First kind\t9.5\t8.1",
        "Second\t\t-2.0",
    ]
    assert draft.works == {
        "1": Work("1", "Parsing with deep fluff", "10.1234/fluff.2020.17"),
        "2": Work("2", "Retrieval at scale"),
        "3": Work("3", "Everything is hard"),
    }


def test_line_numbers_notes_and_raised_citations(tmp_path: Path) -> None:
    lines = [
        f"Line {number} of a paragraph is as wide as all other lines of this text are." for number in range(10, 40)
    ]
    numbers = "".join(text(62 - 4.2 * len(str(n)), 720 - 18 * n, str(n), size=7) for n in range(1, len(lines) + 1))
    raised = "BT 0 g /F1 10 Tf 72 720 Td (Fluff is soft.) Tj /F1 6 Tf 4 Ts (1-3) Tj /F1 10 Tf 0 Ts ( It is not new.) Tj"
    raised += " /F1 6 Tf 4 Ts (4) Tj ET\n"
    note = text(72, 60, "4", size=5) + text(75, 57, "Not very new.", size=8)
    works = text(72, 700, "References", size=14) + column(
        72, 680, [f"{k}. A. Smith. Fluff {k}. 2020." for k in range(1, 5)]
    )
    draft = read(write(tmp_path / "a.pdf", raised + column(72, 702, lines, leading=18) + numbers + note, works))
    sentences = [one for paragraph in draft.paragraphs for one in paragraph.sentences]
    assert [(one.text, one.work_keys) for one in sentences[:2]] == [
        ("Fluff is soft.", ("1", "2", "3")),
        ("It is not new.", ()),
    ]
    assert [one.text for one in sentences[2:]] == [*lines, "Not very new."]


def test_a_turned_page_is_read_as_it_is_seen(tmp_path: Path) -> None:
    page = "BT 0 g /F1 10 Tf 0 1 -1 0 300 100 Tm (This stands upright for its reader.) Tj ET\n"
    draft = read(write(tmp_path / "a.pdf", page + text(100, 400, "sideways"), boxes="/Rotate 90"))
    assert texts(draft) == ["This stands upright for its reader."]
    assert [one.reason for one in draft.unread] == ["1 words that stand sideways: “sideways”"]


LISTED = [
    "Agol, E., Steffen, J., & Sari, R. 2005, MNRAS, 359, 567, with a title that goes",
    "  on over two lines and three",
    "  of which the most hang in",
    "Holm, I. 2016a, First of two, and just as long as the one above it is, but not more",
    "Holm, I. 2016b, Second of two, which is so long that it",
    "  needs to be set on two lines",
]


def test_works_by_author_and_year_are_told_by_their_indent_and_linked(tmp_path: Path) -> None:
    """The second page of the list begins within an entry."""
    lines = [
        "We agree with Agol et al. (2005), and with",
        "others (Holm 2016a,b) as far as it goes.",
    ]
    page = text(72, 740, "A Paper", size=18) + text(72, 710, "1 Results", size=12, font="F2") + column(72, 690, lines)
    page += text(72, 400, "References", size=12, font="F2")
    entries = [
        text(72 + 12 * line.startswith(" "), (380 if place < 2 else 764) - 12 * place, line.strip())
        for place, line in enumerate(LISTED)
    ]
    draft = read(write(tmp_path / "a.pdf", page + "".join(entries[:2]), "".join(entries[2:])))
    assert list(draft.works) == ["agol 2005", "holm 2016a", "holm 2016b"]
    assert draft.paragraphs[0].sentences[0].work_keys == tuple(draft.works)


# Lines of one column of two, and of the whole page.
NARROW = [f"Line {number} of the text in a column is just as wide as all of the others" for number in range(10, 60)]
BROAD = [
    f"Line {number} of the appendix goes over the whole page, from its left margin to the right one, as all of them do"
    for number in range(10, 60)
]


def cells(x: float, y: float, rows: Sequence[Sequence[str]], *, wide: float = 80, leading: float = 14) -> str:
    return "".join(
        text(x + wide * across, y - leading * down, cell, size=8)
        for down, row in enumerate(rows)
        for across, cell in enumerate(row)
        if cell
    )


def scores(first: int, last: int) -> list[list[str]]:
    return [[f"Kind {number}", f"{number}.5", f"0.{number}"] for number in range(first, last)]


def test_columns_are_found_page_by_page_and_headings_by_their_number(tmp_path: Path) -> None:
    """As astronomers set it: title and abstract across the page, then two columns; headings in capitals, italics or the
    type of the text; a caption whose words are on the next line; an appendix in one column."""
    first = text(180, 740, "Soft Kinds of Fluff", size=17) + text(250, 715, "Ann Author") + text(280, 695, "ABSTRACT")
    first += column(54, 680, BROAD[:14], size=9, leading=11)
    first += text(130, 500, "1. INTRODUCTION", size=9) + column(54, 480, NARROW[:12], size=9, leading=11)
    first += text(110, 340, "1.1. Kinds of the north", size=9, font="F3")
    first += column(54, 328, NARROW[12:20], size=9, leading=11)
    first += column(320, 500, NARROW[20:30], size=9, leading=11)
    first += text(320, 370, "2. Softness of kinds", size=9) + text(415, 355, "TABLE 4", size=9)
    first += text(370, 344, "How soft the kinds are", size=9)
    first += rule(320, 335, 200) + cells(325, 325, [["Kind", "Dry", "Wet"], *scores(1, 4)]) + rule(320, 278, 200)
    first += column(320, 255, NARROW[30:36], size=9, leading=11)
    second = column(54, 740, NARROW[36:43], size=9, leading=11) + column(320, 740, NARROW[43:], size=9, leading=11)
    third = text(54, 740, "A. Proofs", size=9, font="F3") + column(54, 720, BROAD[14:45], size=9, leading=11)
    draft = read(write(tmp_path / "a.pdf", first, second, third))
    assert draft.title == "Soft Kinds of Fluff"
    assert list(dict.fromkeys(one.headings for one in draft.paragraphs)) == [
        ("ABSTRACT",),
        ("INTRODUCTION",),
        ("INTRODUCTION", "Kinds of the north"),
        ("Softness of kinds",),
        ("Proofs",),
    ]
    assert " ".join(texts(draft)) == " ".join([*BROAD[:14], *NARROW, *BROAD[14:45]])
    table = draft.floats["Table 4"]
    assert table.caption == "How soft the kinds are"
    assert [row.split("\t")[0] for row in table.rows.splitlines()] == ["Kind", "Kind 1", "Kind 2", "Kind 3"]
    assert draft.unread == ()


def test_long_tables_and_tables_of_one_width_below_each_other(tmp_path: Path) -> None:
    start = text(72, 760, "A Paper", size=18) + text(72, 735, "1 Results", size=12, font="F2")
    start += text(72, 715, "Table 1: All runs.", size=9) + rule(72, 708, 260) + cells(76, 698, scores(10, 40))
    start += rule(72, 286, 260) + text(72, 240, "Table 2: The best runs.", size=9) + rule(72, 232, 260)
    best = [
        ["Kind", "Dry", "What it is"],
        ["One", "4.5", "a kind that is"],
        ["", "", "soft and dry"],
        ["Two", "5", "hard"],
    ]
    start += cells(76, 222, best, leading=12) + rule(72, 180, 260)
    head = [["Kind", "Dry", "Wet"]]
    second = text(72, 740, "Table 3: Runs of the second year.", size=9)
    second += rule(72, 732, 260) + cells(76, 722, [*head, *scores(40, 80)]) + rule(72, 140, 260)
    third = rule(72, 732, 260) + cells(76, 722, [*head, *scores(80, 99)]) + rule(72, 440, 260)
    third += column(72, 400, BROAD[:9], size=9, leading=11)
    draft = read(write(tmp_path / "a.pdf", start, second, third))
    rows = {name: one.rows.splitlines() for name, one in draft.floats.items()}
    assert rows["Table 1"] == ["\t".join(row) for row in scores(10, 40)]
    assert rows["Table 2"][1:] == ["One\t4.5\ta kind that is soft and dry", "Two\t5\thard"]
    assert rows["Table 3"] == ["\t".join(row) for row in [*head, *scores(40, 99)]]
    assert texts(draft) == [" ".join(BROAD[:9])]
    assert draft.unread == ()


def test_a_table_may_begin_behind_the_page_of_its_caption_and_go_on_without_headings(tmp_path: Path) -> None:
    rows = [["Kind", "Dry", "Wet"], *scores(10, 26)]
    start = text(72, 740, "A Paper", size=18) + column(72, 710, BROAD[:2]) + text(72, 660, "Table 1: All runs.")
    table = rule(72, 742, 350) + cells(76, 730, rows[:9], wide=150, leading=12) + rule(72, 620, 350)
    end = cells(76, 740, rows[9:], wide=150, leading=12) + rule(72, 640, 350) + column(72, 300, BROAD[2:4])
    draft = read(write(tmp_path / "a.pdf", start, table, end))
    assert draft.floats["Table 1"].rows.splitlines() == ["\t".join(row) for row in rows]
    assert texts(draft) == [" ".join(BROAD[:2]), " ".join(BROAD[2:4])]
    assert draft.unread == ()


def test_tables_without_rules_are_no_sentences_and_go_on_under_their_headings(tmp_path: Path) -> None:
    kinds = [["Kind", "Ground", "Season"], ["Wren", "bog", "winter"], ["Lark", "heath", "summer"]]
    start = text(72, 740, "A Paper", size=18) + column(72, 710, BROAD[:2]) + text(72, 660, "Table 1: Kinds of birds.")
    start += cells(76, 645, kinds, wide=150, leading=12)
    more = [["Owl", "barn", "spring"], ["Finch", "wood", "autumn"]]
    end = text(72, 740, "Table 1 (continued)") + cells(76, 725, [kinds[0], *more], wide=150, leading=12)
    end += column(72, 300, BROAD[2:4])
    draft = read(write(tmp_path / "a.pdf", start, end))
    (one,) = draft.floats.values()
    assert (one.caption, one.rows.splitlines()) == ("Kinds of birds.", ["\t".join(row) for row in [*kinds, *more]])
    assert " ".join(texts(draft)) == " ".join(BROAD[:4])
    assert draft.unread == ()


def test_a_page_that_is_read_in_part_is_listed(tmp_path: Path) -> None:
    page = text(72, 740, "A Paper", size=18) + column(72, 700, BROAD[:6])
    page += rule(72, 590, 300) + cells(76, 580, [["Kind", "Dry", "Wet"], *scores(10, 20)]) + rule(72, 426, 300)
    draft = read(write(tmp_path / "a.pdf", page))
    assert [one.reason.partition("“")[0] for one in draft.unread] == [
        "a table without a caption: ",
        "77 % of the characters of this page are read, but not: ",
    ]
