"""The options that name a task, or belong to the program of one: whoever adds a task with options of its own adds them
here. Nothing else in the commands knows a task by its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from aisr.cli.options import known_task, there
from aisr.programs.registry import TASKS

TaskName = Annotated[
    str,
    typer.Option(
        "--task",
        help=f"The task: {', '.join(TASKS)}.",
        show_default=False,
        callback=known_task,
    ),
]
SEARCHING = "track2"
SearchingTask = Annotated[str, typer.Option("--task", help="A task that retrieves paragraphs.", callback=known_task)]
Unit = Annotated[str | None, typer.Option(help="track1: judge a `paragraph` or a `sentence` a call.")]
UncompiledEvidence = Annotated[
    str | None,
    typer.Option(
        "--evidence",
        help="What uncompiled programs show of a picture: its `caption`, or besides its text (`ocr`) or its pixels "
        "(`image`); `auto` is image where the LM is known to take them, else ocr. Default: image where it is, else "
        "caption.",
    ),
]
ImageRoot = Annotated[
    Path | None,
    typer.Option(
        envvar="AISR_IMAGE_ROOT",
        help="track1, draft: the folder that img_path starts from. Default: that of the data, or one above, with "
        "`images/`.",
    ),
]
ContextTokens = Annotated[
    int | None,
    typer.Option(
        "--context-tokens",
        min=1,
        help="track2: tokens of the paper to show; all of it where it is shorter. Default: 3000.",
    ),
]
Retriever = Annotated[
    str | None,
    typer.Option(
        help="track2, averitec, context24-figures: `bm25` (default), `dense` or `hybrid`; the last two with an "
        "embedding model behind a colon, or the built-in one."
    ),
]
ShapeLike = Annotated[
    Path | None,
    typer.Option(
        help="track1, draft: resample dev and test to the lengths of this (unlabelled) test file.", callback=there
    ),
]
EvidenceFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--evidence", help="track1: text or Markdown that the paragraph reports on; repeatable.", callback=there
    ),
]
Paper = Annotated[Path | None, typer.Option(help="track2: the cited paper as text or Markdown.", callback=there)]
EmbeddingApiBase = Annotated[
    str | None,
    typer.Option(
        envvar="AISR_EMBEDDING_API_BASE",
        help="track2: address of the server that a retriever's embedding model is asked at; `provider`: whom the model "
        "string names. Default: that of --api-base.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """What `aisr compile` builds a program with: each option of a judge by the name that it has there."""

    unit: Unit = None
    evidence: Annotated[
        str | None,
        typer.Option(
            help="track1, draft: what is shown of a picture: its `caption`, or besides its text (`ocr`) or its "
            "pixels (`image`); `auto` is image where the LM takes them, else ocr. Default: caption."
        ),
    ] = None
    context_tokens: ContextTokens = None
    retriever: Retriever = None
    questions: Annotated[
        int | None,
        typer.Option(min=0, max=5, help="averitec: most questions to ask before evidence is looked for. Default: 5."),
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option(
            help="context24-figures: how figures are ranked: `element/100` (default), `element/sentence`, `chunk/100`, "
            "`chunk/sentence` or `fusion` of the four. context24-text: `method` (default: the "
            "LM chooses among sentences that tell of method), `select` (among the best by BM25), or without LM "
            "`sentences`."
        ),
    ] = None
    sentences: Annotated[
        int | None, typer.Option(min=1, max=30, help="context24-text: most sentences to take. Default: 5.")
    ] = None
    order: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=20,
            help="context24-figures: how many of the best figures the LM puts in order; 0: no LM. Default: 10.",
        ),
    ] = None

    def said(self) -> dict[str, Any]:
        """Those that were said, as programs take them; for the rest a program has defaults."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}


# Options of some tasks, by the names of the parameters, and whose they are: `--task T --help` shows those of T alone.
OF_TASKS: Mapping[str, Sequence[str]] = {
    "unit": ("track1",),
    "evidence": ("track1", "draft"),
    "image_root": ("track1", "draft"),
    "shape_like": ("track1", "draft"),
    "context_tokens": ("track2",),
    "retriever": ("track2", "averitec", "context24-figures"),
    "questions": ("averitec",),
    "order": ("context24-figures",),
    "strategy": ("context24-figures", "context24-text"),
    "sentences": ("context24-text",),
}
