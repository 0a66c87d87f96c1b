"""A caption is taken apart into its head and what it says of each panel, in the ways that papers mark panels."""

import pytest

from aisr.programs.context24_figures.citations import of_panel, parts


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
        ("Fig. 3 | Moss. a, Light. b, Rain.", "Fig. 3 | Moss.", {"A": "Light.", "B": "Rain."}),
        ("Moss. A. Light. B. Rain.", "Moss.", {"A": "Light.", "B": "Rain."}),
        ("a) Light. b) Rain.", "", {"A": "Light.", "B": "Rain."}),
        ("(A) Light. (B) Rain. (0) Growth. (D) Shade.", "", {"A": "Light.", "B": "Rain. (0) Growth.", "D": "Shade."}),
        ("Moss on walls (A) and nothing else.", "Moss on walls (A) and nothing else.", {}),
        ("A cat sat on it. Others (B) and (C) did not.", "A cat sat on it. Others (B) and (C) did not.", {}),
        ("Steps: (i) wet, (ii) dry.", "Steps: (i) wet, (ii) dry.", {}),
        ("", "", {}),
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
