"""The sample paper: what a person wrote down of it is read from its LaTeX, the same from its PDF, and what it cites."""

import json

import pytest

from aisr_papers import cited_papers
from aisr_papers.draft import Draft, Sentence
from aisr_papers.readers import latex, pdf
from paper_support.sample_key import FOLDER, letters

# What the PDF cannot give as the LaTeX does: a displayed formula, whose parts stand above each other.
FORMULA = "The estimate w sets a gate on every channel c of the last layer: "


@pytest.fixture(scope="module")
def printed() -> Draft:
    return pdf.read(FOLDER / "main.pdf")


@pytest.fixture(scope="module")
def source() -> Draft:
    return latex.read(FOLDER / "main.tex")


def test_all_of_its_structure_is_read(source: Draft) -> None:
    key = json.loads((FOLDER / "structure.json").read_text("utf-8"))
    assert source.title == key["title"]
    assert source.unread == ()
    assert [
        (letters(one.text), list(each.headings), str(one.place)) for each in source.paragraphs for one in each.sentences
    ] == [
        (letters(one["text"]), each["headings"], one["at"]) for each in key["paragraphs"] for one in each["sentences"]
    ]
    assert {name: letters(one.title) for name, one in source.works.items()} == {
        one["key"]: letters(one["title"]) for one in key["works"]
    }
    assert list(source.floats) == [one["key"] for one in key["floats"]]
    for one in key["floats"]:
        table = source.floats[one["key"]]
        assert (letters(table.caption), str(table.place)) == (letters(one["caption"]), one["at"])
        assert [picture.path(FOLDER) for picture in table.pictures] == ([one["picture"]] if "picture" in one else [])
        for row, wanted in zip(table.rows.splitlines(), one.get("rows", []), strict=True):
            assert set(map(letters, wanted)) <= set(map(letters, row.split("\t")))


def links(draft: Draft, sentence: Sentence) -> tuple[str, list[str], list[str]]:
    """A sentence with the floats that it refers to and the works that it cites, by name and title."""
    return (
        FORMULA if sentence.text.startswith(FORMULA) else sentence.text,
        [draft.floats[one].name for one in sentence.float_keys],
        [draft.works[one].title.casefold() for one in sentence.work_keys],
    )


def test_latex_and_pdf_give_the_same_and_what_the_pdf_lacks_is_listed(printed: Draft, source: Draft) -> None:
    assert printed.title == source.title
    ours, theirs = (
        [
            sorted((each.headings, [links(draft, one) for one in each.sentences]) for each in draft.paragraphs),
            sorted((one.name, one.kind, one.caption, one.rows) for one in draft.floats.values()),
        ]
        for draft in (printed, source)
    )
    assert ours == theirs
    assert [f"{one.place}: {one.reason}" for one in printed.unread] == [
        "main.pdf, page 1: displayed formulas, for which [formula] stands: 1"
    ]
    # It begins at the end of one page and ends on the next.
    at = {one.text: str(one.place) for paragraph in printed.paragraphs for one in paragraph.sentences}
    assert at["All detectors see the same nights; thresholds are set on a tenth of the training half."][-6:] == "page 1"


def test_its_cited_papers_are_found_by_what_they_say_of_themselves(printed: Draft, source: Draft) -> None:
    by_title, by_key = (cited_papers.read(FOLDER / "papers", draft.works) for draft in (printed, source))
    assert set(by_key.papers) == {"marlow2021callnet", "lindqvist2022wind"}
    assert sorted(map(str, by_title.papers.values())) == sorted(map(str, by_key.papers.values()))
    assert [f"{one.place}: {one.reason}" for one in by_key.unread] == [
        "source: no file; only those in papers/ itself are read"
    ]
