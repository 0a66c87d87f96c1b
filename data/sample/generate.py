"""Writes the sample data set: `python data/sample/generate.py [--out DIR]`. Same seed, same bytes (of the JSONL)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

import track2
import cited_papers
import track1
import dirt
import draft
import edits
import context24_figures
import context24_text
import averitec
from papers import draw_paper
from pictures import draw, picture_path

SEED = 20260
SIZES = {"train": 120, "dev": 100, "test": 100}
RECORDS_PER_PAPER = 3
EDITED = 0.53
TWICE_EDITED = 0.03
DOUBLE_LABELLED = 0.03
SOILED = 0.12
Record = dict[str, Any]


def main() -> None:
    """Reads the command line and writes the sample of each task and the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="folder to write to (default: this one)"
    )
    out: Path = parser.parse_args().out
    (out / "images").mkdir(parents=True, exist_ok=True)
    for old in (out / "images").glob("*.jpg"):
        old.unlink()
    rng = Random(SEED)
    for split, size in SIZES.items():
        write(out / "track1", split, track1_records(rng, size, out), "track1", ("types",))
    taken: set[str] = set()
    for split, size in SIZES.items():
        records = track2.split_of(rng, size, RECORDS_PER_PAPER, taken)
        write(out / "track2", split, records, "track2", ("label", "evidence_para_ids", "evidence_texts"))
    write_lines(out / "track2" / "hard.jsonl", cited_papers.hard())
    for split, records in averitec.splits(Random(SEED)).items():
        withheld = ("label", "questions", "claim_types", "justification")
        write(out / "averitec", split, records, "averitec", withheld)
    for split, records in draft.splits(Random(SEED)).items():
        write(out / "draft", split, records, "draft", ("label",))
    for split, records in context24_text.splits(Random(SEED)).items():
        write(out / "context24-text", split, records, "context24-text", ("context",))
    for split, records in context24_figures.splits().items():
        write(out / "context24-figures", split, records, "context24-figures", context24_figures.WITHHELD)


def track1_records(rng: Random, size: int, out: Path) -> list[Record]:
    """`size` records of fresh papers, three a paper, whose pictures are drawn on the way."""
    plans = edit_plans(rng, size)
    records: list[Record] = []
    while len(records) < size:
        paper = draw_paper(rng)
        for plan in plans[len(records) : min(size, len(records) + RECORDS_PER_PAPER)]:
            record, text = track1.build(rng, paper, plan)
            paths = {exhibit: picture_path(exhibit) for exhibit in record.exhibits}
            for exhibit, path in paths.items():
                if not (out / path).exists():
                    draw(exhibit, out / path)
            records.append(track1.as_record(record, text, paths))
            if rng.random() < SOILED:
                dirt.soil(rng, records[-1])
    return records


def edit_plans(rng: Random, size: int) -> list[tuple[str, ...]]:
    """Which errors each record gets: none for nearly half of them, the four labels evenly over the others."""
    labels = (edits.CAUSAL, edits.ENTITY, edits.SCOPE, edits.CONTRADICTION)
    edited = round(EDITED * size)
    plans: list[tuple[str, ...]] = [(labels[i % 4],) for i in range(edited)]
    plans[-round(DOUBLE_LABELLED * size) :] = [(edits.SCOPE_AND_ENTITY,)] * round(DOUBLE_LABELLED * size)
    for i in range(round(TWICE_EDITED * size)):
        plans[i] = (labels[i % 4], labels[(i + 2) % 4])
    plans += [()] * (size - edited)
    rng.shuffle(plans)
    return plans


def write(folder: Path, split: str, records: list[Record], track: str, withheld: tuple[str, ...]) -> None:
    """Writes one split; the test split with ids, and once more without what a participant may not see."""
    folder.mkdir(parents=True, exist_ok=True)
    if split == "test":
        records = [{"id": f"{track}-sample-test-{i:06d}", **record} for i, record in enumerate(records, 1)]
        write_lines(folder / "test-inputs.jsonl", [without(record, withheld) for record in records])
    write_lines(folder / f"{split}.jsonl", records)


def without(record: Record, withheld: tuple[str, ...]) -> Record:
    """The record, and its sentence objects, without the withheld fields."""
    kept = {key: value for key, value in record.items() if key not in withheld}
    for name in ("sentence_label", "sentences"):
        if name in kept:
            kept[name] = [{"sentence": item["sentence"]} for item in kept[name]]
    return kept


def write_lines(path: Path, records: list[Record]) -> None:
    """One JSON object a line, UTF-8."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


if __name__ == "__main__":
    main()
