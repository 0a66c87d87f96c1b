"""Markdown papers become drafts, as LaTeX ones do."""

import unicodedata
from pathlib import Path

import pytest
from PIL import Image

from aisr import UserError
from aisr_papers.draft import Draft
from aisr_papers.readers.markdown import LONGEST_BLOCK, MAX_CHARACTERS, read

PAPER = r"""---
title: "Birds in wind"
bibliography: refs.bib
---

# 1 Results

Wind hides calls [@obi, p. 3; @nobody], see \autoref{fig:wind}. Table 1 and @fig:wind show
that `Nightjar` leads with $F_1$ of *83.9*.[^1] A second one, by Obi (2022).

![F1 by wind.\label{fig:wind}](figures/wind.png){ width=20% }

![Figure 7: Out.](../secret.png){#fig-out}

| Detector | F1 |
|---|--:|
| **Nightjar** | 83.9 |
| Call \| Net | 79.6 |

**Table 1:** F1 of two detectors.

- item one
- It is 10^-5^ of H~2~O, says @obi.

```python
x = 1
```

<div>hello</div>

[^1]: A note on it.

## 1.1 More of 3 sites

See Fig. 7, @fig-out and @tbl-two.

$$\Theta_1 = \left\{ 1
\right\}$$

| a | 1.5 |
|---|--:|

: Scores. {#tbl-two}
"""


@pytest.fixture
def paper(tmp_path: Path) -> Draft:
    (tmp_path / "figures").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "figures" / "wind.png")
    (tmp_path / "refs.bib").write_text("@article{obi, author={Obi, Samuel}, title={Wind}, year={2022}}")
    (tmp_path / "paper.md").write_text(PAPER)
    return read(tmp_path / "paper.md")


def test_sentences_stand_at_their_lines_below_their_headings(paper: Draft) -> None:
    assert paper.title == "Birds in wind"
    sentences = [(each.headings, one.place.line, one.text) for each in paper.paragraphs for one in each.sentences]
    assert sentences == [
        (("Results",), 8, "Wind hides calls [@obi, p. 3; @nobody], see Figure 1."),
        (("Results",), 8, "Table 1 and Figure 1 show that Nightjar leads with F1 of 83.9."),
        (("Results",), 9, "A second one, by Obi (2022)."),
        (("Results",), 22, "item one"),
        (("Results",), 23, "It is 10^-5 of H2O, says Obi (2022)."),
        (("Results",), 31, "A note on it."),
        (("Results", "More of 3 sites"), 35, "See Fig. 7, Figure 7 and Table 2."),
        (("Results", "More of 3 sites"), 37, "Θ1 = { 1 }"),
    ]


def test_floats_references_and_citations_and_what_was_not_read(paper: Draft) -> None:
    assert {one.key: (one.name, one.caption, one.place.line) for one in paper.floats.values()} == {
        "fig:wind": ("Figure 1", "F1 by wind.", 11),
        "fig-out": ("Figure 7", "Out.", 13),
        "Table 1": ("Table 1", "F1 of two detectors.", 15),
        "tbl-two": ("Table 2", "Scores.", 40),
    }
    assert [picture.file.name for one in paper.floats.values() for picture in one.pictures] == ["wind.png"]
    assert paper.floats["Table 1"].rows == "Detector\tF1\nNightjar\t83.9\nCall ∣ Net\t79.6"
    first, _, item, *_ = paper.paragraphs
    assert [one.work_keys for one in (*first.sentences, *item.sentences)] == [("obi", "nobody"), (), ("obi",), ("obi",)]
    sentences = [*first.sentences, *paper.paragraphs[-2].sentences]
    assert [one.float_keys for one in sentences] == [
        ("fig:wind",),
        ("Table 1", "fig:wind"),
        (),
        ("fig-out", "tbl-two"),
    ]
    assert paper.works["obi"].title == "Wind"
    assert sorted((one.place.line, one.reason) for one in paper.unread) == [
        (8, "nobody: cited, but in no bibliography"),
        (13, "'../secret.png': leads out of the paper's folder; --root DIR lets files below DIR be read"),
        (25, "a listing, which is no prose"),
        (29, "HTML, which is not read"),
    ]


@pytest.mark.parametrize("source", ["%C3%BC.png", "e\u0301.png", "a%20b.png", "<a b.png>", "fig[1].png"])
def test_pictures_with_odd_names(tmp_path: Path, source: str) -> None:
    for name in (unicodedata.normalize("NFD", "ü.png"), "é.png", "a b.png", "fig[1].png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "paper.md").write_text(f"Text.\n\n![Figure 1: One.]({source})\n")
    draft = read(tmp_path / "paper.md")
    assert (draft.unread, len(draft.floats["Figure 1"].pictures)) == ((), 1)


def test_papers_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "paper.md"
    file.write_text("# Only a title\n")
    with pytest.raises(UserError, match="no words"):
        read(file)
    file.write_text("word " * (MAX_CHARACTERS // 5 + 1))
    with pytest.raises(UserError, match="more than 1,048,576 characters"):
        read(file)
    file.write_text(f"One.\n\n{'x ' * LONGEST_BLOCK}\n\nTwo.")
    draft = read(file)
    assert [one.text for each in draft.paragraphs for one in each.sentences] == ["One.", "Two."]
    assert str(draft.unread[0].place) == "paper.md:3"


BESIDE_PIPES = [
    "+------+-------+\n| Bird | F1    |\n+======+=======+\n| Wren | **8** |\n+------+-------+",
    "+------+----+\n| Bird | F1 |\n+------+----+\n| Wren | 8  |\n+------+----+",
    "  Bird     F1\n  ------ ----\n  Wren      8",
    "<div>\n<table>\n<tr><th>Bird</th><th>F1</th></tr><tr><td>Wren</td><td>8</td></tr>\n</table>\n</div>",
    "<table><tr><th>Bird</th><th>F1</th></tr>\n\n<tr><td>Wren<td>8</td></tr></table>",
]  # fmt: skip


@pytest.mark.parametrize("given", BESIDE_PIPES)
def test_tables_beside_pipe_tables_are_read_and_counted(tmp_path: Path, given: str) -> None:
    first, third = (
        f"| Bird | F1 |\n|---|---|\n| Wren | {f1} |\n\n: Of {name}" for f1, name in ((7, "one"), (9, "three"))
    )
    (tmp_path / "a.md").write_text(f"See Table 2.\n\n{first}\n\n{given}\n\n: Of two\n\n{third}\n")
    draft = read(tmp_path / "a.md")
    assert [(name, one.caption, one.rows) for name, one in draft.floats.items()] == [
        ("Table 1", "Of one", "Bird\tF1\nWren\t7"), ("Table 2", "Of two", "Bird\tF1\nWren\t8"),
        ("Table 3", "Of three", "Bird\tF1\nWren\t9"),
    ]  # fmt: skip
    assert draft.unread == ()
    assert draft.paragraphs[0].sentences[0].float_keys == ("Table 2",)


def test_cells_over_columns_and_rows_are_repeated(tmp_path: Path) -> None:
    grid = "+---+---+---+\n| F1    | n |\n+---+---+---+\n| 7 | 8 | 9 |\n+---+---+---+\n\n: Of one"
    rows = "<tr><td rowspan=2>Wren<td colspan=2><b>8</b></tr><tr><td>1<td>2</tr>"
    html = f"<table><caption>Of two</caption>{rows}</table>"
    (tmp_path / "a.md").write_text(f"Words.\n\n{grid}\n\n{html}\n")
    one, two = read(tmp_path / "a.md").floats.values()
    assert (one.rows, two.rows) == ("F1\tF1\tn\n7\t8\t9", "Wren\t8\t8\nWren\t1\t2")
    assert (two.caption, sorted(two.bold)) == ("Of two", [(0, 1), (0, 2)])


UNREAD = [
    ("```{r, echo=FALSE}\nkable(x, caption=\"Of two\")\n```", "that code prints"),
    ("```{python}\n#| tbl-cap: \"Of two\"\nx\n```", "that code prints"),
    ("-------------\nBird   F1\n----- -----\nWren   8\n\nLark   9\n-------------\n\n: Of two", "several lines"),
    ("\\begin{table}\n\\caption{Of two}\n\\begin{tabular}{l} a \\\\ \\end{tabular}\n\\end{table}", "in LaTeX"),
    ("+---+---+\n| a | b |\n|   +---+\n|   | c |\n+---+---+\n\n: Of two", "several rows"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "why"), UNREAD)
def test_a_table_that_is_not_read_is_listed_and_counted_where_it_has_a_caption(
    tmp_path: Path, given: str, why: str
) -> None:
    (tmp_path / "a.md").write_text(f"Words.\n\n{given}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTable: Of three\n")
    draft = read(tmp_path / "a.md")
    captions = [(name, one.caption) for name, one in draft.floats.items()]
    assert captions == [("Table 1", "Of two"), ("Table 2", "Of three")]
    assert [why in one.reason for one in draft.unread] == [True]


def test_what_only_looks_like_a_table_stays_text(tmp_path: Path) -> None:
    text = "Setext\n------\n\nOne -- two --- three.\n\n```\n+---+\n| a |\n+---+\n\n<table>\n```\n\n"
    (tmp_path / "a.md").write_text(f"{text}| a | b |\n| 1 | 2 |\n")
    draft = read(tmp_path / "a.md")
    assert (draft.floats, draft.paragraphs[0].headings) == ({}, ("Setext",))
    assert [one.reason.partition(",")[0] for one in draft.unread] == [
        "a listing", "a table without a line below its head",
    ]  # fmt: skip
