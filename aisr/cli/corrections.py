"""The command that makes labels of what people corrected."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.cli.options import chosen_task, known_task, there
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aisr.corrections.files import Found
    from aisr.corrections.labelled import Labelled
    from aisr.programs.records import Record
    from aisr.programs.task import Task

MOST = 20  # lines of a kind that are listed


def corrections(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="What pages downloaded as corrections."),
    ],
    task: Annotated[
        str | None, typer.Option(help="Of which task to make labelled records.", callback=known_task)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write them to: the --data of `aisr compile`, where they count as train."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="The record file that a corrected report is about, where its corrections look up their records; "
            "repeatable.",
            callback=there,
        ),
    ] = None,
    draft: Annotated[
        Path | None,
        typer.Option(help="The paper whose dismissed flags `aisr check-paper` is to pass over from now on."),
    ] = None,
    majority: Annotated[
        bool, typer.Option("--majority", help="Where people differ, take the label that more than half of them gave.")
    ] = False,
) -> None:
    """Make labelled records of corrections, with who and when beside them. Where people differ, it is listed and left
    out. Nothing is overwritten. With --draft: remember beside the paper which flags were dismissed."""
    from aisr.corrections.files import read

    if (task is None) != (out is None) or (task is None and draft is None):
        raise UserError("give --task T and --out DIR for labelled records, --draft PAPER for dismissed flags, or both")
    if draft is not None:
        _expect_paper(draft)
    bad: list[str] = []
    found = read(files, bad)
    _list("left out, as they are no corrections", bad)
    found = _in_time(found)
    if draft is not None:
        _dismiss(found, draft)
    if task is not None and out is not None:
        chosen = chosen_task(task)
        _labels(found, chosen, _records(chosen, data or []), out, majority)


def _expect_paper(draft: Path) -> None:
    """Raises UserError where a path names nothing that `aisr check-paper` could have checked."""
    from aisr.paper.readers.files import check_paper

    try:
        check_paper(draft)
    except UserError as error:
        raise UserError(f"--draft {error}") from error


def _records(task: "Task", files: "Sequence[Path]") -> "Mapping[str, Record]":
    from aisr.programs.lines import read

    return {record.id: record for file in files for record in read(file, task.record, task.name)}


def _in_time(found: "Sequence[Found]") -> "list[Found]":
    """Without corrections from the future, which are listed: they would have the last word for good."""
    from aisr.corrections.files import in_time

    good, early = in_time(found)
    _list("left out, as their time cannot be true", early)
    return good


def _dismiss(found: "Sequence[Found]", draft: Path) -> None:
    from aisr.base.text import counted
    from aisr.cli.display import note
    from aisr.corrections import dismissed

    if all(one.correction.dismissed is None for one in found):
        note("no flag is dismissed in there; nothing was written")
        return
    file, count = dismissed.remember(draft, found)
    note(f"{counted(count, 'flag')} dismissed from now on; a line taken out of {file} brings one back")


def _labels(found: "Sequence[Found]", task: "Task", known: "Mapping[str, Record]", out: Path, majority: bool) -> None:
    from aisr.cli.display import note
    from aisr.corrections import labelled
    from aisr.optimize.datasets.corrected import corrected

    made = labelled.labelled(task, found, known, majority)
    _say(made)
    if not made.records:
        raise UserError(f"no labelled record of {task.name} came of them; nothing was written")
    _write(out, labelled.files(made))
    people = sorted({voice["who"] for one in made.provenance for voice in one["by"]})
    names = ", ".join(people[:5]) + (f" and {len(people) - 5} more" if len(people) > 5 else "")
    note(
        f"wrote {out / labelled.RECORDS}: records: {len(made.records)}, labels: {len(made.provenance)}, by {names}; "
        f"{labelled.PROVENANCE} beside it has who and when"
    )
    splits = {name: out / f"{name}.jsonl" for name in ("train", "dev", "test") if (out / f"{name}.jsonl").is_file()}
    if "train" in splits:
        note(str(corrected(task, out / labelled.RECORDS, splits)))


def _say(made: "Labelled") -> None:
    """What was left out, and why."""
    from aisr.cli.display import note

    for task, count in made.elsewhere.items():
        note(f"{count} corrections are of {task}: --task {task} takes them")
    _list("people differ, left out (--majority takes what more than half say)", [str(one) for one in made.conflicts])
    _list("left out, as they fit no record", made.rejected)


def _list(title: str, lines: "Sequence[str]") -> None:
    from aisr.cli.display import note

    if lines:
        note(f"{len(lines)} × {title}:")
        for line in lines[:MOST]:
            note(f"  {line}")
        if len(lines) > MOST:
            note(f"  … and {len(lines) - MOST} more")


def _write(out: Path, contents: "Mapping[str, str]") -> None:
    """Raises UserError where something else stands there."""
    from aisr.base.files import write_whole

    for name, content in contents.items():
        path, whole = out / name, content.encode()
        if path.exists() and (not path.is_file() or path.stat().st_size != len(whole) or path.read_bytes() != whole):
            raise UserError(
                f"{path}: there already, and made of other corrections. It can be made again of the files that it "
                "came from: name all of them, and remove it or choose another --out"
            )
    for name, content in contents.items():
        write_whole(out / name, content)
