"""Context24: citations of figures are read as papers spell them, elements are ranked, sentences on method are found."""

import pytest

from aisr.judging.judge import judge
from aisr.programs.context24_figures import Context24Figures, Context24FiguresRecord
from aisr.programs.context24_text import CONTEXT24_TEXT, Context24Text, Context24TextRecord
from aisr.programs.figure_ranking import citations, cited_by
from support.scripted import question, requests, scripted, written

LABELS = ("FIG 1", "FIG 1A", "FIG 1B", "FIG 1C", "FIG 2", "FIG 3", "TAB 1")
PARAGRAPHS = [
    "Growth doubled in the shade of wall 1 (Fig. 1, A and B). Light fell by half at noon, as Figure 1C shows.",
    "Rain made no difference (Fig. 2). Numbers of all walls are given in Table 1.",
]


@pytest.mark.parametrize("retriever", ["bm25", "hybrid"])
def test_all_figures_are_ranked_and_those_without_any_text_last(retriever: str) -> None:
    """FIG 3 is never cited and has no caption."""
    row = {"id": "a", "claim": "Walls in the shade get half of the light.", "elements": [{"label": x} for x in LABELS]}
    program = Context24Figures(retriever=retriever)
    record = Context24FiguresRecord.model_validate({**row, "paragraphs": PARAGRAPHS})
    ranking = program.prepare(record).example.best_first
    assert sorted(ranking) == sorted(LABELS)
    assert ranking[-1] == "FIG 3"
    record = Context24FiguresRecord.model_validate({**row, "paragraphs": []})
    assert program.prepare(record).example.best_first == list(LABELS)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Fig. 2, A and B", "F2AB"),
        ("Fig. 1A,B,D–F", "F1ABDEF"),
        ("Fig. 5(a)–(c)", "F5ABC"),
        ("Figs. 1-3", "F1 F2 F3"),
        ("Supplementary Fig. S1", "Fs1"),
        ("Extended Data Table 2", "Ts2"),
        ("Tables S1–S3", "Ts1 Ts2 Ts3"),
        ("Table IV", "T4"),
        ("Figure 1A—figure supplements 1 and 2B–C", "F1S1 F1S2BC"),
        ("Additional file 1: Figure 3", "Fs3"),
        # What need not belong to a citation does not.
        ("In Fig. 2, 3 samples", "F2"),
        ("Fig. 2, E. coli grew", "F2"),
        ("Figs. 1-400", "F1-400"),
        ("in the table of figures", ""),
    ],
)
def test_spellings(text: str, cited: str) -> None:
    """Of each citation: kind, `s` for supplementary, number, panels."""
    short = (f"{one.kind[0]}{'s' * one.supplement}{one.number}{''.join(one.panels)}" for one in citations(text))
    assert " ".join(short) == cited


ALL = ("FIG 1", "FIG 1A", "FIG 1B", "FIG 10", "SUPP FIG S1", "TAB 1", "SCHEME 1")


def test_a_figure_stands_for_its_panels_and_a_panel_for_its_figure() -> None:
    for text, labels in (
        ("Figure 1 shows it.", ("FIG 1", "FIG 1A", "FIG 1B")),
        ("As in Fig. 1B.", ("FIG 1B", "FIG 1")),
        ("See Table 1 and Fig. 10.", ("TAB 1", "FIG 10")),
        ("Fig. S1 and Supplementary Fig. 1 are one.", ("SUPP FIG S1",)),
        ("Fig. 7 is not there.", ()),
    ):
        assert cited_by((text,), ALL) == (labels,)


@pytest.mark.parametrize("piece", ["Fig. 1, A and B, ", "Supplementary ", "Fig. 1(a,"])
def test_hostile_text_is_read_in_time(piece: str) -> None:
    """Whoever tries all ways to split it does not come to an end."""
    assert citations("Figs. 1" + piece * (50_000 // len(piece)))


def test_the_best_sentence_on_method_is_the_answer_where_the_lm_chooses_none() -> None:
    method = "Forty plots of 1 square metres were drawn at random and photographed from above in April."
    restated = "Cover of the moss was higher in the shade than in the open. It rained a lot. We found moss."
    paragraphs = ["Results", restated, "Methods", f"It was spring. {method} Then we left."]
    row = {"id": "a", "claim": "Moss cover grows faster in the shade.", "paragraphs": paragraphs}
    program = Context24Text()
    case = program.prepare(Context24TextRecord.model_validate(row))
    prompt = case.example.passages.splitlines()
    assert prompt.index("## Results") < prompt.index("## Methods")
    lm = scripted(lambda request: written(question(request), {"chosen": []}))
    outcome = judge(CONTEXT24_TEXT, program, case, lm)
    assert outcome.answer is not None, outcome.failure
    assert method in outcome.answer[0]
    assert len(requests(lm)) == 1
