"""The files that the pages take for the reader's own, and an LM that answers the prompts of every task."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from support.corpora import picture, read_rows, write
from support.loopback import HttpRequest, judged
from support.paths import SAMPLE
from support.scripted import field, written

TRACKS = {"t1": "track1", "t2": "track2"}
OTHERS = {"averitec": "averitec", "c24": "context24-figures", "context24": "context24-text"}
SPLITS = {"train": 24, "dev": 10, "test": 10}  # records of each
PLANTS = ("moss", "fern", "heather", "ivy", "sedge", "thyme", "yarrow", "clover")
ASKED = {"question": "How long?", "answers": [{"answer": "It closed for a week.", "source_url": "https://a"}]}
OTHERWISE = {"questions": ["How long was it closed?"], "new_instruction": "Read the evidence first."}
SAID = {"question": "How long?", "answer": "It closed for a week."}


def answer_any_task(request: HttpRequest) -> str:
    """Return an answer in the form that the prompt asks for, right or not."""
    prompt = request.question
    passages, evidence = field(prompt, "passages") or "", field(prompt, "evidence")
    if elements := field(prompt, "elements"):
        return written(prompt, {"ranking": [first_key(elements)]})
    if first_key(passages).startswith("S"):
        return written(prompt, {"chosen": ["S1"]})
    if first_key(passages).startswith("D"):
        key, _, text = passages.splitlines()[0].partition(") ")
        return written(prompt, {"pairs": [{"question": "Is it so?", "answer": text, "source": first_key(key)}]})
    if field(prompt, "sentences") or passages:
        return judged(request)
    return written(prompt, {"label": "Refuted"} if evidence else OTHERWISE)


def first_key(text: str) -> str:
    """Return the key of the first item of evidence, which stands in brackets."""
    return text.partition("[")[2].partition("]")[0]


def write_json(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def claim_about(plant: str) -> dict[str, str]:
    """Return a claim of Context24 about a paper that `paper_about` has."""
    return {"id": plant, "claim": f"{plant.title()} prefers {plant}land.", "citekey": plant, "dataset": "a"}


def paper_about(plant: str) -> str:
    return f"The {plant} grew in {plant}land, as Fig. 1 shows. All {plant} was counted."


def write_readers_files(folder: Path, made: Collection[str] = ()) -> None:
    """Write what a reader of the pages has: official data of both tracks, and the organisers' files of the others.

    made: folders that the reader makes by a command of the page.
    """
    data = folder / "data"
    data.mkdir()
    (data / "sample").symlink_to(SAMPLE)
    for short, task in TRACKS.items():
        number = task[-1]
        write(data / f"traindev-track-{number}.jsonl", read_rows(SAMPLE / task / "train.jsonl")[:40])
        write(data / f"testp1-track-{number}.jsonl", read_rows(SAMPLE / task / "test-inputs.jsonl")[:10])
        if f"data/{short}" not in made:
            write_splits(data / short, task)
    for short, task in OTHERS.items():
        write_splits(data / short, task)
    write_json(folder / "dev.json", [{"claim": "The bridge closed.", "label": "Refuted", "questions": [ASKED]}])
    page = {"claim_id": "0", "type": "gold", "url": "https://a", "url2text": ["It closed for a week.", "In May."]}
    write_json(folder / "knowledge_store" / "dev" / "0.json", page)
    papers = {plant: paper_about(plant) for plant in PLANTS}
    write_json(folder / "fulltexts.json", papers)
    write_json(folder / "full-texts-task2-train-dev.json", papers)
    grounded = [{**claim_about(plant), "context": [f"All {plant} was counted."]} for plant in PLANTS]
    write_json(folder / "task2-train-dev.json", grounded)
    write_json(folder / "task1-train-dev.json", [{**claim_about(plant), "findings": ["FIG 1"]} for plant in PLANTS])
    for plant in PLANTS:
        write_json(folder / "extracted_captions" / f"{plant}.json", {"CAPTION FIG1.png": f"Figure 1: {plant}."})
        for name in ("FIG 1", "FIG 2"):
            picture(folder / "figures-tables" / plant / f"{name}.png")


def write_splits(folder: Path, task: str) -> None:
    """Write the beginnings of the sample's splits."""
    folder.mkdir()
    for side, count in SPLITS.items():
        write(folder / f"{side}.jsonl", read_rows(SAMPLE / task / f"{side}.jsonl")[:count])


def write_scored_files(folder: Path, task: str) -> None:
    """Write the gold file and the predictions that the scorer of a task's page takes."""
    plant = PLANTS[0]
    if task == "averitec":
        predicted = {"claim_id": 0, "claim": "The bridge closed.", "pred_label": "Refuted", "evidence": [SAID]}
        write_json(folder / "predictions.json", [predicted])
    elif task == "context24_figures":
        elements = ["FIG 1", "FIG 2"]
        write_json(folder / "gold.json", [{**claim_about(plant), "findings": elements[:1], "figures_tables": elements}])
        (folder / "predictions.csv").write_text(f'id,predictions\n{plant},"FIG 1,FIG 2"\n', encoding="utf-8")
    else:
        passages = [{**claim_about(plant), "context": [f"All {plant} was counted."]}]
        write_json(folder / "gold.json", passages)
        write_json(folder / "predictions.json", passages)
