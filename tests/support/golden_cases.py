"""The cases of golden prompts (see `support.golden_prompts`), each a folder of `tests/golden/prompts/`.

`make golden` writes their text files anew and prints the difference; `make golden CASES="track1 track2"` those of some.
"""

import sys

from aisr.programs.registry import TASKS
from support.golden_prompts import Case, write_anew
from support.paths import TESTS

ROOT = TESTS / "golden" / "prompts"
STATES = {"states": True}  # demos lack this output, and leave it out
CASES = {
    "track1": Case(TASKS["track1"], "knn", compiled=STATES),
    "track1-sentences": Case(TASKS["track1"], "knn", options={"unit": "sentence"}, compiled=STATES),
    "track1-pictures": Case(TASKS["track1"], "labeled", options={"evidence": "image"}),
    "track2": Case(TASKS["track2"], "knn", compiled={**STATES, "context_tokens": 600}, ranker=True),
    "averitec": Case(TASKS["averitec"], "labeled", compiled=STATES),
    "context24-figures": Case(TASKS["context24-figures"], "labeled"),
    "context24-text": Case(TASKS["context24-text"], "knn"),
    "draft": Case(TASKS["draft"], "knn", compiled=STATES),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(write_anew(CASES[name], ROOT / name), end="", flush=True)
