"""The command that makes records of the organisers' files of AVeriTeC and Context24."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import jsonlines
import typer

from aisr.base.errors import UserError
from aisr.base.files import replacing
from aisr.cli import options as opt
from aisr.cli.display import note

_folder = partial(typer.Option, exists=True, file_okay=False, show_default=False)


def convert(
    task: Annotated[
        Literal["averitec", "context24-text", "context24-figures"],
        typer.Argument(help="The task whose files they are.", show_default=False),
    ],
    claims: Annotated[Path, opt.file_argument(help="The organisers' claims, a JSON list.")],
    out: Annotated[Path, typer.Option(help="JSON Lines file to write.", show_default=False)],
    documents: Annotated[Path | None, _folder(help="averitec: folder with the pages by claim: 0.json, …")] = None,
    papers: Annotated[Path | None, opt.file_option(help="context24: JSON object, full text by citekey.")] = None,
    captions: Annotated[Path | None, _folder(help="context24-figures: folder with a JSON object a paper.")] = None,
    figures: Annotated[
        Path | None, _folder(help="context24-figures: folder with a folder of pictures a paper.")
    ] = None,
) -> None:
    """Make records of the organisers' files of AVeriTeC and Context24.

    What is changed is printed, and so is what lacks its pages or its paper, and is left out.
    """
    from aisr.programs import convert as files

    if out.exists():  # what it holds took long
        raise UserError(f"{out} exists; choose another --out or remove it")
    if task == "averitec":
        records = files.averitec_records(claims, _needed(documents, "--documents", task))
    elif task == "context24-text":
        records = files.text_records(claims, _needed(papers, "--papers", task))
    else:
        records = files.figure_records(claims, _needed(papers, "--papers", task), captions, figures)
    count = 0
    with replacing(out) as new:
        lines = jsonlines.Writer(new)
        for record in records:
            lines.write(record)
            count += 1
    note(f"wrote {out}: {count} claims")


def _needed(path: Path | None, option: str, task: str) -> Path:
    if path is None:
        raise UserError(f"{option} is missing; {task} needs it")
    return path
