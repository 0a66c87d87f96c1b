"""A typing error is refused at once: before DSPy, MLflow or LiteLLM are imported, which takes seconds."""

import os
import subprocess
import sys
from pathlib import Path

from aisr.programs.registry import TASKS
from aisr.tracking.registry import model_name
from support.commands import Aisr
from support.compiled import Compiled
from support.paths import ROOT, SAMPLE

GOLD = SAMPLE / "track1" / "test.jsonl"
CODE = """
import shlex, sys
from aisr.cli.__main__ import main
for line in sys.stdin:
    sys.argv = ["aisr", *shlex.split(line)]
    try:
        main()
    except SystemExit as end:
        heavy = [name for name in ("dspy", "mlflow", "litellm") if name in sys.modules]
        print(end.code, *heavy, "|", line.strip())
"""


def test_nobody_waits_to_be_told_of_a_typing_error(compiled: Compiled, tmp_path: Path) -> None:
    none = f"models:/{model_name(TASKS['track1'])}/first"
    lines = [
        "check nope.jsonl --task track1",
        f"check {GOLD} --task track9",
        f"split {GOLD} --task track9 --out out",
        f"corrections {GOLD} --task track9 --out out",
        "compile --task track9",
        f"compile --task track1 --data {tmp_path}",
        f"evaluate --task track1 --program nope --data {GOLD}",
        f"compare uncompiled {none} --task track1 --data {GOLD}",
        f"predict --task track1 --program {none} --data {GOLD} --out out",
        f"submit --task track1 --data {GOLD} --predictions nope.jsonl --out out",
        f"score {GOLD} {tmp_path} --task track1",
        f"inspect {none}",
        "report nope",
        f"techreport {none}",
        "check-text 'A sentence.' --program nope",
        "check-paper nope.tex",
        f"check-paper {GOLD}",
        "mcp --folder nope",
        f"promote {none}",
        "retrieval nope.jsonl",
        "export --task track1 --data nope.jsonl --out out",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AISR_ARTIFACTS": str(compiled.root)}
    words = [sys.executable, "-c", CODE]
    run = subprocess.run(
        words, input="\n".join(lines), env=env, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [f"2 | {line}" for line in lines], run.stderr
    assert run.stderr.count("error: ") == len(lines)
    assert f"{none}: expected models:/NAME@champion or models:/NAME/VERSION" in run.stderr
    assert f"such as {compiled.folder('track1')}" in run.stderr
    assert "A sentence.: no such file; expected one with the paragraph or claim. A text of the moment" in run.stderr
    assert not list(tmp_path.iterdir())


def test_a_program_is_compared_with_what_it_was_before(compiled: Compiled, aisr: Aisr) -> None:
    words = ["uncompiled", compiled.folder("track1"), "--task", "track1", "--artifacts", compiled.root]
    scored = aisr("compare", *words, "--data", GOLD, "--limit", 3, *compiled.lm)
    assert scored.code == 0, scored.err
    assert "evaluating uncompiled (" in scored.out
    assert "difference, record by record: " in scored.out
    assert scored.out.count(" on 3 records of ") == 2
