"""The command that makes records of the organisers' files of AVeriTeC and Context24."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aisr.cli import options as opt
from aisr.cli.display import note


def convert(
    task: Annotated[
        Literal["averitec", "context24-text", "context24-figures"],
        typer.Argument(help="The task whose files they are.", show_default=False),
    ],
    claims: Annotated[Path, opt.file_argument(help="The organisers' claims, a JSON list.")],
    out: Annotated[Path, typer.Option(help="JSON Lines file to write.", show_default=False)],
    documents: Annotated[
        Path | None, opt.folder_option(help="averitec: folder with the pages by claim: 0.json, …")
    ] = None,
    papers: Annotated[Path | None, opt.file_option(help="context24: JSON object, full text by citekey.")] = None,
    captions: Annotated[
        Path | None, opt.folder_option(help="context24-figures: folder with a JSON object a paper.")
    ] = None,
    figures: Annotated[
        Path | None, opt.folder_option(help="context24-figures: folder with a folder of pictures a paper.")
    ] = None,
) -> None:
    """Make records of the organisers' files of AVeriTeC and Context24.

    What is changed is printed, and so is what lacks its pages or its paper, and is left out.
    """
    from aisr.programs.convert import write_records

    note(f"wrote {out}: {write_records(task, claims, out, documents, papers, captions, figures)} claims")
