"""The cases of golden prompts (see `support.golden_prompts`), each a folder of `tests/golden/prompts/`.

`make golden` writes their text files anew and prints the difference; `make golden CASES="track1 track2"` those of some.
"""

import sys

from aisr.programs.registry import find_task
from support.golden_prompts import Case, write_anew
from support.paths import TESTS

ROOT = TESTS / "golden" / "prompts"
STATES = {"verbalized_confidence": True}  # demos lack this output, and leave it out
CASES = {
    "track1": Case(find_task("track1"), "knn", compiled=STATES),
    "track1-sentences": Case(find_task("track1"), "knn", options={"unit": "sentence"}, compiled=STATES),
    "track1-pictures": Case(find_task("track1"), "labeled", options={"evidence": "image"}),
    "track2": Case(find_task("track2"), "knn", compiled={**STATES, "context_tokens": 600}, ranker=True),
    "averitec": Case(find_task("averitec"), "labeled", compiled=STATES),
    "context24-figures": Case(find_task("context24-figures"), "labeled"),
    "context24-text": Case(find_task("context24-text"), "knn"),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(write_anew(CASES[name], ROOT / name), end="", flush=True)
