"""Small compiles with a scripted LM."""

from pathlib import Path
from typing import Any

from aisr.optimize.run import Callbacks, Plan
from aisr.optimize.search import Settings
from aisr.programs.track1 import TRACK1
from support.scripted import claim

SILENT = Callbacks(lambda text: None, lambda: None, lambda contender: None)


def plan(folder: Path, **changes: Any) -> Plan:
    """A compile of eight records a split, written below `folder`."""
    for name in ("train", "dev", "test"):
        records = [claim("Supported", "Contradiction", number=k + 10 * len(name)) for k in range(8)]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.jsonl").write_text("".join(record.model_dump_json() + "\n" for record in records))
    data = {name: folder / f"{name}.jsonl" for name in ("train", "dev", "test")}
    defaults = {"optimizers": ["labeled"], "settings": Settings(demos=2, candidates=3), "options": {}, "limits": {}}
    return Plan(task=TRACK1, name="x", data=data, command="aisr compile", **{**defaults, **changes})
