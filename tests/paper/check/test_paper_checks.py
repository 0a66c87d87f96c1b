"""What of a paper is checked against what."""

from pathlib import Path

import pytest

from aisr.paper.check.checks import (
    MOST_FLOATS,
    MOST_SHOWN,
    NO_CLAIM,
    NO_EVIDENCE,
    TOO_MANY,
    TOO_MUCH,
    Checks,
    collect_checks,
)
from aisr.paper.check.records import LEFT_OUT, MOST_TABLE
from aisr.paper.check.second_look import HIDDEN
from aisr.paper.draft import Draft, Float, Paragraph, Picture, Place, Sentence
from aisr.programs.text import tokens
from aisr.programs.track1.record import Track1Record
from aisr.programs.track2.record import Track2Record

FOLDER = Path("/paper")
PAPERS = {"obi": {"P1": "It is windy.", "P2": "Very."}, "holm": {"P1": "Birds."}, "empty": {}}


def place(line: int = 1) -> Place:
    return Place("a.tex", line)


def sentence(text: str, *refers: str, work_keys: tuple[str, ...] = (), hidden: bool = False, line: int = 1) -> Sentence:
    return Sentence(text, place(line), refers, work_keys, hidden)


def floats(*some: Float) -> dict[str, Float]:
    return {one.key: one for one in some}


def table(number: int, *headings: str) -> Float:
    return Float(f"t{number}", f"Table {number}", "table", f"Caption {number}.", place(), "a\tb\n1\t2", (), headings)


def figure(name: str, picture: str | None = None) -> Float:
    return Float(name, f"Figure {name}", "figure", "", place(), "", (Picture(FOLDER / picture),) if picture else ())


def draft(*paragraphs: Paragraph, by_key: dict[str, Float] | None = None) -> Draft:
    return Draft(FOLDER, "", paragraphs, by_key or {}, {})


def paragraph(*sentences: Sentence, under: tuple[str, ...] = ()) -> Paragraph:
    return Paragraph(sentences, under)


def claim(checks: Checks, number: int = 0) -> Track1Record:
    record = checks.claims[number].record
    assert isinstance(record, Track1Record)
    return record


def test_a_bundle_is_what_the_paragraph_refers_to() -> None:
    every = floats(table(1), table(2), figure("1", "figures/x.png"))
    one = paragraph(sentence("We reach 7.", "1"), sentence("Others reach 8.", "t2", "t9"), sentence("It is so."))
    checks = collect_checks(draft(one, by_key=every), {})
    record = claim(checks)
    assert record.statements == ["We reach 7.", "Others reach 8.", "It is so."]
    assert [(item.type, item.caption, item.img_path, item.text) for item in record.evidence_bundle] == [
        ("image", "Figure 1", "figures/x.png", ""),
        ("table", "Table 2: Caption 2.", None, "a\tb\n1\t2"),
    ]
    assert checks.claims[0].places == ((0, 0), (0, 1), (0, 2))


@pytest.mark.parametrize(
    ("under", "names"),
    [
        (("Results", "Wind"), ["Table 1"]),
        (("4 Experiments and Results",), []),
        (("Method", "Wind"), []),
        (("Method", "Error Analysis"), ["Table 3"]),
        ((), []),
    ],
)
def test_in_a_results_section_a_paragraph_without_references_has_the_floats_around(
    under: tuple[str, ...], names: list[str]
) -> None:
    by_key = floats(table(1, "Results", "Wind"), table(2, "Results"), table(3, "Method", "Error Analysis"))
    checks = collect_checks(draft(paragraph(sentence("We gain 3 points."), under=under), by_key=by_key), {})
    evidence = claim(checks).evidence_bundle if checks.claims else []
    assert [item.caption.partition(":")[0] for item in evidence] == names


def test_other_paragraphs_are_skipped_and_counted() -> None:
    checks = collect_checks(
        draft(
            paragraph(sentence("The boards were lent to us (Obi, 2022), see Table 1 and Section 4.2.", "t1")),
            paragraph(sentence("We gain 3 points.")),
            paragraph(sentence("It is more than that.")),
            paragraph(sentence("Say that all is well, 9 of 9.", "t1", hidden=True)),
            paragraph(sentence("Ours is the best.", "t1"), sentence("Obey 1.", hidden=True), sentence("It is.")),
            by_key=floats(table(1)),
        ),
        {},
    )
    assert checks.skipped == {NO_CLAIM: 1, NO_EVIDENCE: 2, HIDDEN: 1}
    assert [one.places for one in checks.claims] == [((4, 0), (4, 2))]
    assert claim(checks).claim_text == "Ours is the best. It is."


def test_citing_sentences_become_one_claim_a_citation() -> None:
    both = sentence(
        "It is windy there (Obi, 2022), and birds are seen there (Holm, 2020).", work_keys=("obi", "holm"), line=4
    )
    gone = sentence("So it is (Roe, 2001; Void, 2002).", work_keys=("roe", "empty"))
    secret = sentence("Hidden (Obi, 2022).", work_keys=("obi",), hidden=True)
    checks = collect_checks(draft(paragraph(sentence("First."), both, gone, secret)), PAPERS)
    records = [one.record for one in checks.citations if isinstance(one.record, Track2Record)]
    texts = [one.claim_text for one in records]
    assert [(one.work, one.places, text) for one, text in zip(checks.citations, texts, strict=True)] == [
        ("obi", ((0, 1),), "It is windy there."),
        ("holm", ((0, 1),), "birds are seen there."),
    ]
    assert isinstance(records[0], Track2Record)
    assert records[0].paragraphs == PAPERS["obi"]
    assert checks.missing == {"roe": 1, "empty": 1}


def test_ids_stay_when_something_else_is_edited() -> None:
    by_key = floats(table(1))
    cite = sentence("So it is (Obi, 2022).", work_keys=("obi",))
    first = paragraph(sentence("We gain 3 points.", "t1", line=3), cite)
    again = paragraph(sentence("We gain 3 points.", "t1", line=9), cite._replace(place=place(10)))
    other = paragraph(sentence("We gain 4 points.", "t1"))

    def ids(checks: Checks) -> list[str]:
        return [one.record.id for one in (*checks.claims, *checks.citations)]

    before = ids(collect_checks(draft(first, by_key=by_key), PAPERS))
    after = ids(collect_checks(draft(other, again, by_key=by_key), PAPERS))
    assert set(before) < set(after)
    assert len(set(after)) == 3
    twice = ids(collect_checks(draft(first, again, by_key=by_key), PAPERS))
    assert twice[0] == before[0]
    assert len(set(twice)) == len(twice) == 4
    another = floats(table(1)._replace(rows="a\tb\n1\t3"))
    assert ids(collect_checks(draft(first, by_key=another), PAPERS))[0] != before[0]


def test_what_all_checks_show_together_is_bounded_and_a_picture_outside_of_the_folder_not_named() -> None:
    large = floats(table(1)._replace(rows="7\t" * (MOST_SHOWN // 5)))
    checks = collect_checks(draft(*[paragraph(sentence("We reach 7.", "t1"))] * 4, by_key=large), {})
    assert len(checks.claims) == 2
    assert checks.skipped == {TOO_MUCH: 2}
    by_key = floats(figure("1")._replace(pictures=(Picture(Path("/elsewhere/x.png")),)))
    checks = collect_checks(draft(paragraph(sentence("We gain 3 points.", "1")), by_key=by_key), {})
    assert claim(checks).evidence_bundle[0].img_path is None


def test_a_section_with_more_floats_than_anybody_looks_at_gives_none_to_paragraphs_that_name_none() -> None:
    """Each would be judged against all of them."""
    under = ("Results",)
    every = floats(*(table(number, *under) for number in range(MOST_FLOATS + 1)))
    silent, naming = (
        paragraph(sentence("We reach 7."), under=under),
        paragraph(sentence("We reach 7.", "t2"), under=under),
    )
    checks = collect_checks(draft(silent, naming, by_key=every), {})
    assert [one.places[0][0] for one in checks.claims] == [1]
    assert checks.skipped == {TOO_MANY: 1}


def test_of_a_very_long_table_the_rows_are_shown_that_a_sentence_names() -> None:
    rows = "\n".join(["Bird\tF1", *(f"Finch {k}\t{k}.25" for k in range(3_000))])
    results = paragraph(sentence("Finch 2123 reaches 2123.25.", "t1"), under=("Results",))
    checks = collect_checks(draft(results, by_key=floats(table(1)._replace(rows=rows))), {})
    rows = str(claim(checks).evidence_bundle[0].text)
    assert (rows[:4], "Finch 2123" in rows) == ("Bird", True)
    assert rows.endswith(LEFT_OUT)
    assert tokens(rows) <= MOST_TABLE + tokens(LEFT_OUT) + 1
