"""What an index of a claim's pages costs: `python -m aisr.optimize.studies.page_index`.

Makes up a store of the size that AVeriTeC's claims have, some thousand pages and 23 MB, with words as often as Zipf's
law has them; writes its index, and searches it for a claim and five questions as the program does. Prints CPU seconds
and the most memory that the process held; both steps run in a process of their own.
"""

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.page_index import SUFFIX, Indexed, build
from aisr.programs.retrieval.page_store import pages

PAGES, WORDS, SENTENCE = 1000, 3600, 18  # pages; words of a page, and of a sentence
STORE = ".jsonl"
VOCABULARY, SLOPE = 60_000, 1.05
CLAIMS, QUERIES, LONG = 10, 6, 14  # claims that are searched for; queries a claim; words of a query
SYLLABLES = ["ba", "co", "di", "fu", "ge", "la", "mo", "ni", "pu", "re", "sa", "to", "vi"]


class Cost(NamedTuple):
    """CPU seconds, of each claim where there are several, and megabytes at the most."""

    seconds: float
    megabytes: float


def main() -> None:
    """Print the costs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{'0' * 16}{SUFFIX}"
        make_up(file.with_suffix(STORE))
        built, searched = _apart(_built, file), _apart(_searched, file)
        print(
            f"index of {PAGES:,} pages written: {built.seconds:.1f} s of CPU time, {built.megabytes:.0f} MB of memory"
        )
        print(f"the file: {file.stat().st_size / 1e6:.0f} MB")
        print(f"a claim and {QUERIES - 1} questions: {searched.seconds:.2f} s, {searched.megabytes:.0f} MB")


def make_up(store: Path, seed: int = 0) -> None:
    """Write pages of made-up words, a JSON object a line."""
    rng = np.random.default_rng(seed)
    with store.open("w", encoding="utf-8") as file:
        for number in range(PAGES):
            words = _words(rng, WORDS)
            parts = [" ".join(words[begin : begin + SENTENCE]).capitalize() for begin in range(0, WORDS, SENTENCE)]
            page = {"url": f"https://page-{number}.example/", "url2text": [f"{part}." for part in parts]}
            file.write(json.dumps(page) + "\n")


def _words(rng: np.random.Generator, count: int) -> list[str]:
    share = 1 / np.arange(1, VOCABULARY + 1) ** SLOPE
    return [_spelled(int(place)) for place in rng.choice(VOCABULARY, count, p=share / share.sum())]


def _spelled(place: int) -> str:
    """The word of a place: short ones are the commonest."""
    word = ""
    while place >= 0:
        word += SYLLABLES[place % len(SYLLABLES)]
        place = place // len(SYLLABLES) - 1
    return word


def _apart(step: Callable[[Path], float], file: Path) -> Cost:
    """What a step costs in a process that does nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        return alone.submit(_measured, step, file).result()


def _measured(step: Callable[[Path], float], file: Path) -> Cost:
    seconds = step(file)
    return Cost(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def _built(file: Path) -> float:
    begin = time.process_time()
    build(pages(file.with_suffix(STORE)), file)
    return time.process_time() - begin


def _searched(file: Path) -> float:
    rng = np.random.default_rng(1)
    asked = [[" ".join(_words(rng, LONG)) for _ in range(QUERIES)] for _ in range(CLAIMS)]
    begin = time.process_time()
    for queries in asked:
        Indexed(file).best(queries, 20, bm25)
    return (time.process_time() - begin) / CLAIMS


if __name__ == "__main__":
    main()
