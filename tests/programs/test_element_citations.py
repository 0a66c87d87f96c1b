"""Citations of figures and tables are read as papers spell them, and a text that cites nothing is taken for none."""

import pytest

from aisr.programs.context24_figures.citations import citations, of_panel, parts
from aisr.programs.context24_figures.ranking import chunks, cited_by, texts_of
from support.growth import slow


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


LABELS = ("FIG 1", "FIG 1A", "FIG 1B", "FIG 10", "SUPP FIG S1", "TAB 1", "SCHEME 1")


def read(text: str) -> list[str]:
    return [*cited_by((text,), LABELS)[0]]


def test_a_figure_that_is_cited_as_a_whole_stands_for_its_panels_and_a_panel_for_its_figure() -> None:
    assert read("Figure 1 shows it.") == ["FIG 1", "FIG 1A", "FIG 1B"]
    assert read("As in Fig. 1B.") == ["FIG 1B", "FIG 1"]
    assert read("See Table 1 and Fig. 10.") == ["TAB 1", "FIG 10"]
    assert read("Fig. S1 and Supplementary Fig. 1 are one.") == ["SUPP FIG S1"]
    assert read("Fig. 7 is not there.") == []


def test_labels_of_several_panels_and_of_parts_of_one() -> None:
    labels = ("FIG 2", "FIG 2A-C", "FIG 2D-1", "FIG 2D-2")
    assert cited_by(("See Fig. 2B.", "See Fig. 2D."), labels) == (
        ("FIG 2A-C", "FIG 2"),
        ("FIG 2D-1", "FIG 2D-2", "FIG 2"),
    )


def test_a_panel_that_is_never_cited_has_the_text_on_its_figure() -> None:
    texts = texts_of(("It grew (Fig. 1A).", "Much later it died (Table 1)."), LABELS)
    assert texts["FIG 1B"] == texts["FIG 1A"] == texts["FIG 1"] == "It grew (Fig. 1A)."
    assert texts["SUPP FIG S1"] == texts["SCHEME 1"] == ""


@pytest.mark.parametrize("size", ["sentence", "100"])
def test_chunks_hold_the_whole_text_in_order(size: str) -> None:
    paragraphs = tuple(f"Moss {k} grows. It is green. Trains were late in town {k}." * 20 for k in range(4))
    pieces = chunks(paragraphs, size)
    assert " ".join(pieces).split() == " ".join(paragraphs).split()
    assert all(pieces)
    if size.isdigit():
        assert {len(chunk.split()) for chunk in pieces[:-1]} <= {int(size)}
    assert chunks((), size) == chunks(("  ",), size) == ()


@pytest.mark.parametrize("piece", ["Fig. 1, A and B, ", "Supplementary ", "Fig. 1(a,"])
def test_hostile_text_is_read_in_time(piece: str) -> None:
    assert slow(citations, lambda length: "Figs. 1" + piece * (length // len(piece))) is None


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


def test_a_panel_has_the_head_and_its_own_part() -> None:
    caption = "Moss. (A) Light. (B) Rain. (C) Shade."
    assert of_panel(caption, ["B"]) == "Moss. Rain."
    assert of_panel(caption, ["A", "B"]) == "Moss. Light. Rain."
    assert of_panel(caption, ["Z"]) == "Moss."
    assert of_panel("Moss and light.", ["B"]) == "Moss and light."
