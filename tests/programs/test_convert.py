"""The organisers' files of AVeriTeC and Context24 become records that hold what is needed to judge them, or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from aisr.base.jsonl import read
from aisr.programs import convert
from aisr.programs.averitec import Averitec, AveritecRecord
from aisr.programs.context24_figures import Context24FiguresRecord
from aisr.programs.context24_text import Context24TextRecord
from support.commands import Finished, run
from support.corpora import write


def converted(*words: object) -> Finished:
    """`aisr convert WORDS…`, as a shell would run it."""
    return run("convert", *words)


def as_json(file: Path, content: Any) -> Path:
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


# --- AVeriTeC

ANSWERS = [f"The bridge of town {k} closed for {k} weeks in May and opened again in June." for k in range(3)]
FILLER = " ".join(f"Number {k} of the register is about roofs and gardens in general." for k in range(60))


def test_claims_get_the_best_excerpts_of_their_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claims, out, pages = [], tmp_path / "dev.jsonl", tmp_path / "pages"
    pages.mkdir()
    for k, answer in enumerate(ANSWERS):
        asked = {"question": "How long was it closed?", "answers": [{"answer": answer, "source_url": "https://a"}]}
        claims.append(
            {"claim": f"The bridge of town {k} closed for {k} months.", "label": "Refuted", "questions": [asked]}
        )
        web = {"claim_id": str(k), "type": "web", "url": "https://roofs.example/", "url2text": [FILLER]}
        gold = {"claim_id": str(k), "type": "gold", "url": "https://a", "url2text": [FILLER, answer, FILLER]}
        write(pages / f"{k}.json", [web, gold])
    words = ["averitec", as_json(tmp_path / "dev.json", claims), "--documents", pages, "--out", out]
    monkeypatch.setattr(convert, "PASSAGES", 2)
    assert converted(*words).code == 0
    records = list(read(out, AveritecRecord, "averitec"))
    assert [record.claim_id for record in records] == [0, 1, 2]
    for record, answer in zip(records, ANSWERS, strict=True):
        assert answer in str(record.documents)
        assert len(str(record.documents)) < len(FILLER)
        assert answer in Averitec().prepare(record).example.passages
    assert "gold" not in out.read_text().split("documents")[1]
    before = out.read_bytes()
    assert converted(*words).code == 2  # what is there took long
    assert out.read_bytes() == before
    out.unlink()
    (pages / "0.json").unlink()
    (pages / "1.json").unlink()
    rest = converted(*words)
    assert "0: no '0.json' in " in rest.out
    assert "(2 times, here first)\n2 claims are left out: 0, 1\n" in rest.out
    (record,) = read(out, AveritecRecord, "averitec")
    assert record.claim_id == 2


# --- Context24: the text that grounds a claim


def test_claims_get_the_paragraphs_of_their_papers(tmp_path: Path) -> None:
    papers, out = tmp_path / "papers.json", tmp_path / "out.jsonl"
    row = {"id": "x-1", "claim": "Moss grows.", "citekey": "moss", "dataset": "field", "context": ["Of moss."]}
    claims = as_json(tmp_path / "claims.json", [{**row, "id": "x-0", "citekey": "fern"}, row])
    for lacking in ({}, {"moss": " "}):
        done = converted("context24-text", claims, "--papers", as_json(papers, lacking), "--out", out)
        assert (done.code, out.exists()) == (2, False)
        assert "papers.json: no text of any claim's paper" in done.err
    for text in ("Of moss.\n\nAnd\nof shade.", ["Of moss.", " ", "And\nof shade."]):
        as_json(papers, {"moss": text, "other": "…"})
        assert "1 claims are left out: x-0" in converted("context24-text", claims, "--papers", papers, "--out", out).out
        (record,) = read(out, Context24TextRecord, "context24-text")
        assert record.paragraphs == ["Of moss.", "And of shade."]
        assert (record.id, record.gold, record.citekey) == ("x-1", ("Of moss.",), "moss")
        out.unlink()


# --- Context24: figures and tables

ONE_LINE = " ".join(f"Moss number {k} grows on a wall in the shade, as Fig. {1 + k % 3} shows." for k in range(60))
CLAIMS = [
    {"id": "a-1", "claim": "Moss likes shade.", "citekey": "moss2020", "dataset": "a", "findings": ['FIG 2A"']},
    {"id": "a-2", "claim": "Light kills moss.", "citekey": "moss2020", "dataset": "a", "findings": ["FIG 1.\n"]},
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
MOSS = ("FIG 1", "FIG 2", "FIG 2A", "FIG 2B ", "FIG 10", "TAB 1", "CAPTION FIG1")
PICTURES = (*(f"moss2020/{name}.png" for name in MOSS), "fern2021/FIG 1.png")


def test_claims_get_the_figures_of_their_papers_and_every_change_is_printed(tmp_path: Path) -> None:
    (tmp_path / "captions").mkdir()
    as_json(tmp_path / "captions" / "moss2020.json", CAPTIONS)
    for name in PICTURES:
        (tmp_path / "figures" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "figures" / name).touch()
    papers = as_json(tmp_path / "texts.json", {"moss2020": ONE_LINE, "fern2021": ["Ferns.", "", "See Fig. 1."]})
    claims, out = as_json(tmp_path / "task1.json", CLAIMS), tmp_path / "records.jsonl"
    folders = ["--captions", tmp_path / "captions", "--figures", tmp_path / "figures"]
    done = converted("context24-figures", claims, "--papers", papers, *folders, "--out", out)
    assert done.code == 0
    for change in (
        "a-1: findings: 'FIG 2A\"': now FIG 2A",
        "a-2: findings: 'FIG 1.\\n': now FIG 1",
        "a-1: the same claim as a-1; now one, with the findings of both",
        "a-2: the id of another claim already; now a-2-2",
        "a-2-2: FIG 9: gold, and no element of its paper",
        "a-4: no figure or table of 'lost2019' is known",
        "1 claims are left out: a-4",
        "moss2020: CAPTION TAB1.png: what was read is no caption",
        "moss2020: element 'FIG 2B ': now FIG 2B",
        "4 claims",
    ):
        assert change in done.out
    records = {record.id: record for record in read(out, Context24FiguresRecord, "context24-figures")}
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


def test_each_claim_has_the_figures_that_it_lists(tmp_path: Path) -> None:
    """In 2025 a claim lists its candidates; claims of one paper may list others. An unlabelled one stands once."""
    first = {"id": "b-1", "claim": "Moss likes shade.", "citekey": "m", "figures_tables": ["FIG 1", "FIG 2"]}
    other = {"id": "b-2", "claim": "Rain helps.", "citekey": "m", "figures_tables": ["TAB 1"]}
    claims, papers = (tmp_path / name for name in ("claims.json", "papers.json"))
    as_json(claims, [first, other, first])
    out = tmp_path / "records.jsonl"
    assert converted("context24-figures", claims, "--papers", as_json(papers, {"m": "Moss."}), "--out", out).code == 0
    records = read(out, Context24FiguresRecord, "context24-figures")
    assert [[element.label for element in record.elements] for record in records] == [["FIG 1", "FIG 2"], ["TAB 1"]]


def test_labels_and_captions_of_any_spelling_are_joined_and_what_is_alone_is_listed(tmp_path: Path) -> None:
    """A panel without a caption of its own has that of its figure."""
    listed = ["Figure 1", "Figure 1 Panel A", "Table 2", "Scheme 1", "Figure 3"]
    findings = ["FIG 1A", "Tab. 2"]
    row = {"id": "c", "claim": "C", "citekey": "m", "figures_tables": listed, "findings": findings}
    captions = {"CAPTION FIG1.png": "Moss.", "CAPTION TAB2.png": "Cover.", "CAPTION SCHEME 1.png": "A plan."}
    (tmp_path / "captions").mkdir()
    as_json(tmp_path / "captions" / "m.json", {**captions, "CAPTION FIG9.png": "Rain.", "CAPTION FIG9-2.png": "More."})
    words = [as_json(tmp_path / "c.json", [row]), "--papers", as_json(tmp_path / "p.json", {"m": "Moss."})]
    out = tmp_path / "records.jsonl"
    done = converted("context24-figures", *words, "--captions", tmp_path / "captions", "--out", out)
    assert "m: 2 captions of no element, left out: FIG9, FIG9-2\n" in done.out
    assert "m: 1 elements without a caption: Figure 3\n" in done.out
    (record,) = read(out, Context24FiguresRecord, "context24-figures")
    joined = {element.label: element.caption for element in record.elements}
    assert joined == dict(zip(listed, ["Moss.", "Moss.", "Cover.", "A plan.", ""], strict=True))
    assert record.findings == ["Figure 1 Panel A", "Table 2"]
