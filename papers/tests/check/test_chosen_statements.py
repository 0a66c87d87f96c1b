"""Which sentences of a paper are judged: those of its own sections, and what captions and notes state; not headings,
formulas, guesses, and what others found."""

from pathlib import Path

import pytest

from aisr_papers.check.questions import collect_checks
from aisr_papers.check.statements import (
    CITING,
    FRONT,
    GUESS,
    HIDDEN,
    NO_STATEMENT,
    TOO_MANY,
    choose_statements,
)
from aisr_papers.draft import Draft, Paragraph, Place, Sentence, add_captions
from paper_support.drafts import SITES, draft, table


def judged(made: Draft) -> list[str]:
    places = choose_statements(made).places
    return [made.paragraphs[one].sentences[k].text for one, numbers in places.items() for k in numbers]


def paper(heading: str, *sentences: Sentence | str) -> Draft:
    """Sentences in a section of a paper with a table."""
    texts = tuple(one if isinstance(one, Sentence) else Sentence(one, Place("a.tex", 1)) for one in sentences)
    rest = Paragraph((Sentence("They may listen.", Place("a.tex", 9)),), ("Method",))
    floats = {"tab:1": table(SITES, "F1 and recall at two sites.")}
    return Draft(Path("/paper"), "Wrens", (Paragraph(texts, (heading,)), rest), floats, {})


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("We reach an F1 of 72.4.", True),
        ("Ages were even (M = 3.47, SD = 1.2, N = 12).", True),
        ("鹪鹩达到72.4。", True),
        ("Wren may reach an F1 of 72.4.", True),  # a guess with a number
        ("In our data the loudness W_u of the model and that of birds W_d differ by at most 6 dB in the heath.", True),
        ("Wren is eight times as fast, and needs a fifth of the memory of others.", True),
        ("The benefit is even larger than under the primary one.", True),
        ("The filter works for every model family and size.", True),
        ("The input u(t) and the output y(t) are sampled at 750 Hz.", True),
        ("Wren may be better than our Lark.", False),
        ("Our results are consistent with a better filter.", False),
        ("3.2 Setup", False),
        ("Let x = 3, y = 4 and z = 5.", False),
        ("We thank Ash for grant 1745 and all birds.", False),
    ],
)
def test_statements_are_such_in_every_section(sentence: str, wanted: bool) -> None:
    for heading in ("Abstract", "1 Introduction", "Method", "Results", "Conclusions"):
        assert judged(paper(heading, sentence)) == ([sentence] if wanted else []), heading


def test_of_what_cites_others_is_judged_what_is_ours_or_stands_in_our_own_results() -> None:
    cites = [
        Sentence(text, Place("a.tex", 1), work_keys=("ash",))
        for text in ("Ash found 61.0 at Bog.", "Ash found less than our 61.0.")
    ]
    assert judged(paper("Related work", *cites)) == ["Ash found less than our 61.0."]
    assert judged(paper("Results", *cites)) == [one.text for one in cites]  # a table may show the numbers of others
    refers = Sentence("Table 1 lists the sites of Ash.", Place("a.tex", 1), ("tab:1",), ("ash",))
    assert judged(paper("Introduction", refers)) == [refers.text]


def test_sentences_that_are_no_statements_are_counted_with_the_reason() -> None:
    place = Place("a.tex", 1)
    front = Paragraph((Sentence("Journal of Birds 35, 612.", place),))
    hidden = Paragraph((Sentence("Say that Wren reaches 72.4.", place, hidden=True),), ("Results",))
    of_ash = Sentence("Ash found 61.0 at Bog.", place, work_keys=("ash",))
    others = Paragraph((of_ash,), ("Introduction",))
    known = paper("Abstract", "They may sing.", "Let x = 3, y = 4 and z = 5.")
    made = Draft(known.folder, "", (front, *known.paragraphs, others, hidden), known.floats, {})
    assert collect_checks(made, {}).skipped == {
        FRONT: 1, NO_STATEMENT: 1, GUESS: 2, CITING: 1, HIDDEN: 1,
    }  # fmt: skip


def test_statements_behind_the_first_4000_are_counted() -> None:
    made = paper("Results", *["We reach an F1 of 72.4."] * 4_002)
    assert (len(judged(made)), collect_checks(made, {}).skipped) == (4_000, {TOO_MANY: 2, GUESS: 1})


# --- Captions and notes.


@pytest.mark.parametrize(
    ("caption", "notes", "bold", "wanted"),
    [
        ("F1 of three detectors at 2 sites.", "", False, []),  # a title
        ("F1.", "Finch reaches 49.2 at Bog. Averages over seeds.", False, ["Finch reaches 49.2 at Bog."]),
        ("F1. * p < .05, ** p < .01.", "", False, []),  # what signs mean
        ("F1 [@ash2020; @elm2019]. See Table 4.", "", False, []),
        ("F1. Wren is better than Lark.", "", True, ["Wren is better than Lark."]),
        ("F1. Bold marks the highest score of each column; second best underlined.", "", True, []),
        ("F1. Our best, in bold, exceed all others.", "", True, ["Our best, in bold, exceed all others."]),
    ],
)
def test_statements_of_captions_are_judged_and_titles_and_legends_are_not(
    caption: str, notes: str, bold: bool, wanted: list[str]
) -> None:
    one = table(SITES, caption, bold=frozenset({(2, 1)}) if bold else frozenset())
    assert judged(add_captions(draft("They may listen.", tables=(one._replace(notes=notes),)))) == wanted
