"""Captions and notes of tables are judged like other sentences, against their own cells."""

from pathlib import Path

import pytest

from aisr.paper.check.checks import collect_checks
from aisr.paper.check.exact import read_paper
from aisr.paper.check.records import Check
from aisr.paper.draft import CAPTIONS, Draft, Float, add_captions
from aisr.programs.track1.record import Track1Record
from support.drafts import SITES, draft, table

TABLE = r"""\documentclass{article}
\begin{document}
We listened at two sites.
\begin{table}
\centering
\caption{F1 of two birds. Wren is best at both
sites, and all are above 60.0.}
\begin{tabular}{lrr}
 & Bog & Heath \\
Wren & \textbf{61.0} & 72.4 \\
Lark & 58.5 & 66.1 \\
\end{tabular}
\end{table}
\end{document}
"""


def of_captions(made: Draft) -> list[Check]:
    whole = add_captions(made)
    return [one for one in collect_checks(whole, {}).claims if whole.paragraphs[one.places[0][0]].table_key is not None]


def judged(caption: str, notes: str = "", bold: bool = False) -> list[str]:
    one: Float = table(SITES, caption, bold=frozenset({(2, 1)}) if bold else frozenset())
    checks = of_captions(draft("We listened.", tables=(one._replace(notes=notes),)))
    return [sentence for one in checks if isinstance(one.record, Track1Record) for sentence in one.record.statements]


@pytest.mark.parametrize(
    ("caption", "notes", "wanted"),
    [
        ("F1 of three detectors at 2 sites.", "", []),  # a title
        ("F1 (all p > .3).", "", ["Table 1: F1 (all p > .3)."]),
        ("F1.", "Finch reaches 49.2 at Bog. Averages over seeds.", ["Finch reaches 49.2 at Bog."]),
        ("F1. * p < .05, ** p < .01.", "a: of 300 calls.", []),  # what signs mean
        ("F1 [@ash2020; @elm2019]. See Table 4.", "", []),
        ("F1. Best in bold.", "", []),  # no cell is known to be bold
    ],
)
def test_statements_are_judged_and_titles_and_legends_are_not(caption: str, notes: str, wanted: list[str]) -> None:
    assert judged(caption, notes) == wanted


def test_bold_cells_are_marked_where_the_caption_speaks_of_them() -> None:
    one = table(SITES, "F1 of birds. The bold Lark is best at Bog.", bold=frozenset({(2, 1)}))
    (check,) = of_captions(draft("We listened.", tables=(one,)))
    (item,) = check.record.evidence_bundle  # type: ignore[union-attr]
    assert item.caption == "Table 1: F1 of birds."  # what is judged is no evidence for itself
    assert "Wren\t**61.0**\t70.5" in item.text
    assert judged("F1. Wren is better than Lark.", bold=True) == ["Wren is better than Lark."]


def test_a_caption_stands_at_its_line_and_what_is_judged_is_that_sentence(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text(TABLE)
    made, _ = read_paper(tmp_path / "main.tex", None, None, None)
    (check,) = collect_checks(made, {}).claims
    paragraph = made.paragraphs[check.places[0][0]]
    assert paragraph.headings == (CAPTIONS,)
    assert [one.text for one in paragraph.sentences] == [
        "Table 1: F1 of two birds.", "Wren is best at both sites, and all are above 60.0.",
    ]  # fmt: skip
    assert [place for _, place in check.places] == [1]
    assert str(paragraph.sentences[1].place) == "main.tex:6"


@pytest.mark.parametrize(
    ("caption", "is_result"),
    [
        ("F1. Bold marks the highest score of each column; second best underlined.", False),
        ("F1. We show the best of our models in bold.", False),
        ("F1. Our best scores, in bold, exceed all others.", True),
    ],
)
def test_how_cells_are_marked_is_no_result(caption: str, is_result: bool) -> None:
    assert judged(caption, bold=True) == ([caption.partition(". ")[2]] if is_result else [])
