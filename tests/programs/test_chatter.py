"""What an LM writes around its quotes is taken off; what stands in the paper never is."""

import pytest

from aisr.programs.text.chatter import quotes_alone
from aisr.programs.text.loose_match import closest, letters, stretch

PLOTS, COVER = "Forty plots were drawn at random.", "Cover was measured by counting points."
PAPER = (
    f"{PLOTS} {COVER} Based on earlier work we chose three measures: cover, height and colour. This claim was tested "
    'in a passage of time. The authors "disagreed" on it (Section 2.1). 1. First they drew lots.',
)


def quotes(*said: str) -> list[str]:
    return quotes_alone(said, lambda text: stretch(text, PAPER) is not None)


@pytest.mark.parametrize(
    "said",
    [
        (f"Here are two relevant evidence sentences from the given article:\n\n- {PLOTS}\n- {COVER}",),
        ("Sure! Here are the passages that ground the claim:", f"1) {PLOTS}", f"2) “{COVER}” (p. 3)"),
        (f"Evidence 1: {PLOTS}", f'**Evidence 2:** "{COVER}"'),
        (f"Based on the article, the following clauses support the claim: {PLOTS}", f"[P2]: {COVER}"),
        (f'The paper states: "{PLOTS}"', f'"{COVER}" - This sentence describes the measure.'),
        (f"(1) {PLOTS}\n(2) {COVER}\n\nThese passages explain how the claim was tested. I hope this helps!",),
        (f"<quote>{PLOTS}</quote>", f"```\n{COVER}\n```"),
        (f"• {PLOTS[:16]}\n  {PLOTS[17:]}\n• {COVER} (Section 4)",),
        (PLOTS, COVER, PLOTS),
    ],
)
def test_chatter_is_taken_off(said: tuple[str, ...]) -> None:
    found = quotes(*said)
    assert [" ".join(text.split()) for text in found] == [PLOTS, COVER]


@pytest.mark.parametrize(
    "text",
    [
        "Based on earlier work we chose three measures: cover, height and colour.",
        "This claim was tested in a passage of time.",
        'The authors "disagreed" on it (Section 2.1)',
        "Participants: 212 adults from the register.",  # in no paper, and nothing that only an LM writes
    ],
)
def test_what_may_be_the_papers_stays(text: str) -> None:
    assert [letters(quote) for quote in quotes(text)] == [letters(text).removesuffix("section21")]


@pytest.mark.parametrize(
    "text", ["None", "N/A", "No evidence was found.", "Let me know if you need more quotes.", "", " - "]
)
def test_nothing_is_nothing(text: str) -> None:
    assert quotes(text) == []


def test_a_stretch_ends_with_its_sentence_and_stays_in_its_text() -> None:
    texts = ("One ﬁne day (it was", "May) they all came home.")
    assert stretch("fine day it was", texts) == "ﬁne day (it was"
    assert stretch("they ALL came-home", texts) == "they all came home."
    assert stretch("it was May they all came", texts) is None  # no text holds all of it
    assert stretch("all came", texts) is None  # too short to tell


def test_a_misread_copy_is_known_among_candidates() -> None:
    assert closest("Forty p1ots were drawn at randorn", [COVER, PLOTS]) == PLOTS
    assert closest("Thirty moths were caught in nets", [COVER, PLOTS]) is None
    assert closest("Forty", [PLOTS]) is None
    assert closest("a" * 3000, ["a" * 3000]) is None  # compared sign by sign it would take too long
