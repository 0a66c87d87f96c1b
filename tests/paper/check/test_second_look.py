"""What a second look at a paper asks: which sentences go to it, and what of the paper they are held against."""

from pathlib import Path

import pytest

from aisr.paper.check.checks import collect_checks
from aisr.paper.check.records import LEFT_OUT
from aisr.paper.check.second_look import AT_ONCE, MOST_TOKENS, NO_RESULT, SecondLook
from aisr.paper.draft import Draft, Float, Paragraph, Place, Sentence
from aisr.paper.passages import float_keys, keys_by_name
from aisr.programs.draft.record import DraftRecord
from aisr.programs.text import tokens
from support.drafts import COSTS, SITES, table

TABLES = (table(SITES, "F1 and recall at two sites."), table(COSTS, "Cost of a night.", 2))


def paper(*sections: tuple[str, str], tables: tuple[Float, ...] = TABLES, cites: str = "") -> Draft:
    """Sections of a heading and sentences, which full stops end; a sentence with the word `cites` cites a work."""
    floats = {one.key: one for one in tables}
    paragraphs = tuple(
        Paragraph(
            tuple(
                Sentence(
                    f"{text}.",
                    Place("main.tex", line),
                    float_keys(text, keys_by_name(floats)),
                    (cites,) if cites and cites in text else (),
                )
                for text in section.split(". ")
            ),
            (heading,),
        )
        for line, (heading, section) in enumerate(sections, start=1)
    )
    return Draft(Path("/paper"), "Wrens", paragraphs, floats, {})


def look(draft: Draft) -> SecondLook:
    checks = collect_checks(draft, {}).second
    assert checks is not None
    return checks


def evidence_of(draft: Draft, paragraph: int, *places: int) -> list[str]:
    (check,) = look(draft).checks({paragraph: places})
    assert isinstance(check.record, DraftRecord)
    return [f"{item.caption} {item.text}".strip() for item in check.record.evidence_bundle]


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("We reach an F1 of 72.4", True),
        ("Wren is better than anything before", True),
        ("Lark fails on the heath", True),  # a name of a table, and a result
        ("Many birds migrate at night", False),
        ("Section 3 and Table 2 say so", False),
        ("In 2019 all began", False),
        ("Ash found 61.0 in a bog", False),  # what others found
        ("Let x = 3, y = 4 and z = 5", False),
        ("Ash found less than we do, 61.0", True),
    ],
)
def test_what_sums_up_goes_straight_to_it_where_it_states_a_result(sentence: str, wanted: bool) -> None:
    for heading in ("Abstract", "1 Introduction", "Conclusions", "Discussion"):
        checks = collect_checks(
            paper((heading, f"{sentence}. So it is"), ("Results", "Table 1 shows 61.0"), cites="Ash"), {}
        )
        assert checks.second is not None
        assert checks.second.straight == ({0: (0,)} if wanted else {}), heading
        assert checks.skipped == ({} if wanted else {NO_RESULT: 1})
        assert [one.places[0][0] for one in checks.claims] == [1]
    for whose in ("Birds are larger than bats", "Our birds are larger than bats"):
        introduced = look(paper(("Introduction", whose))).straight  # compares what is not of this paper
        assert bool(introduced) == whose.startswith("Our")
        assert look(paper(("Conclusion", whose))).straight


ABSTRACT = "Wren reaches an F1 of 72.4 on the heath at night"
BODY = (
    ("Abstract", ABSTRACT),
    ("Method", "We trained for ten hours. The heath was dry"),
    ("Results", "On the heath the filter of Wren pays, with an F1 of 72.4. A night takes 6.3 minutes"),
    ("Conclusion", "Wren reaches an F1 of 74.2 on the heath at night. Silence remains"),
)


def test_a_sentence_is_held_against_tables_with_its_numbers_and_passages_of_other_sections() -> None:
    evidence = evidence_of(paper(*BODY), 0, 0)
    assert evidence[0].startswith("Table 1: F1 and recall at two sites.")
    assert "Wren\t61.0\t70.5\t72.4\t79.1" in evidence[0]
    assert any(text.startswith("Section “Results”: On the heath the filter") for text in evidence)


def test_restatements_are_no_evidence() -> None:
    evidence = evidence_of(paper(*BODY), 0, 0)
    assert not any("Conclusion" in text or "74.2" in text for text in evidence)


def test_no_sentence_is_evidence_for_itself_or_for_those_beside_it() -> None:
    twice = paper(("Results", "Wren reaches 61.0 at the bog"), ("Results", "At the bog Wren reaches 61.0 in all"))
    (check,) = look(twice).checks({0: (0,), 1: (0,)})
    assert isinstance(check.record, DraftRecord)
    assert check.places == ((0, 0), (1, 0))
    assert [item.type for item in check.record.evidence_bundle if "Section" in item.text] == []
    assert "Wren reaches 61.0 at the bog. … At the bog Wren" in check.record.paragraph


def test_evidence_keeps_to_a_budget_and_a_long_table_to_the_rows_that_are_named() -> None:
    rows = "\n".join(f"Finch-{k} | {k}.25 | {k}.75" for k in range(300))
    long = table(f"Detector | F1 | Recall\n{rows}", "All.", 3)
    results = [("Results", f"Wren was heard {k} times. Nobody heard Lark at the bog on day {k}") for k in range(60)]
    draft = paper(("Abstract", "Finch-270 reaches 270.25. Wren reaches 61.0"), *results, tables=(*TABLES, long))
    evidence = evidence_of(draft, 0, 0, 1)
    (cut,) = [text for text in evidence if text.startswith("Table 3")]
    assert cut.splitlines()[0] == "Table 3: All. Detector\tF1\tRecall"
    assert "Finch-270\t270.25" in cut
    assert cut.endswith(LEFT_OUT)
    assert sum(map(tokens, evidence)) < MOST_TOKENS
    many = collect_checks(paper(("Abstract", ". ".join(f"It is {k} %" for k in range(2 * AT_ONCE + 1)))), {}).second
    assert many is not None
    assert [len(one.places) for one in many.checks(many.straight)] == [AT_ONCE, AT_ONCE, 1]


def test_a_record_says_where_a_sentence_stands_and_what_sums_up_stands_together() -> None:
    draft = paper(
        ("Results", "First"), ("Results", "Wren reaches 61.0"), ("Results", "Last"), ("Conclusion", "It is 3 %")
    )
    last, check = look(draft).checks({1: (0,), 3: (0,)})
    assert isinstance(check.record, DraftRecord)
    assert isinstance(last.record, DraftRecord)
    assert (check.record.title, check.record.headings) == ("Wrens", ("Results",))
    assert (check.record.before, check.record.after) == ("First.", "Last.")
    assert (check.record.own_results, last.record.own_results) == (True, False)
    assert last.record.before == ""
    draft = paper(("Abstract", "Wren reaches 61.0"), ("Results", "It did"), ("Conclusion", "Lark reaches 58.5"))
    (both,) = look(draft).checks(look(draft).straight)
    assert isinstance(both.record, DraftRecord)
    assert both.places == ((0, 0), (2, 0))
    assert both.record.paragraph == "(Abstract) Wren reaches 61.0. … (Conclusion) Lark reaches 58.5."
    assert (both.record.headings, both.record.own_results) == ((), False)
