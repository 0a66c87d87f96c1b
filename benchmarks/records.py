"""Track 1 records for measuring: as many as wanted, all different, about as long as the sample's."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[1] / "data" / "sample" / "track1" / "train.jsonl"


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Records of the sample over and over, each with a number of its own in its text, without gold labels."""
    given = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    for number in range(count):
        row = given[number % len(given)]
        sentences = [{"sentence": part["sentence"]} for part in row["sentence_label"]]
        sentences[0]["sentence"] += f" (Record {number}.)"
        text = " ".join(part["sentence"] for part in sentences)
        yield {**row, "id": f"track1-{number + 1:06d}", "claim_text": text, "sentence_label": sentences}


def write(path: Path, count: int) -> Path:
    """A file of so many records."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(count))
    return path
