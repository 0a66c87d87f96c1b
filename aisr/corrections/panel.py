"""What a page needs so that people can correct the verdicts on it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPT, STYLE = HERE / "panel.js", HERE / "panel.css"


def packed(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Records as a page holds them: `records`, each with the place of every field in `values`, where what several have
    in common, such as a cited paper, stands once."""
    places: dict[str, int] = {}
    values: list[Any] = []
    rows = []
    for record in records:
        row = {}
        for name, value in record.items():
            place = places.setdefault(json.dumps(value), len(values))
            if place == len(values):
                values.append(value)
            row[name] = place
        rows.append(row)
    return {"records": rows, "values": values}
