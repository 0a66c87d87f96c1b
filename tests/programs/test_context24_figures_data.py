"""The organisers' figure files become records: labels are cleaned, equal claims are one, and all of it is listed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError, exit_code
from aisr.programs.context24_figures import convert as context24_figures_data
from aisr.programs.context24_figures.convert import cleaned, convert, readable
from aisr.programs.context24_figures.record import Context24FiguresRecord
from aisr.programs.context24_figures.task import CONTEXT24_FIGURES
from aisr.programs.records import read

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


def files(folder: Path, claims: Any = CLAIMS) -> list[Path]:
    """Claims, full texts, a folder of captions and one of pictures, as the organisers have them."""
    (folder / "task1.json").write_text(json.dumps(claims, indent=4))
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
    together = tmp_path / "captions.json"
    together.write_text(json.dumps({"moss2020": CAPTIONS}))
    assert convert(claims, papers, together, figures)[0] == convert(claims, papers, captions, figures)[0]


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


def test_captions_are_texts_and_never_run() -> None:
    assert readable(r"'Fig. 1: It\'s (\u03b1)\n\n'") == "Fig. 1: It's (α)"
    assert readable("'a' + 'b'") == "'a' + 'b'"
    assert readable("'\\x'") == "'\\x'"


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({}, "expected a JSON list"),
        ([{**CLAIMS[0], "citekey": "../moss2020"}], "citekey '../moss2020': expected a name"),
        ([CLAIMS[5]], "no claim of a paper with figures"),
    ],
)
def test_bad_files_are_refused(claims: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        convert(*files(tmp_path, claims))
