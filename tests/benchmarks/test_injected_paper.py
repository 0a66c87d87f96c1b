"""Faults planted in a paper: the table denies them, and nothing else changes; what it does not decide is left alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from aisr.paper.draft import Draft
from aisr.paper.readers.latex import read
from benchmarks.injected_errors.errors import Fault, Kind, faults
from benchmarks.injected_errors.paper import InjectedPaper, choose_errors, inject_errors, possible_errors
from support import source
from support.drafts import SITES, draft, table


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return source.write(tmp_path / "paper")


def copy(paper: Path, to: Path, wanted: Sequence[Fault]) -> InjectedPaper:
    to.mkdir()
    was = read(paper)
    return inject_errors(paper, was, possible_errors(was, 1), wanted, to.resolve())


def sentence_text(paper: Draft, fault: Fault) -> str:
    return paper.paragraphs[fault.paragraph].sentences[fault.sentence].text


def test_a_fault_of_each_kind_is_planted_in_the_source_and_nothing_else_is_changed(paper: Path, tmp_path: Path) -> None:
    was = read(paper)
    possible = list(possible_errors(was, 1))
    for kind in Kind:
        fault = next(one for one in possible if one.kind is kind)
        made = copy(paper, tmp_path / kind, [fault])
        assert made.faults == (fault,)
        changed = sentence_text(made.draft, fault)
        assert changed == fault.changed(sentence_text(was, fault)) != sentence_text(was, fault)
        lines = [text.read_text().splitlines() for text in (paper, made.paper)]
        assert len(lines[0]) == len(lines[1])
        assert len([True for old, new in zip(*lines, strict=True) if old != new]) == 1
    assert paper.read_text() == source.SOURCE


def test_several_faults_at_once_each_in_a_sentence_of_its_own(paper: Path, tmp_path: Path) -> None:
    was = read(paper)
    wanted = choose_errors(possible_errors(was, 1), 4, 1)
    made = copy(paper, tmp_path / "copy", wanted)
    assert len(wanted) == 4
    assert len({(one.paragraph, one.sentence) for one in wanted}) == 4
    assert list(made.faults) == wanted
    changed = [
        (number, place)
        for number, paragraph in enumerate(was.paragraphs)
        for place, one in enumerate(paragraph.sentences)
        if made.draft.paragraphs[number].sentences[place].text != one.text
    ]
    assert changed == [(one.paragraph, one.sentence) for one in wanted]


TABLES = (table(SITES, "F1 and recall."),)


@pytest.mark.parametrize(
    ("text", "kind", "old", "new"),
    [
        ("At Heath, Wren reaches an F1 of 72.4.", Kind.NUMBER, "72.4", None),
        ("At Heath, Wren is 6.3 points of F1 better than Lark (Table 1).", Kind.DIFFERENCE, "6.3", None),
        ("At Heath, Wren is 6.3 points of F1 better than Lark (Table 1).", Kind.DIRECTION, "better", "worse"),
        ("At Bog, Wren is higher than Lark.", Kind.DIRECTION, "higher", "lower"),
        ("The F1 of Wren rises from Bog to Heath.", Kind.DIRECTION, "rises", "falls"),
        ("Wren has the best F1 at Bog.", Kind.DIRECTION, "best", "worst"),
        ("Wren has the best F1 at Bog.", Kind.NAME, "Wren", None),
        ("At Heath, Wren reaches an F1 of 72.4.", Kind.NAME, "Heath", "Bog"),
        ("At Heath, Wren reaches an F1 of 72.4.", Kind.SCOPE, "", None),
        ("At Heath, Wren reaches an F1 of 72.4.", Kind.CAUSE, "", None),
    ],
)
def test_what_a_table_bears_out_can_be_made_false(text: str, kind: Kind, old: str, new: str | None) -> None:
    possible = [
        one for one in faults(draft(text, tables=TABLES), 1) if one.kind is kind and text[one.start : one.end] == old
    ]
    assert len(possible) == 1
    assert new in (None, possible[0].words)
    assert possible[0].table == "Table 1"


@pytest.mark.parametrize(
    "text",
    [
        "At Heath, Wren reaches an F1 of 75.0 (Table 1).",  # the table has it otherwise
        "At Heath, Lark outperforms Wren in F1 (Table 1).",  # wrong as it is
        "We listened on 72 nights at 12 sites.",  # nothing of the table is named
        "Wren does not have a higher F1 than Lark at Bog.",
        "The gain is largest at Heath.",  # of differences, not of cells
        "Wren is better than the bats.",
    ],
)
def test_what_no_table_bears_out_is_left_alone(text: str) -> None:
    assert faults(draft(text, tables=TABLES), 1) == []


def test_what_leads_out_of_the_folder_is_not_copied(paper: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (paper.parent / "link.txt").symlink_to(tmp_path / "secret.txt")
    (paper.parent / ".git").mkdir()
    (paper.parent / ".git" / "config").write_text("x")
    made = copy(paper, tmp_path / "copy", list(possible_errors(read(paper), 1))[:1])
    assert [file.name for file in made.paper.parent.iterdir()] == ["main.tex"]
