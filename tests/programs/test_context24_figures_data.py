"""The organisers' figure files become records; citations and captions of figures and tables are read as papers spell
them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError, exit_code
from aisr.base.jsonl import read
from aisr.programs.context24_figures import convert as context24_figures_data
from aisr.programs.context24_figures.citations import citations, parts
from aisr.programs.context24_figures.convert import cleaned, convert
from aisr.programs.context24_figures.ranking import cited_by, documents, paper_of
from aisr.programs.context24_figures.task import CONTEXT24_FIGURES, Context24FiguresRecord

NAME = CONTEXT24_FIGURES.name
ONE_LINE = " ".join(f"Moss number {k} grows on a wall in the shade, as Fig. {1 + k % 3} shows." for k in range(60))
CLAIMS = [
    {"id": "a-1", "claim": "Moss likes shade.", "citekey": "moss2020", "dataset": "a", "findings": ['FIG 2A"']},
    {"id": "a-2", "claim": "Light kills moss.", "citekey": "moss2020", "dataset": "a", "findings": ["FIG 1\n"]},
    {"id": "a-1", "claim": "Moss likes  shade.", "citekey": "moss2020", "dataset": "a", "findings": ["FIG  2B"]},
    {"id": "a-2", "claim": "Rain helps.", "citekey": "moss2020", "dataset": "a", "findings": ["TAB 1, FIG 9"]},
    {"id": "a-3", "claim": "Rain hurts.", "citekey": "fern2021", "dataset": "a", "findings": ["FIG 1"]},
    {"id": "a-4", "claim": "Nothing is known.", "citekey": "lost2019", "dataset": "a", "findings": ["FIG 1"]},
]
CAPTIONS = {
    "CAPTION FIG1.png": r"'Figure 1: Moss.\n\n'",
    "CAPTION FIG2.png": r"'Figure 2: Light. (**A**) Shade at noon.\n\n'",
    "CAPTION FIG2-2.png": r"'(**B**) Sun at noon. (**B**) Sun at noon. (**B**) Sun at noon.\n\n'",
    "CAPTION FIG10.png": r"'\n\n[MISSING_PAGE_POST]\n\n'",
    "CAPTION TAB1.png": r"'\n\n## References\n\n* [1] A. Nobody (1999) A theory of theories'",
}


def files(folder: Path) -> list[Path]:
    """Claims, full texts, a folder of captions and one of pictures, as the organisers have them."""
    (folder / "task1.json").write_text(json.dumps(CLAIMS, indent=4))
    (folder / "texts.json").write_text(json.dumps({"moss2020": ONE_LINE, "fern2021": ["Ferns.", "", "See Fig. 1."]}))
    (folder / "captions").mkdir()
    (folder / "captions" / "moss2020.json").write_text(json.dumps(CAPTIONS))
    pictures = ["FIG 1", "FIG 2", "FIG 2A", "FIG 2B ", "FIG 10", "TAB 1", "CAPTION FIG1"]
    for paper, names in {"moss2020": pictures, "fern2021": ["FIG 1"]}.items():
        (folder / "figures" / paper).mkdir(parents=True)
        for name in names:
            (folder / "figures" / paper / f"{name}.png").touch()
    return [folder / "task1.json", folder / "texts.json", folder / "captions", folder / "figures"]


def test_files_become_records_and_every_change_is_listed(
    tmp_path: Path, aisr: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claims, papers, captions, figures = files(tmp_path)
    out = tmp_path / "records.jsonl"
    words = [claims, "--papers", papers, "--captions", captions, "--figures", figures, "--out", out]
    monkeypatch.setattr("sys.argv", ["data", *map(str, words)])
    assert exit_code(context24_figures_data.main) == 0
    changes = capsys.readouterr().out
    for change in (
        "a-1: findings: 'FIG 2A\"': now FIG 2A",
        "a-2: findings: 'FIG 1\\n': now FIG 1",
        "a-1: the same claim as a-1; now one, with the findings of both",
        "a-2: the id of another claim already; now a-2-2",
        "a-2-2: FIG 9: gold, and no element of moss2020",
        "a-4: left out; of lost2019 no figure or table is known",
        "moss2020: CAPTION TAB1.png: what was read is no caption",
        "moss2020: element 'FIG 2B ': now FIG 2B",
        "4 claims about 2 papers",
    ):
        assert change in changes
    records = {record.id: record for record in read(out, Context24FiguresRecord, NAME)}
    assert {key: record.findings for key, record in records.items()} == {
        "a-1": ["FIG 2A", "FIG 2B"], "a-2": ["FIG 1"], "a-2-2": ["TAB 1", "FIG 9"], "a-3": ["FIG 1"],
    }  # fmt: skip
    moss = {element.label: element for element in records["a-1"].elements}
    assert list(moss) == ["FIG 1", "FIG 2", "FIG 2A", "FIG 2B", "FIG 10", "TAB 1"]
    assert moss["FIG 1"].caption == "Figure 1: Moss."
    assert moss["FIG 2"].caption == "Figure 2: Light. (**A**) Shade at noon. (**B**) Sun at noon."
    assert moss["FIG 10"].caption == moss["TAB 1"].caption == ""
    assert moss["FIG 2B"].img_path == "moss2020/FIG 2B .png"
    assert len(records["a-1"].paragraphs) > 4
    assert " ".join(records["a-1"].paragraphs) == ONE_LINE
    checked = aisr("check", out, "--task", NAME, "--image-root", figures)
    assert "4 good records, 0 bad lines" in checked.out


@pytest.mark.parametrize("task", [NAME, "context24-text", "averitec"])
def test_check_names_the_command_that_mends(task: str, tmp_path: Path, aisr: Callable[..., Any]) -> None:
    claims = files(tmp_path)[0]
    checked = aisr("check", claims, "--task", task)
    assert checked.code == 2
    assert f"python -m aisr.programs.{task.replace('-', '_')}.convert {claims} " in checked.out + checked.err


@pytest.mark.parametrize(
    ("typed", "labels"),
    [
        ("“TAB  1”\n", ["TAB 1"]), ("Fig. 2(a)", ["FIG 2A"]), ("TABLE 3.", ["TAB 3"]), ("FIG 1S1A", ["FIG 1S1A"]),
        ("SUPPFIGS1", ["SUPP FIG S1"]), ("Supplementary Figure S1b", ["SUPP FIG S1B"]), ("SCHEME 1", ["SCHEME 1"]),
        ("FIG 2A, FIG 2B", ["FIG 2A", "FIG 2B"]), ("FIG 2, A and B", ["FIG 2A", "FIG 2B"]), ('"', []), ("x" * 200, []),
    ],
)  # fmt: skip
def test_labels_are_cleaned_by_rule(typed: str, labels: list[str]) -> None:
    assert cleaned(typed) == labels
    assert [again for label in labels for again in cleaned(label)] == labels


def test_bad_files_are_refused(tmp_path: Path) -> None:
    claims, *others = files(tmp_path)
    for content, message in (
        ({}, "expected a JSON list"),
        ([{**CLAIMS[0], "citekey": "../moss2020"}], "citekey '../moss2020': expected a name"),
        ([CLAIMS[5]], "no claim of a paper with figures"),
    ):
        claims.write_text(json.dumps(content))
        with pytest.raises(UserError, match=message):
            convert(claims, *others)


# --- Citations of figures and tables, in the spellings of papers


def short(text: str) -> str:
    """What a text cites: kind, `s` for supplementary, number, panels."""
    return " ".join(
        f"{cited.kind[0]}{'s' if cited.supplement else ''}{cited.number}{''.join(cited.panels)}"
        for cited in citations(text)
    )


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Fig. 2", "F2"),
        ("Fig. 2, A and B", "F2AB"),
        ("Fig. 2A and B show growth", "F2AB"),
        ("Fig. 1A,B,D–F", "F1ABDEF"),
        ("Fig. 5(a)–(c)", "F5ABC"),
        ("Figs. 5(a), 5(c) and 6", "F5A F5C F6"),
        ("Figs. 1-3", "F1 F2 F3"),
        ("Supplementary Fig. S1", "Fs1"),
        ("Extended Data Table 2", "Ts2"),
        ("Tables S1–S3", "Ts1 Ts2 Ts3"),
        ("Table IV", "T4"),
        ("Figure 1A—figure supplements 1 and 2B–C", "F1S1 F1S2BC"),
        ("Figure 1, figure supplement 1 and 2", "F1S1"),
        ("Additional file 1: Figure 3", "Fs3"),
        ("Figs. 3A and 4 in the Supplementary Materials", "Fs3A Fs4"),
        # What need not belong to a citation does not.
        ("In Fig. 2, 3 samples", "F2"),
        ("Fig. 2, E. coli grew", "F2"),
        ("Fig. 2a and a second", "F2A"),
        ("Figs. 1-400", "F1-400"),
        ("in the table of figures", ""),
    ],
)
def test_spellings(text: str, cited: str) -> None:
    assert short(text) == cited


ALL = ("FIG 1", "FIG 1A", "FIG 1B", "FIG 10", "SUPP FIG S1", "TAB 1", "SCHEME 1")


def cited_in(text: str) -> list[str]:
    return [*cited_by((text,), ALL)[0]]


def test_a_figure_stands_for_its_panels_and_a_panel_for_its_figure() -> None:
    assert cited_in("Figure 1 shows it.") == ["FIG 1", "FIG 1A", "FIG 1B"]
    assert cited_in("As in Fig. 1B.") == ["FIG 1B", "FIG 1"]
    assert cited_in("See Table 1 and Fig. 10.") == ["TAB 1", "FIG 10"]
    assert cited_in("Fig. S1 and Supplementary Fig. 1 are one.") == ["SUPP FIG S1"]
    assert cited_in("Fig. 7 is not there.") == []
    several = ("FIG 2", "FIG 2A-C", "FIG 2D-1", "FIG 2D-2")
    of_several, of_parts = cited_by(("See Fig. 2B.", "See Fig. 2D."), several)
    assert (of_several, of_parts) == (("FIG 2A-C", "FIG 2"), ("FIG 2D-1", "FIG 2D-2", "FIG 2"))
    # A panel that is never cited has the text on its figure.
    paper = paper_of(["It grew (Fig. 1A).", "Much later it died (Table 1)."], dict.fromkeys(ALL, ""))
    texts = documents(paper, "element/sentence")
    assert texts["FIG 1B"] == texts["FIG 1A"] == texts["FIG 1"] == "It grew (Fig. 1A)."
    assert texts["SUPP FIG S1"] == texts["SCHEME 1"] == ""


@pytest.mark.parametrize("piece", ["Fig. 1, A and B, ", "Supplementary ", "Fig. 1(a,"])
def test_hostile_text_is_read_in_time(piece: str) -> None:
    """Whoever tries all ways to split it does not come to an end."""
    assert citations("Figs. 1" + piece * (50_000 // len(piece)))


# --- A caption is taken apart into its head and what it says of each panel, in the ways that papers mark panels


@pytest.mark.parametrize(
    ("caption", "head", "panels"),
    [
        (
            "Figure 1: Moss. (**A**) Walls. (**B** and C) Light, as in (A). (D–F) Rain. (A, D) Data are means.",
            "Figure 1: Moss.",
            {"A": "Walls. Data are means.", "B": "Light, as in (A).", "C": "Light, as in (A).",
             "D": "Rain. Data are means.", "E": "Rain.", "F": "Rain."},
        ),
        ("Growth of (A) wild and (B) tame moss.", "Growth of", {"A": "wild and", "B": "tame moss."}),
        ("Moss. (a) Walls; (_b_) light.", "Moss.", {"A": "Walls", "B": "light."}),
        ("Growth (a), light (b) and rain (c).", "", {"A": "Growth", "B": "light", "C": "and rain"}),
        ("Fig. 3. Moss. A, Light. B-C, Rain.", "Fig. 3. Moss.", {"A": "Light.", "B": "Rain.", "C": "Rain."}),
        ("Moss. A. Light. B. Rain.", "Moss.", {"A": "Light.", "B": "Rain."}),
        ("(A) Light. (B) Rain. (0) Growth. (D) Shade.", "", {"A": "Light.", "B": "Rain. (0) Growth.", "D": "Shade."}),
        ("Moss on walls (A) and nothing else.", "Moss on walls (A) and nothing else.", {}),
        ("A cat sat on it. Others (B) and (C) did not.", "A cat sat on it. Others (B) and (C) did not.", {}),
        ("Steps: (i) wet, (ii) dry.", "Steps: (i) wet, (ii) dry.", {}),
    ],
)  # fmt: skip
def test_ways_to_mark_panels(caption: str, head: str, panels: dict[str, str]) -> None:
    assert parts(caption) == (head, panels)
