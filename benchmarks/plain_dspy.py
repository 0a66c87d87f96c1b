"""The peer of a compile: both tracks in plain DSPy, as somebody who knows DSPy and the guidelines writes them.

    python -m benchmarks.plain_dspy    # with the recorded answers of a capable LM
    python -m benchmarks.plain_dspy --task track1 --optimizer GEPA --lm openai/MODEL --api-base URL --record

A signature with one line a label, the mean of right labels and evidence as the metric, and DSPy's own optimizers, which
see that mean. Test predictions get the official score, as those of `aisr compile` do.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dspy

from aisr.api import open_lm
from aisr.cli.display import table
from aisr.lm.recorded import recording
from aisr.metrics.intervals import Interval, difference_interval, score_interval
from aisr.programs.registry import find_task
from aisr.programs.track1 import DEFINITIONS as SENTENCE_LABELS, ClaimLabel
from aisr.programs.track2 import DEFINITIONS as CITATION_LABELS, Citation, CitationLabel

DATA = Path("data/sample")
RECORDED = Path("benchmarks/recorded")
METRIC_CALLS = 390  # of GEPA: as many calls as a compile with the budget `light`
THREADS = 16

# --- What a DSPy user writes: about 60 lines


def as_lines(definitions: Mapping[str, str]) -> str:
    return "\n".join(f"{label}: {definition}" for label, definition in definitions.items())


class JudgeSentences(dspy.Signature):
    __doc__ = f"Judge whether the evidence supports each sentence of a paragraph.\n\n{as_lines(SENTENCE_LABELS)}"

    evidence: list[str] = dspy.InputField()
    sentences: list[str] = dspy.InputField()
    sentence_labels: list[ClaimLabel] = dspy.OutputField(desc="one label a sentence, in order")


class JudgeClaim(dspy.Signature):
    __doc__ = (
        "Judge whether the cited paper supports the claim, and name up to three paragraphs that show it.\n\n"
        f"{as_lines(CITATION_LABELS)}"
    )

    paper: dict[str, str] = dspy.InputField()
    claim: str = dspy.InputField()
    label: CitationLabel = dspy.OutputField()
    evidence_ids: list[str] = dspy.OutputField(desc="ids of paragraphs, the best first")


def sentences_example(record: dict[str, Any]) -> dspy.Example:
    """A paragraph of Track 1; `gold` has the right labels of each sentence, the primary one first."""
    gold = [sentence["types"] for sentence in record["sentence_label"]]
    evidence = [
        " ".join([*item.get("table_caption", []), *item.get("image_caption", []), item.get("text", "")]).strip()
        for item in record["evidence_bundle"]
    ]
    sentences = [sentence["sentence"] for sentence in record["sentence_label"]]
    labels = [types[0] for types in gold]
    example = dspy.Example(evidence=evidence, sentences=sentences, sentence_labels=labels, gold=gold)
    return example.with_inputs("evidence", "sentences")


def claim_example(record: dict[str, Any]) -> dspy.Example:
    """A claim of Track 2; `gold` has the label and all right paragraphs."""
    paper = {key: text for paragraph in record["cited_paper_full_text"] for key, text in paragraph.items()}
    gold = Citation(record["label"], record["evidence_para_ids"])
    answer = {"label": gold.label, "evidence_ids": gold.evidence_para_ids[:3]}
    example = dspy.Example(paper=paper, claim=record["claim_text"], gold=gold, **answer)
    return example.with_inputs("paper", "claim")


def sentences_metric(example: dspy.Example, prediction: dspy.Prediction, *_: Any) -> dspy.Prediction:
    """The share of right sentences."""
    labels = [*prediction.sentence_labels, *[None] * len(example.gold)]
    wrong = [
        f"Sentence {number} is {types[0]}, not {label}."
        for number, (types, label) in enumerate(zip(example.gold, labels, strict=False), 1)
        if label not in types
    ]
    return dspy.Prediction(score=1 - len(wrong) / len(example.gold), feedback=" ".join(wrong) or "All right.")


def claim_metric(example: dspy.Example, prediction: dspy.Prediction, *_: Any) -> dspy.Prediction:
    """Half a point for the label, half for a right paragraph among three, or for none where none is right."""
    label, right = example.gold
    named = prediction.evidence_ids[:3]
    found = bool(set(named) & set(right)) if right else not named
    feedback = f"The label is {label}, the evidence {', '.join(right) or 'no paragraph'}."
    return dspy.Prediction(score=(prediction.label == label) / 2 + found / 2, feedback=feedback)


def gepa(metric: Callable[..., Any], lm: dspy.LM) -> Any:
    return dspy.GEPA(metric, max_metric_calls=METRIC_CALLS, reflection_lm=lm, num_threads=THREADS, seed=0)


def random_search(metric: Callable[..., Any], _: dspy.LM) -> Any:
    def number(*arguments: Any) -> float:
        return float(metric(*arguments).score)

    return dspy.BootstrapFewShotWithRandomSearch(
        number, max_labeled_demos=4, num_candidate_programs=1, num_threads=THREADS
    )


# --- On the sample, with the official score

TASKS: dict[str, tuple[Any, Callable[[dict[str, Any]], dspy.Example], Callable[..., Any]]] = {
    "track1": (JudgeSentences, sentences_example, sentences_metric),
    "track2": (JudgeClaim, claim_example, claim_metric),
}
OPTIMIZERS = {"GEPA": gepa, "BootstrapFewShotWithRandomSearch": random_search}


def official_scores(task: str, program: Any, test: list[dspy.Example], metric: Callable[..., Any]) -> Any:
    """Return the official scores of a program's answers to test records; an answer without its fields is none."""

    def number(*arguments: Any) -> float:
        return float(metric(*arguments).score)

    done = dspy.Evaluate(devset=test, metric=number, num_threads=THREADS, max_errors=len(test) + 1)(program).results
    answers: list[Any] = []
    for example, prediction, _ in done:
        if task == "track1":
            labels = list(prediction.get("sentence_labels") or [])
            answers.append(labels if len(labels) == len(example.gold) else None)
        else:
            ids = prediction.get("evidence_ids") or []
            answers.append(Citation(prediction.label, list(ids)[:3]) if prediction.get("label") else None)
    return find_task(task).score([example.gold for example, _, _ in done], answers)


def recorded(task: str, optimizer: str) -> Path:
    """The recorded answers of a compile."""
    return RECORDED / f"{task}-{optimizer}.jsonl.gz"


def compare(task: str, optimizer: str, arguments: argparse.Namespace) -> tuple[Interval, Interval, Interval, int]:
    """Return the official test score uncompiled and compiled, the gain, and the calls of the optimizer."""
    signature, as_example, metric = TASKS[task]
    splits = {}
    for split in ("train", "dev", "test"):
        lines = (DATA / task / f"{split}.jsonl").read_text("utf-8").splitlines()
        splits[split] = [as_example(json.loads(line)) for line in lines]
    file = recorded(task, optimizer)
    server = {"api_base": arguments.api_base, "threads": THREADS} if arguments.lm else {}
    model = open_lm(arguments.lm or f"recorded:{file}", **server)
    lm = model.opened
    keep = recording(file, {"lm": model.opened}) if arguments.record else nullcontext()
    with keep, dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        program = dspy.Predict(signature)
        before = official_scores(task, program, splits["test"], metric)
        calls = sum(model.spend[name] or 0 for name in ("calls", "cached_calls"))
        compiled = OPTIMIZERS[optimizer](metric, lm).compile(program, trainset=splits["train"], valset=splits["dev"])
        calls = int(sum(model.spend[name] or 0 for name in ("calls", "cached_calls")) - calls)
        after = official_scores(task, compiled, splits["test"], metric)
    if lm.ledger.final_error is not None:  # DSPy takes it for failed records, of score 0
        raise lm.ledger.final_error
    return score_interval(before), score_interval(after), difference_interval(after, before), calls


def main() -> None:
    """Print a row for each task and optimizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=list(TASKS), action="append", help="default: both")
    parser.add_argument("--optimizer", choices=list(OPTIMIZERS), action="append", help="default: both")
    parser.add_argument("--lm", help="default: the recorded answers")
    parser.add_argument("--api-base", help="address of an OpenAI-compatible server")
    parser.add_argument("--record", action="store_true", help=f"write the answers to {RECORDED}/")
    arguments = parser.parse_args()
    rows = []
    for task in arguments.task or TASKS:
        for optimizer in arguments.optimizer or OPTIMIZERS:
            before, after, gain, calls = compare(task, optimizer, arguments)
            rows.append([task, optimizer, str(before), str(after), str(gain), str(calls)])
    header = ["task", "optimizer", "uncompiled", "compiled", "gain", "calls"]
    table("official score on test, in plain DSPy", header, rows)


if __name__ == "__main__":
    main()
