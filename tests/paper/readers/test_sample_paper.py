"""The sample paper: what is read of its LaTeX, and where its planted faults come up."""

import json
import re
import unicodedata
from typing import Any

import pytest

from aisr.paper import cited_papers
from aisr.paper.check.checks import Checks, collect_checks
from aisr.paper.draft import Draft, Paragraph
from aisr.paper.readers import latex, pdf
from aisr.programs.draft.record import DraftRecord
from aisr.programs.track2.record import Track2Record
from support.paths import ROOT, SAMPLE

FOLDER = ROOT / "data" / "sample" / "paper"
FAULTS: list[dict[str, Any]] = json.loads((FOLDER / "key.json").read_text("utf-8"))["faults"]
CITED = {key: {"P1": "A paragraph."} for key in ("marlow2021callnet", "lindqvist2022wind")}


def letters(text: str) -> str:
    """A text without blanks, and without how its signs are set."""
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", text).casefold())


@pytest.fixture(scope="module")
def draft() -> Draft:
    return latex.read(FOLDER)


@pytest.fixture(scope="module")
def checks(draft: Draft) -> Checks:
    return collect_checks(draft, CITED, interpretations=True)


def test_all_of_its_structure_is_read(draft: Draft) -> None:
    key = json.loads((FOLDER / "structure.json").read_text("utf-8"))
    assert draft.title == key["title"]
    assert draft.unread == ()
    sentences = [(one.text, each.headings, str(one.place)) for each in draft.paragraphs for one in each.sentences]
    known = [
        (one["text"], tuple(each["headings"]), one["at"]) for each in key["paragraphs"] for one in each["sentences"]
    ]
    assert [[letters(text), *more] for text, *more in sentences] == [[letters(text), *more] for text, *more in known]
    floats, works = ({one["key"]: one for one in key[kind]} for kind in ("floats", "works"))
    assert {one: letters(each.caption) for one, each in draft.floats.items()} == {
        one: letters(each["caption"]) for one, each in floats.items()
    }
    for one, each in floats.items():
        rows = [set(map(letters, row.split("\t"))) for row in draft.floats[one].rows.splitlines()]
        wanted = [set(map(letters, row)) for row in each.get("rows", [])]
        assert [row <= has for row, has in zip(wanted, rows, strict=True)] == [True] * len(wanted), one
    assert {one: letters(each.title) for one, each in draft.works.items()} == {
        one: letters(each["title"]) for one, each in works.items()
    }
    for one in key["floats"]:
        pictures = [picture.path(FOLDER) for picture in draft.floats[one["key"]].pictures]
        assert pictures == ([one["picture"]] if "picture" in one else [])
        assert str(draft.floats[one["key"]].place) == one["at"]


def test_every_planted_fault_is_put_to_a_judge_at_its_line(draft: Draft, checks: Checks) -> None:
    assert len(FAULTS) == 12
    for fault in FAULTS:
        by_sentence = {
            draft.paragraphs[paragraph].sentences[number]: check
            for check in (checks.claims if fault["kind"] == "claim" else checks.citations)
            for paragraph, number in check.places
        }
        sentence, check = next((one, check) for one, check in by_sentence.items() if one.text == fault["sentence"])
        assert (sentence.place.file, sentence.place.line) == (fault["file"], fault["line"])
        if fault["kind"] == "claim":
            name = draft.floats[fault["float"]].name
            assert any(item.caption.startswith(f"{name}:") for item in check.record.evidence_bundle)  # type: ignore[union-attr]
        else:
            assert check.work == fault["work"]


def test_the_rest_is_counted(draft: Draft, checks: Checks) -> None:
    judged = {paragraph for check in checks.claims for paragraph, _ in check.places}
    assert sum(checks.skipped.values()) + len(judged) == len(draft.paragraphs) == 21
    assert checks.missing == {"sato2018radar": 1, "okafor2019dawn": 2, "brandt2020trispec": 1}


# --- The sample paper as a PDF: what a reader of its LaTeX finds in it, and what a person wrote down

PAPER = SAMPLE / "paper"
# What the PDF cannot give as the LaTeX does: a displayed formula, whose parts stand above each other.
FORMULA = "The estimate w sets a gate on every channel c of the last layer: "


@pytest.fixture(scope="module")
def printed() -> Draft:
    return pdf.read(PAPER / "main.pdf")


@pytest.fixture(scope="module")
def source() -> Draft:
    return latex.read(PAPER / "main.tex")


def without_formula(text: str) -> str:
    return FORMULA if text.startswith(FORMULA) else text


def bundles(draft: Draft, paragraph: Paragraph) -> list[tuple[str, list[str], list[str]]]:
    """Each sentence with the floats that it refers to and the works that it cites, by name and title."""
    return [
        (
            without_formula(sentence.text),
            [draft.floats[one].name for one in sentence.float_keys],
            [draft.works[one].title.casefold() for one in sentence.work_keys],
        )
        for sentence in paragraph.sentences
    ]


def test_latex_and_pdf_give_the_same_paragraphs_bundles_and_floats(printed: Draft, source: Draft) -> None:
    assert printed.title == source.title
    ours, theirs = (
        sorted((one.headings, bundles(draft, one)) for one in draft.paragraphs) for draft in (printed, source)
    )
    assert ours == theirs
    first, second = (
        sorted((one.name, one.kind, one.caption, one.rows) for one in draft.floats.values())
        for draft in (printed, source)
    )
    assert first == second


def claimed(checks: Checks) -> list[tuple[str, list[str]]]:
    """The claims about cited papers, with the paragraphs of these."""
    records = [one.record for one in checks.citations if isinstance(one.record, Track2Record)]
    return [(record.claim_text, list(record.paragraphs.values())) for record in records]


def evidence(checks: Checks) -> list[tuple[list[str], list[str]]]:
    """The statements of each question with the evidence beside them."""
    records = [one.record for one in checks.claims if isinstance(one.record, DraftRecord)]
    return [(one.statements, sorted(item.caption or item.text for item in one.evidence_bundle)) for one in records]


def test_latex_and_pdf_are_checked_alike(printed: Draft, source: Draft) -> None:
    papers = [cited_papers.read(PAPER / "papers", draft.works).papers for draft in (printed, source)]
    ours, theirs = (collect_checks(draft, of) for draft, of in zip((printed, source), papers, strict=True))
    assert [dict(one.skipped) for one in (ours, theirs)] == [dict(theirs.skipped)] * 2
    assert sorted(ours.missing.values()) == sorted(theirs.missing.values())
    assert sorted(claimed(ours)) == sorted(claimed(theirs))
    assert evidence(ours) == evidence(theirs)


def test_sentences_know_their_page_and_nothing_is_left_out_in_silence(printed: Draft) -> None:
    at = {one.text: str(one.place) for paragraph in printed.paragraphs for one in paragraph.sentences}
    assert at["Wind is what these detectors suffer from."] == "main.pdf, page 1"
    assert at["All of them were bought in shops and none was changed but for the foam."] == "main.pdf, page 4"
    # It begins at the end of one page and ends on the next.
    assert at["All detectors see the same nights; thresholds are set on a tenth of the training half."][-6:] == "page 1"
    assert [f"{one.place}: {one.reason}" for one in printed.unread] == [
        "main.pdf, page 1: displayed formulas, for which [formula] stands: 1"
    ]


def test_its_cited_papers_are_found_by_what_they_say_of_themselves(printed: Draft, source: Draft) -> None:
    by_title, by_key = (cited_papers.read(PAPER / "papers", draft.works) for draft in (printed, source))
    assert {file.name for file in by_title.files.values()} == {"marlow2021callnet.pdf", "recorders-in-wind.xml"}
    assert set(by_key.papers) == {"marlow2021callnet", "lindqvist2022wind"}
    assert sorted(map(str, by_title.papers.values())) == sorted(map(str, by_key.papers.values()))
    callnet = list(by_key.papers["marlow2021callnet"].values())
    assert callnet[0] == "Abstract"
    assert "Network" in callnet
    assert any(text.startswith("Table 1: F1 of CallNet") and "Dune Point\t51\t48" in text for text in callnet)
    wind = list(by_key.papers["lindqvist2022wind"].values())
    assert "bends sound away from the ground and drives birds to other heights." in wind[3]
    assert (
        "Table 1: Range at which half of the calls were found, by wind speed.\nWind (m/s)\tRange (m)\n2\t210"
        in wind[12]
    )
    assert not any("Sato" in text for text in wind)
    assert [f"{one.place}: {one.reason}" for one in by_key.unread] == [
        "source: a folder; only what lies in papers/ itself is read: put its papers there"
    ]
