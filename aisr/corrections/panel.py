"""What a page needs so that people can correct the verdicts on it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPT, STYLE = HERE / "panel.js", HERE / "panel.css"


def packed(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Records as a page holds them: `records`, each with the place of every field in `values`, where what several have
    in common, such as a cited paper, stands once. Values are JSON texts: a browser that read an object would put keys
    like "10" and "2" into another order, and the order of paragraphs is evidence."""
    places: dict[str, int] = {}
    values: list[str] = []
    rows = []
    for record in records:
        row = {}
        for name, value in record.items():
            text = json.dumps(value, ensure_ascii=False)
            row[name] = places.setdefault(text, len(values))
            if row[name] == len(values):
                values.append(text)
        rows.append(row)
    return {"records": rows, "values": values}
