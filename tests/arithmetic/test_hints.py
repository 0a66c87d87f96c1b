"""What was recomputed goes to the LM as one more item of evidence."""

from aisr.programs.records.track1 import Track1Record
from aisr.tasks.paper_checks import checks
from support.drafts import SITES, draft, table

TABLES = (table(SITES, "F1 and recall."),)


def items(*said: str) -> list[str]:
    (check,) = checks(draft(*said, tables=TABLES), {}).claims
    assert isinstance(check.record, Track1Record)
    return [item.text or "" for item in check.record.evidence_bundle if item.type == "text"]


def test_a_paragraph_is_shown_with_what_was_recomputed_of_its_sentences() -> None:
    (told,) = items(
        "Table 1 shows the sites.", "At Bog, Wren is 2.5 points of F1 better than Lark.",
        "At Heath, Wren reaches an F1 of 74.4.",
    )  # fmt: skip
    assert told == (
        "Recomputed by a program from the numbers of this paper; it may have taken others than a sentence means. "
        "Sentence 2 agrees: 61.0 − 58.5 = 2.5 in Table 1 (Wren, Bog, F1 against Lark, Bog, F1). "
        "Sentence 3 differs: Table 1 has 72.4 there (Wren, Heath, F1)."
    )
    assert "74.4" not in told  # a sentence's own number would pass for evidence


def test_a_paragraph_of_which_nothing_was_recomputed_is_shown_as_before() -> None:
    assert items("Wren is best at all sites (Table 1).") == []
