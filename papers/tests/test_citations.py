"""Tables, figures and works as running text refers to them."""

from pathlib import Path

import pytest

from aisr_papers.citations import People, WorkIndex, find_marks, natbib_text, read_bibitem, read_bibtex
from aisr_papers.cited_claims import find_misquotes, find_quotes, split_claims
from aisr_papers.passages import float_names
from aisr_papers.readers.files import Files
from paper_support.drafts import draft


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fig. 2(a) and (b)", "Figure 2a, Figure 2b"),
        ("Figs. 2a-c, 3", "Figure 2a, Figure 2b, Figure 2c, Figure 3"),
        ("In Table 3, 12 systems", "Table 3"),
        ("Tables 1-400", "Table 1, Table 400"),
        ("a stable 3, a table of 4, figures", ""),
    ],
)
def test_names_in_running_text(text: str, names: str) -> None:
    assert ", ".join(float_names(text)) == names


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("It is so [3, 5–7].", "3 5 6 7"),
        ("It is so (Okafor, 2019; Marlow and Finch, 2021).", "okafor 2019/marlow 2021"),
        ("It is so (see Holm et al., 2020, 2021a, p. 3).", "holm 2020/holm 2021a"),
        ("Holm et al. (2021a,b) and Obi & Roe (2022, Section 3) say", "holm 2021a/holm 2021b/obi 2022"),
        ("It is so [see @holm:20, p. 3; -@obi].", "holm:20 obi"),
        ("On the coast (Kettle Bay in the autumn of 2019), in 2019 (F1 of 71.9) and (2019).", ""),
    ],
)
def test_citations_in_running_text(text: str, works: str) -> None:
    keys = [work for mark in find_marks(text) for work in mark.works]
    assert keys == (works.split("/") if "/" in works or " 1" in works else works.split())


WORKS = WorkIndex(
    [
        ("geva", People(("Geva", "Schuster", "Berant"), False, "2021")),
        ("rybicki", People(("Rybicki", "Press"), False, "1995")),
        ("smith2", People(("Smith", "Jones"), False, "2016")),
        ("smith3", People(("Smith", "Jones", "Lee"), False, "2016")),
        ("foreman-a", People(("Foreman-Mackey",), True, "2018a")),
        ("foreman-b", People(("Foreman-Mackey",), True, "2018b")),
        ("astropy", People(("Astropy Collaboration",), True, "2013")),
        ("plas", People(("VanderPlas",), False, "2018")),
        ("oneil", People(("de la Cruz", "Ó’Neil"), False, "2001")),
    ]
)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("(Geva et al., 2021; Rybicki & Press, 1995)", "geva rybicki"),
        ("Geva, Schuster, and Berant (2021) and Astropy Collaboration et al. (2013)", "geva astropy"),
        ("(Foreman-Mackey et al. 2018a,b; Geva et al. 2021, Rybicki & Press 1995)", "foreman-a foreman-b geva rybicki"),
        ("Vander Plas (2018) and de la Cruz & O'Neil (2001)", "plas oneil"),
        ("(Foreman-Mackey et al., 2018), (Geva et al., 2022), (Gevas, 2021), Smith (2016) and (1995)", ""),
    ],
)
def test_works_are_linked_by_name_year_and_letter(text: str, keys: str) -> None:
    matches = [WORKS.find(one) for mark in find_marks(text) for one in mark.people]
    assert [key for key in matches if key] == keys.split()


@pytest.mark.parametrize(
    ("sentence", "works", "claims"),
    [
        ("Wind hides calls (Obi, 2022; Holm, 2020).", "o h", {"o": "Wind hides calls.", "h": "Wind hides calls."}),
        (
            "The first was trained in calm air (Holm, 2020, p. 3), and wind halves its range of hearing (Obi, 2022).",
            "h o",
            {"h": "The first was trained in calm air.", "o": "wind halves its range of hearing."},
        ),
        ("Wind, which is loud, hides calls [1], but not in winter.", "1",
         {"1": "Wind, which is loud, hides calls, but not in winter."}),
        ("It is 73 [71, 75] as it was [2].", "2", {"2": "It is 73 [71, 75] as it was."}),
    ],
)  # fmt: skip
def test_a_sentence_is_split_into_one_claim_a_citation(sentence: str, works: str, claims: dict[str, str]) -> None:
    assert dict(split_claims(sentence, works.split())) == claims


# --- Quotes of a draft, looked up in the works that their sentence cites

CITED = {
    "obi": {
        "P1": "We recorded for forty nights.",
        "P2": "The range of a recorder falls by half when the wind rises from two to six metres a sec-\nond. "
        "Rain was rare.",
        "P3": "Birds that fly in silence are counted by nobody, which ﬁgures cannot mend.",
    },
    "holm": {"P1": "Thresholds need no training, and they are still in use where power is scarce."},
}


def wrong(text: str, cites: tuple[str, ...] = ("obi",)) -> list[tuple[str, str, str]]:
    return [(one.work, one.true, one.source) for one in find_misquotes(draft(text, work_keys=cites), CITED)]


RIGHT = [
    "Obi writes that “the range of a recorder falls by half when the wind rises”.",
    'Obi writes: "Birds that fly in silence are counted by nobody, which figures cannot mend."',
    "“[T]he range of a recorder falls by half … from two to six metres a second”, says Obi.",
    "“The range of a recorder falls by half [...] metres a second. Rain was rare.”",
    "Obi says “when the wind rises from two to six metres a second rain was rare”, which is one of two sentences.",
    "Obi calls this “the silent flight problem” and “wind”, and it is “so it is in fog”.",  # too short to be verbatim
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_quote_that_stands_in_the_cited_work_is_no_finding(text: str) -> None:
    assert wrong(text) == []


def test_a_wrong_quote_comes_with_the_nearest_true_wording() -> None:
    both = "They say that “thresholds need much training, and they are still in use where power is scarce”."
    assert wrong(both, ("obi", "holm")) == [("holm", CITED["holm"]["P1"], "P1")]


def test_words_that_stand_far_apart_in_a_sentence_are_no_wording() -> None:
    far = (
        "The results of the first year show that growth, as all of us had hoped, is the strongest part of a plan in "
        "which the planting of each tree, whatever its kind, is done in May, when the soil is wet, far from any wood."
    )
    made = draft("Obi writes of “the growth of the tree in the wood”.", work_keys=("obi",))
    assert [one.true for one in find_misquotes(made, {"obi": {"P1": far}})] == [""]


def test_a_quote_beside_a_work_without_a_file_is_not_judged() -> None:
    assert wrong("They say that “bats raise their voices when they are loud”.", ("obi", "unseen")) == []
    assert wrong("They say that “bats raise their voices when they are loud”.", ()) == []


def test_quotes_are_what_is_long_enough_to_be_verbatim() -> None:
    ends = 'It ended in wind." And then she went on to say "rain'  # the end of one, the start of another
    assert find_quotes(ends) == []
    text = 'He said “one two three four five six” and "seven eight", 5" and 7" wide.'
    assert find_quotes(text) == ["one two three four five six"]


def test_odd_names_of_a_bibliography_can_be_printed(tmp_path: Path) -> None:
    works = read_bibtex("@misc{a, author={others and others}, year=2011}", "a.bib", Files(tmp_path))
    works["b"] = read_bibitem("b", "(2013)", "Nobody 2013.")
    assert natbib_text(["a"], works, "", "", True) == "others et al. (2011)"
    assert natbib_text(["b"], works, "", "", True) == "[@b]"
