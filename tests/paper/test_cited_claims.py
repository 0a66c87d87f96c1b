"""Quotes of a draft, looked up in the works that their sentence cites."""

import pytest

from aisr.paper.cited_claims import find_misquotes, find_quotes
from support.drafts import draft

CITED = {
    "obi": {
        "P1": "We recorded for forty nights.",
        "P2": "The range of a recorder falls by half when the wind rises from two to six metres a sec-\nond. "
        "Rain was rare.",
        "P3": "Birds that fly in silence are counted by nobody, which ﬁgures cannot mend.",
    },
    "holm": {"P1": "Thresholds need no training, and they are still in use where power is scarce."},
}


def wrong(text: str, cites: tuple[str, ...] = ("obi",)) -> list[tuple[str, str | None, str]]:
    return [(one.work, one.true, one.source) for one in find_misquotes(draft(text, work_keys=cites), CITED)]


RIGHT = [
    "Obi writes that “the range of a recorder falls by half when the wind rises”.",
    "Obi writes that ``the range of a recorder falls by half'' in wind.",
    'Obi writes: "Birds that fly in silence are counted by nobody, which figures cannot mend."',
    "“[T]he range of a recorder falls by half … from two to six metres a second”, says Obi.",
    "“The range of a recorder falls by half [...] metres a second. Rain was rare.”",
    "Obi calls this “the silent flight problem” and “wind”.",  # terms, not verbatim sentences
    "Obi measured how far recorders hear in the wind of autumn.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_quote_that_stands_in_the_cited_work_is_no_finding(text: str) -> None:
    assert wrong(text) == []


def test_a_wrong_quote_comes_with_the_nearest_true_wording() -> None:
    assert wrong(
        "Obi says: “The range of a recorder falls by a third when the wind rises from two to six metres”."
    ) == [("obi", "The range of a recorder falls by half when the wind rises from two to six metres", "P2")]
    assert wrong("Obi says that “bats raise their voices when their neighbours are loud”.") == [("obi", None, "")]
    both = "They say that “thresholds need much training, and they are still in use where power is scarce”."
    assert wrong(both, ("obi", "holm")) == [("holm", CITED["holm"]["P1"].rstrip("."), "P1")]


def test_a_quote_beside_a_work_without_a_file_is_not_judged() -> None:
    assert wrong("They say that “bats raise their voices when they are loud”.", ("obi", "unseen")) == []
    assert wrong("They say that “bats raise their voices when they are loud”.", ()) == []


def test_a_cited_text_without_an_end_of_a_sentence_is_compared_in_pieces() -> None:
    endless = {"obi": {"P1": "a b c d e f g. " * 2_000}}
    made = draft("Obi: “" + "a b c d f e " * 60 + "”.", work_keys=("obi",))
    assert len(list(find_misquotes(made, endless))) == 1


def test_quotes_are_what_is_long_enough_to_be_verbatim() -> None:
    assert (
        find_quotes('It ended in wind." And then she went on to say "rain') == []
    )  # the end of one, the start of another
    text = 'He said “one two three four five six” and "seven eight", 5" and 7" wide.'
    assert find_quotes(text) == ["one two three four five six"]
