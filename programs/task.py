"""What one task consists of: commands, optimizers, reports and the MLflow registry work on a `Task` and know no task by
name.

Programs of most tasks give a label to each statement of a record. Tasks whose answers are rankings or texts leave
`labels` empty, and get no confusion matrix or F1 by label. The defaults fit a task whose gold and answer
are one label a record. `SentenceTask` labels sentences that are judged by one evidence bundle.
"""

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import dspy
from pydantic import ValidationError

from aisr.base.errors import UserError
from aisr.base.files import replacing
from aisr.base.jsonl import explain
from aisr.metrics.scores import Scores, tally_statements
from aisr.programs.case import Case
from aisr.programs.evidence import ShownEvidence
from aisr.programs.program import SEARCHED, Program
from aisr.programs.records import LabelPrediction, Prediction, Record, claim_key, evidence_keys, picture_keys

Gold = Any  # the gold answer of a record, in the form that the task's score takes
Answer = Any  # the answer of a program, in the form that the task's score takes

ZIP_DATE = (2026, 1, 1, 0, 0, 0)  # of entries of a zip: a fixed one makes the same predictions give the same file


class Query(NamedTuple):
    """What evidence is retrieved for, and where."""

    claim: str
    paragraphs: Mapping[str, str]  # the text of each paragraph by its id
    gold: Sequence[str]  # the ids of the gold paragraphs


class Task:
    """What one task consists of; `programs/registry.py` finds an instance of each by its name."""

    name: str  # as `--task` takes it: lower-case letters, digits and dashes
    record: type[Record]  # a line of its inputs; `gold` is the gold answer
    prediction: type[Prediction] = LabelPrediction  # a line of its predictions
    program: type[Program]  # the class of its programs, which has their options and labels
    definitions: Mapping[str, str] = {}  # a line a label
    parts: ClassVar[Mapping[str, str]] = {"macro_f1": "macro-F1", "exact": "accuracy"}  # of its score, for a reader
    fallback_is_baseline: bool = False  # whether `fallback` is its no-LM baseline; else that is a classifier of labels
    names_evidence: bool = False  # whether an answer names evidence that goes with its label; one statement a record
    submission: str = "predictions.jsonl"  # the name of the file that its server takes
    # Files of other tasks that stay in a zip, so that one holds all.
    kept_beside: ClassVar[frozenset[str]] = frozenset()

    # --- Score and answer

    def score(self, gold: Sequence[Gold], answers: Sequence[Answer | None]) -> Scores:
        """Return the scores of a corpus: the mean of macro-F1 and accuracy. None: a record that failed."""
        predicted = [None if answer is None else [str(answer)] for answer in answers]
        return tally_statements([self.gold_labels(one) for one in gold], predicted, self.labels)

    def answer(self, prediction: dspy.Prediction) -> Answer:
        """Return the answer of a program, in the form that `score` and `prediction.line` take: the label."""
        return prediction.label

    def feedback(self, gold: Gold, answer: Answer) -> str:
        """Return what is wrong with an answer, for an optimizer that reflects: the right label with its definition."""
        if answer == gold:
            return "The label is right."
        return f"Said {answer}; right is {gold} ({self.definitions[str(gold)]})."

    # --- What its server takes: a flat zip of one JSON Lines file, as that of the shared task does, or another form

    def problem(self, record: Any, answer: Answer) -> str | None:
        """Return what the evaluator would refuse in an answer to a record; None for nothing."""
        return None

    def fallback(self, record: Any) -> Answer:
        """Return an answer without an LM, to fill in a failed record. Raises UserError where there is none."""
        raise UserError("this task has no answer to fill in; predict the failed records again")

    def submitted_fields(self, record: Any) -> dict[str, Any]:
        """Return the fields of a line of a record beside its answer."""
        return {"id": record.id}

    def write_submission(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Write checked lines, in the order of the test inputs. Raises UserError where `out` holds something else."""
        texts = [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
        content = self._kept(out) if out.exists() else {}
        content[self.submission] = "".join(texts).encode()
        with replacing(out) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as file:
            for name in sorted(content):
                file.writestr(zipfile.ZipInfo(name, ZIP_DATE), content[name], zipfile.ZIP_DEFLATED)

    def _kept(self, out: Path) -> dict[str, bytes]:
        try:
            with zipfile.ZipFile(out) as old:
                return {name: old.read(name) for name in self.kept_beside.intersection(old.namelist())}
        # What Python raises at one that is torn, encrypted, or packed in a way that it does not know.
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            reason = f"is there already, and no zip that can be kept ({error})"
            raise UserError(f"{out} {reason}; choose another --out") from error

    # --- Labels

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of its programs, the one that finds no fault first; none for a task without labels."""
        return self.program.labels

    @property
    def default_label(self) -> str:
        """The label of a statement that nothing is wrong with. Raises UserError for a task without labels."""
        if not self.labels:
            raise UserError(f"{self.name} has no labels, which this needs")
        return self.labels[0]

    def gold_labels(self, gold: Gold) -> Sequence[Sequence[str]]:
        """Return the gold labels of each statement of a record, the primary one first."""
        return [[str(gold)]]

    def label_answer(self, labels: Sequence[str], evidence_ids: Sequence[str]) -> Answer:
        """Return the answer with these labels, one a statement, and the evidence of these ids, best first, if any."""
        return labels[0]

    def first_labels(self, gold: Gold) -> list[str]:
        """Return the primary gold label of each statement of a record."""
        return [labels[0] for labels in self.gold_labels(gold)]

    def statements(self, example: dspy.Example) -> list[str]:
        """Return the text of each statement of an example."""
        content = example[self.program.statement]
        return list(content) if isinstance(content, list) else [str(content)]

    def evidence(self, case: Case) -> str:
        """Return the evidence that all statements of a case are judged by: its `passages`, or its `evidence`."""
        return str(case.example.get("passages", case.example.get("evidence", "")))

    def evidence_right(self, gold: Gold, answer: Answer) -> bool | None:
        """Return whether an answer would count if its label were right; None where all would."""
        return None

    # --- Splits and demos

    def text(self, record: Any) -> str:
        """Return the claim of a record, of which near-duplicates are found across splits."""
        return str(getattr(record, self.program.statement))

    def shared_keys(self, record: Any) -> set[str]:
        """Return what a record must not have in common with another across a split, "kind:value" each (see
        `aisr.programs.records`): by default its claim, and the texts that it is judged by."""
        return {claim_key(self.text(record)), *evidence_keys(self.long_texts(record))}

    def long_texts(self, record: Any) -> Sequence[str]:
        """Return the texts whose near-duplicates are found across splits: by default all inputs but the statement."""
        inputs = self._uncompiled.prepare(record).example.inputs()
        return texts_in([value for name, value in inputs.items() if name != self.program.statement])

    @cached_property
    def _uncompiled(self) -> Program:
        return self.build({})

    def stratify_by(self, gold: Gold) -> str:
        """Return what splits keep in proportion, a word a record: its first label that is not the default, or that."""
        if not self.labels:
            return ""
        for label in self.first_labels(gold):
            if label != self.default_label:
                return label
        return self.default_label

    def balance_key(self, gold: Gold) -> str:
        """Return what demos and subsets of dev are balanced by, a word a record: its labels."""
        if not self.labels:
            return self.stratify_by(gold)
        return " ".join(sorted(set(self.first_labels(gold))))

    # --- Pages and retrieval

    def shown_evidence(self, record: Any, case: Case, answer: Answer | None) -> list[ShownEvidence]:
        """Return the pieces of evidence of a record, as a person reads them beside an answer."""
        return []

    def query(self, record: Any) -> Query | None:
        """Return what evidence is retrieved for; None for a task that retrieves no paragraphs."""
        return None

    def missing_evidence(self, record: Any) -> str:
        """Return the field for want of which the query of a record has no gold, and what is wrong with it."""
        return "no gold evidence"

    # --- Programs

    def build(self, options: Mapping[str, Any]) -> Program:
        """Return the uncompiled program. Raises UserError for an option that it does not have, or that cannot be."""
        known = self.program.Options.model_fields
        for name in options:
            if name not in known:
                raise UserError(f"{self.name}: no option {name[:80]!r}; options: {', '.join(known)}")
        try:
            return self.program(**options)
        except ValidationError as error:
            raise UserError(f"{self.name}: {explain(error)}") from error

    def option_names(self) -> list[str]:
        """Return the names of the options of its programs that a user sets, its own first."""
        kind = self.program.Options
        names = [name for name in kind.model_fields if name not in SEARCHED]
        return sorted(names, key=lambda name: name not in kind.__annotations__)

    def parse_options(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return options by their texts, such as "true". Raises UserError for a value that an option cannot have."""
        try:
            options = self.program.Options.model_validate(texts)
        except ValidationError as error:
            raise UserError(explain(error)) from None
        return {name: getattr(options, name) for name in texts}

    def describe_option(self, name: str) -> str:
        """Return what an option is for, the values that it can have, and its default."""
        field = self.program.Options.model_json_schema()["properties"][name]
        notes = []
        if "enum" in field:
            notes.append(f"one of: {', '.join(field['enum'])}")
        if "minimum" in field:
            most = f" to {field['maximum']}" if "maximum" in field else " or more"
            notes.append(f"{field['minimum']}{most}")
        default = field["default"]
        if isinstance(default, bool):
            default = str(default).lower()
        notes.append(f"default: {default}")
        return f"{field['description']} [{'; '.join(notes)}]"


def texts_in(value: Any) -> list[str]:
    """Return the texts in a value of JSON: itself, those of a list, or the values of a dict."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    texts: list[str] = []
    if isinstance(value, list | tuple):
        for part in value:
            texts += texts_in(part)
    return texts


# --- Tasks that label sentences, all judged by one evidence bundle

SentenceGold = Sequence[Sequence[str]]  # the labels of each sentence


class SentenceTask(Task):
    """A task with one label a sentence."""

    def answer(self, prediction: dspy.Prediction) -> list[str]:
        return [str(label) for label in prediction.sentence_labels]

    def label_answer(self, labels: Sequence[str], evidence_ids: Sequence[str]) -> list[str]:
        return list(labels)

    def gold_labels(self, gold: SentenceGold) -> SentenceGold:
        return gold

    def text(self, record: Any) -> str:
        return record.context or " ".join(record.statements)

    def feedback(self, gold: SentenceGold, answer: Sequence[str]) -> str:
        """Return each wrong sentence, with its right labels and their definition."""
        wrong = []
        for k, (types, label) in enumerate(zip(gold, answer, strict=True), start=1):
            if label not in types:
                right = f"{' or '.join(types)} ({self.definitions[types[0]]})"
                wrong.append(f"Sentence {k}: said {label}; right is {right}.")
        return " ".join(wrong) or "Every sentence is labelled right."

    def shared_keys(self, record: Any) -> set[str]:
        """Return the pictures, texts and captions of the bundle."""
        captions: list[str] = []
        for item in record.evidence_bundle:
            captions += [*item.table_caption, *item.image_caption]
        return picture_keys(record.img_paths) | evidence_keys(self.long_texts(record), captions)

    def long_texts(self, record: Any) -> list[str]:
        """Return the passages of the bundle, and the tables that are given as text."""
        return [item.text for item in record.evidence_bundle if item.text]

    def evidence(self, case: Case) -> str:
        return case.evidence.words

    def shown_evidence(self, record: Any, case: Case, answer: Answer | None) -> list[ShownEvidence]:
        """Return the items of the bundle, as the prompt has them."""
        return [ShownEvidence.of_item(one) for one in case.evidence.items]
