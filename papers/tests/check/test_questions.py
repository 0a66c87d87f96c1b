"""What is asked about the statements of a paper: which stand in one question, and what of the paper is shown."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from aisr.text import tokens
from aisr_papers.check.questions import AT_ONCE, LEFT_OUT, MOST_TOKENS, collect_checks
from aisr_papers.draft import Draft, Float, Paragraph, Picture, Place, Sentence, add_captions
from aisr_papers.draft_record import DraftRecord
from aisr_papers.passages import float_keys, keys_by_name
from paper_support.drafts import COSTS, SITES, table

TABLES = (table(SITES, "F1 and recall at two sites."), table(COSTS, "Cost of a night.", 2))
PAPERS = {"obi": {"P1": "It is windy.", "P2": "Very."}, "holm": {"P1": "Birds."}, "empty": {}}


def figure(number: str, caption: str, *pictures: str) -> Float:
    files = tuple(Picture(Path(one)) for one in pictures)
    return Float(f"fig:{number}", f"Figure {number}", "figure", caption, Place("main.tex", 80), "", files)


def paper(*sections: tuple[str, str], floats: tuple[Float, ...] = TABLES, cites: tuple[str, ...] = ()) -> Draft:
    """Sections of a heading and sentences, which full stops end; with captions."""
    by_key = {one.key: one for one in floats}
    paragraphs = tuple(
        Paragraph(
            tuple(
                Sentence(f"{text}.", Place("main.tex", line), float_keys(text, keys_by_name(by_key)), cites)
                for text in section.split(". ")
            ),
            (heading,),
        )
        for line, (heading, section) in enumerate(sections, start=1)
    )
    return add_captions(Draft(Path("/paper"), "Wrens", paragraphs, by_key, {}))


def records(draft: Draft) -> list[DraftRecord]:
    return [one.record for one in collect_checks(draft, {}).claims if isinstance(one.record, DraftRecord)]


def evidence(record: DraftRecord) -> list[str]:
    return [f"{item.caption} {item.text}".strip() for item in record.evidence_bundle]


BODY = (
    ("Abstract", "Wren reaches an F1 of 72.4 on the heath at night"),
    ("Method", "We trained for a while. The heath was dry"),
    ("Results", "On the heath the filter of Wren pays, with an F1 of 72.4. A night takes 6.3 minutes"),
    ("Conclusion", "Wren reaches an F1 of 74.2 on the heath at night. Silence may remain"),
)


def test_a_statement_is_held_against_tables_with_its_numbers_and_passages_and_no_restatement() -> None:
    summary, body = records(paper(*BODY))
    assert summary.statements == ["Wren reaches an F1 of 72.4 on the heath at night.", BODY[3][1].split(". ")[0] + "."]
    texts = evidence(summary)
    assert texts[0].startswith("Table 1: F1 and recall at two sites.")
    assert "Wren\t61.0\t70.5\t72.4\t79.1" in texts[0]
    assert any(one.startswith("Section “Results”: On the heath the filter") for one in texts)
    assert not any("Conclusion" in one or "74.2" in one for one in texts)
    assert [one.split(":")[0] for one in evidence(body)] == ["Table 1", "Table 2"]  # nothing of its own paragraph


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Table 3 says so. Wren and Lark are higher", "Table 3"),
        ("Tables 3 to 5 are short. At Heath the recall of Lark is 74.8", "Table 1"),
    ],
)
def test_of_more_tables_than_are_shown_come_those_referred_to_and_those_with_rare_numbers_and_names(
    text: str, name: str
) -> None:
    robins = "\n".join(f"Robin {night} | 31 | 74" for night in range(90))
    songs = [table(f"Bird | Songs {k} | Calls {k}\n{robins}", "Songs.", k) for k in range(3, 13)]
    (record,) = records(paper(("Results", text), floats=(*songs, *TABLES)))
    shown = [one.partition(":")[0] for one in evidence(record)]
    assert name in shown
    assert len(shown) < len(songs)


def test_evidence_keeps_to_a_budget_and_a_long_table_to_the_rows_that_are_named() -> None:
    birds = [f"Finch-{k} | {k}.25 | {k}.75" for k in range(300)]
    rows = "\n".join([*birds[:200], "Heath", *birds[200:]])
    long = table(f"Detector | F1 | Recall\n{rows}", "All.", 3)
    results = [("Results", f"Wren was heard often. Nobody heard Lark at the bog in week {k}") for k in range(60)]
    draft = paper(("Abstract", "Finch-270 reaches 270.25. Wren reaches 61.0"), *results, floats=(*TABLES, long))
    first, *rest = records(draft)
    (cut,) = [text for text in evidence(first) if text.startswith("Table 3")]
    assert cut.splitlines()[0] == "Table 3: All. Detector\tF1\tRecall"
    assert "Heath\nFinch-270\t270.25" in cut  # with its section
    assert cut.endswith(LEFT_OUT)
    assert all(sum(map(tokens, evidence(one))) < MOST_TOKENS for one in (first, *rest))
    many = paper(("Abstract", ". ".join(f"Wren gains {k + 3} %" for k in range(2 * AT_ONCE + 1))))
    assert [len(one.statements) for one in records(many)] == [AT_ONCE, AT_ONCE, 1]


def test_a_record_says_where_a_sentence_stands_and_what_sums_up_stands_together() -> None:
    sections = ("Results", "Birds may sing"), ("Results", "Wren reaches 61.0"), ("Results", "It may rain")
    summary, body = records(paper(("Abstract", "Lark reaches 58.5"), *sections, ("Conclusion", "It is 3 % of Wren")))
    assert (body.title, body.headings, body.before, body.after) == (
        "Wrens",
        ("Results",),
        "Birds may sing.",
        "It may rain.",
    )
    assert (body.own_results, summary.own_results) == (True, False)
    assert summary.paragraph == "(Abstract) Lark reaches 58.5. … (Conclusion) It is 3 % of Wren."
    assert (summary.headings, summary.before) == ((), "")


def test_captions_are_held_against_their_table_and_those_of_figures_against_the_rest() -> None:
    birds = table(SITES, "F1 of birds. The bold Lark is best at Bog.", bold=frozenset({(2, 1)}))
    plot = figure("1", "Wren over time. At Bog, Wren reaches 63.0.")
    body, captions = records(paper(("Results", "At Bog, Wren reaches 61.0"), floats=(birds, plot)))
    assert captions.statements == ["The bold Lark is best at Bog.", "At Bog, Wren reaches 63.0."]
    (item,) = [one for one in captions.evidence_bundle if one.type == "table"]
    assert item.caption == "Table 1: F1 of birds."  # what is judged is no evidence for itself
    assert "Wren\t**61.0**\t70.5" in item.text
    assert not any("63.0" in text for text in evidence(captions))
    assert any("At Bog, Wren reaches 61.0" in text for text in evidence(captions))
    assert any("63.0" not in text for text in evidence(body))


def test_pictures_are_shown_where_a_statement_refers_to_them() -> None:
    plots = figure("1", "F1.", "/paper/a.png"), figure("2", "Wren at Bog, 61.0.", "/paper/b.png", "/elsewhere/c.png")

    def shown(text: str) -> set[str]:
        first = records(paper(("Results", text), floats=plots))[0]
        return {item.img_path for item in first.evidence_bundle if item.img_path}

    assert shown("F1 is higher at Bog (Figure 1)") == {"a.png"}
    assert shown("Figure 1 shows it. F1 rises by 3 points") == {"a.png"}
    assert shown("F1 is higher at Bog") == set()
    assert shown("Figure 2 shows it. Wren reaches 61.0") == {"b.png"}  # nothing outside of the folder


def test_citing_sentences_become_one_claim_a_citation() -> None:
    made = paper(
        ("Method", "It is windy there (Obi, 2022), and birds are seen there (Holm, 2020)"), cites=("obi", "holm")
    )
    gone = paper(("Method", "So it is (Roe, 2001; Void, 2002)"), cites=("roe", "empty"))
    checks = collect_checks(made, PAPERS)
    assert [(one.work, one.statements) for one in checks.citations] == [
        ("obi", ("It is windy there.",)), ("holm", ("birds are seen there.",)),
    ]  # fmt: skip
    record = checks.citations[0].record
    assert isinstance(record, Mapping)
    assert {key: text for one in record["cited_paper_full_text"] for key, text in one.items()} == PAPERS["obi"]
    assert collect_checks(gone, PAPERS).missing == {"roe": 1, "empty": 1}
