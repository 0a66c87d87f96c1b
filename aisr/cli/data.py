"""The commands about record files: check, split, and retrieval, which scores how paragraphs are ranked. None of them
asks an LM."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aisr.base.errors import REFUSED, UserError, merge_repeats
from aisr.base.files import SAMPLE, percent
from aisr.cli import options as opt
from aisr.cli.display import Live, note, print_pictures, table
from aisr.cli.options import find_task_for
from aisr.programs.registry import TASKS

PRINTED_WEIGHTS = 5  # of a fitted ranker that are printed, the heaviest


def check(
    file: Annotated[Path, opt.file_argument(help="JSONL file in the official format.")],
    task: opt.TaskName,
    image_root: opt.ImageRoot = None,
    against: Annotated[
        Path | None, opt.file_option(help="Another file, such as the test inputs: how do the two differ?")
    ] = None,
) -> None:
    """List the wrong lines of a record file, and pictures that are missing; compare it with another file."""
    from aisr.base.jsonl import count_lines, scan
    from aisr.base.progress import counted
    from aisr.judging.judge import find_image_folder
    from aisr.optimize.leakage import Fingerprint, all_keys, fingerprint

    chosen = find_task_for(task, file, *([against] if against else []))
    images = find_image_folder(image_root, file)
    note(f"checking {file} as {chosen.name} records")
    bad: list[tuple[str, str]] = []  # the place of each bad line, and what is wrong
    labels: Counter[str] = Counter()
    rows: list[Fingerprint] = []
    with Live():
        for line in counted(scan(file, chosen.record, chosen.name), "checking records", count_lines(file)):
            if line.record is None:
                place = f"{file}:{line.number}"
                bad.append((place, str(line.problem).removeprefix(f"{place}: ")))
                continue
            rows.append(fingerprint(chosen, line.record))
            if images:
                for path in line.record.img_paths:
                    images.file(line.record.id, path)
            gold = line.record.gold
            if gold is None:
                labels["(withheld)"] += 1
            else:
                first = chosen.first_labels(gold) if chosen.labels else [chosen.stratify_by(gold) or "(labelled)"]
                labels.update(first)
        keys = all_keys(rows)
    for complaint in merge_repeats(bad):
        note(complaint)
    note(f"{file}: {len(rows)} good records, {len(bad)} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    if rows:
        _print_shared(keys)
    elif not bad:
        raise UserError(f"{file}: no records; expected one JSON object a line")
    if bad and (converter := chosen.record.converter):
        note(f"files as the organisers ship them become records by: aisr {converter.format(file=file)}")
    print_pictures(images)
    if against:
        _print_comparison(chosen, file, against)
    if bad:
        raise typer.Exit(REFUSED)


def _print_comparison(task: Any, file: Path, other: Path) -> None:
    """Print two files of records side by side, without an LM."""
    from aisr.base.jsonl import scan
    from aisr.optimize.target import OTHER_TEXTS, compare_sets

    with Live():
        ours, others = (
            [line.record for line in scan(one, task.record, task.name) if line.record] for one in (file, other)
        )
        if not others:
            raise UserError(f"--against {other}: no good record; expected records of {task.name}")
        comparison = compare_sets(task, ours, others)
    for line in comparison.lines(str(file), str(other)):
        note(line)
    if (comparison.auc or 0) >= OTHER_TEXTS:
        note("  their texts differ in ways that no weight of records mends")


def example(
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"{', '.join(TASKS)}.")],
) -> None:
    """Print a labelled record of a task, a short one of the sample, as a line of JSON."""
    file = SAMPLE / task / "dev.jsonl"
    if task not in TASKS:
        raise UserError(f"{task!r}: expected one of: {', '.join(TASKS)}")
    print(min(file.read_text("utf-8").splitlines(), key=len))


def split(
    file: Annotated[Path, opt.file_argument(help="JSONL file of labelled records.")],
    task: opt.TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(metavar="N:N:N", help="train:dev:test, in whole parts.")] = "3:1:1",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records into train, dev and test that share nothing.

    No part shares a claim, picture, paper or evidence (nor a near copy) with another.
    """
    from aisr import workflow
    from aisr.optimize.leakage import LEAKAGE_RULE
    from aisr.programs.records import SentenceRecord

    chosen = find_task_for(task, file)
    note(f"splitting {file} {parts} (seed {seed}) below {out}/")
    with Live():
        done = workflow.split(chosen, file, out=out, parts=parts, seed=seed)
    note(f"  {sum(done.records.values())} records in {done.groups} groups; what they share with another: {done.shared}")
    note(f"  compared: {LEAKAGE_RULE}")
    note(f"  a plain random split would share with train: {done.random_leak}; this one: {done.leak}")
    whole_paragraphs = "all " if issubclass(chosen.record, SentenceRecord) else ""
    for part, count in done.records.items():
        faulty = ""
        if done.faulty:
            faulty = f", {done.faulty[part]} of them not {whole_paragraphs}{chosen.default_label}"
        note(f"  {out / part}.jsonl: {count} records{faulty}")
    _print_labels(done.labels, done.missing)


def _print_labels(counts: dict[str, Counter[str]], missing: dict[str, list[str]]) -> None:
    """Print how many records of each part have a label, the commonest label first, and which parts lack one."""
    whole = sum(counts.values(), Counter[str]())
    for label, total in whole.most_common():
        numbers = ", ".join(f"{part} {own[label]}" for part, own in counts.items())
        note(f"  {total:6d}  {label or '(labelled)'}: {numbers}")
        if label in missing:
            parts = " and ".join(missing[label])
            note(f"warning: no record of {parts} has {label}; scores on it tell nothing about this label")


def _print_shared(keys: list[set[str]]) -> None:
    """Print what records have in common."""
    from aisr.optimize.leakage import groups, shared

    note(f"  {len(keys)} records in {len(set(groups(keys)))} groups; what they share with another: {shared(keys)}")


# --- Retrieval


def retrieval(
    file: Annotated[Path, opt.file_argument(help="JSONL file of labelled records.")],
    task: Annotated[
        str, typer.Option(metavar="TASK", help="A task that retrieves paragraphs.", callback=opt.check_task)
    ] = "track2",
    retrievers: Annotated[str, typer.Option(metavar="NAME,…", help="Which to score.")] = "bm25,dense,hybrid",
    fit: Annotated[
        Path | None,
        opt.file_option(help="Fit an evidence ranker on this file, and score it; on FILE itself cross-validated."),
    ] = None,
    context_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the paper to show.")] = 3000,
) -> None:
    """Score how well paragraphs are ranked for claims, by the gold evidence of labelled records; fit a ranker."""
    from aisr.judging.evaluate import COMPARED, claims_with_evidence, compare_rankers, measure_ranker

    chosen = find_task_for(task, file, *([fit] if fit else []))
    claims = claims_with_evidence(chosen, file)
    names = [name.strip() for name in retrievers.split(",")]
    matchers = {name: chosen.build({"retriever": name}).match for name in names}
    rankers: dict[str, Any] = {name: lambda _, matcher=matcher: matcher for name, matcher in matchers.items()}
    with Live():
        if fit:
            rankers["fitted"] = _fitted(chosen, fit, file, claims)
        note(f"ranking the paragraphs of {file} for {len(claims)} claims with evidence")
        scores = {name: measure_ranker(ranker, claims, context_tokens) for name, ranker in rankers.items()}
    title = "gold evidence among the first k, and within the token budget, in points"
    means = [[name, *(percent(part.mean()) for part in score.values())] for name, score in scores.items()]
    table(title, ["retriever", *scores[names[0]]], means)
    if fit:
        fitted = scores.pop("fitted")
        gains = [[name, *map(str, compare_rankers(fitted, score, claims))] for name, score in scores.items()]
        table("gain of the fitted ranker, in points, with 95 % intervals over papers", ["over", *COMPARED], gains)


def _fitted(task: Any, train: Path, file: Path, claims: Sequence[Any]) -> Any:
    """Return a function from a claim to the fitted ranker's matcher; on the file that it was fitted on, one that saw
    neither the claim's paper nor a claim like it."""
    from aisr.base.jsonl import read
    from aisr.optimize.leakage import keys_of
    from aisr.optimize.ranker_fit import fit_ranker
    from aisr.programs.retrieval import bm25

    records = list(read(train, task.record, task.name))
    made = fit_ranker(task, records, keys_of(task, records), bm25, seed=0)
    note(f"fitted on {made.report['claims']} claims with evidence, in {made.report['groups']} groups")
    for name, weight in made.ranker.by_weight()[:PRINTED_WEIGHTS]:
        note(f"  {weight:+.2f}  {name}")
    if train.resolve() == file.resolve():
        unseen = {paper: ranker.matcher() for paper, ranker in made.out_of_fold.items()}
        return lambda claim: unseen[tuple(claim.paragraphs.values())]
    if count := sum(tuple(one.paragraphs.values()) in made.out_of_fold for one in claims):
        note(f"{count} of {len(claims)} claims cite papers that it was fitted on: their scores are optimistic")
    whole = made.ranker.matcher()
    return lambda claim: whole
