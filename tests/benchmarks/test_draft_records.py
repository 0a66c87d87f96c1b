"""Labelled records of drafts, made of a paper with planted faults."""

from pathlib import Path

from aisr.checker.reading import read_paper
from aisr.paper.latex import read
from aisr.programs.records.draft import DraftRecord
from benchmarks.injected_errors.errors import Fault, Kind
from benchmarks.injected_errors.paper import plantable, planted
from benchmarks.injected_errors.records import labelled
from support import source


def records(tmp_path: Path, kind: Kind | None) -> tuple[list[DraftRecord], list[Fault]]:
    paper = source.write(tmp_path / "paper")
    was = read(paper)
    edits = plantable(was, 1)
    wanted = [next(one for one in edits if one.kind is kind)] if kind else []
    (tmp_path / "copy").mkdir()
    made = planted(paper, was, edits, wanted, (tmp_path / "copy").resolve())
    found = labelled(read_paper(made.paper, None, None, None)[0], wanted, "wrens-1")
    return [one for one in found if isinstance(one, DraftRecord)], wanted


def labels(found: list[DraftRecord]) -> dict[str, str]:
    return {one.sentence: str(one.label) for record in found for one in record.sentences}


def test_what_a_table_bears_out_is_supported_and_nothing_else_has_a_label(tmp_path: Path) -> None:
    found, _ = records(tmp_path, None)
    assert labels(found) == {
        "At Heath, Wren reaches an F1 of 72.4 (Table 1).": "Supported",
        "At Bog, Wren is higher than Lark in F1 : we like it.": "Supported",
        "At Heath, Wren is 6.3 points of F1 better than Lark (Table 1).": "Supported",
        "On this table, the F1 at Bog of Finch is 49.2.": "Supported",
    }
    assert all(record.id.startswith("wrens-1:main.tex:") for record in found)
    assert all(any("72.4" in item.text for item in record.evidence_bundle) for record in found)


def test_a_planted_sentence_is_labelled_by_its_kind(tmp_path: Path) -> None:
    for kind, label in (
        (Kind.NUMBER, "Contradicted"),
        (Kind.NAME, "Contradicted"),
        (Kind.SCOPE, "Beyond the evidence"),
    ):
        found, (fault,) = records(tmp_path / kind, kind)
        said = labels(found)
        assert [text for text, given in said.items() if given != "Supported"] == [
            text for text, given in said.items() if given == label
        ]
        assert sum(given == label for given in said.values()) == 1
        assert fault.words.strip(", ") in next(text for text, given in said.items() if given == label)
