"""The options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optimize.tasks import Task

TaskName = Annotated[str, typer.Option("--task", help="track1 or track2.", show_default=False)]
LMSpec = Annotated[
    str, typer.Option("--lm", envvar="AISR_LM", help="`embedded`, or PROVIDER/MODEL such as openai/gpt-4o-mini.")
]
ApiBase = Annotated[
    str | None,
    typer.Option(envvar="AISR_API_BASE", help="Address of an OpenAI-compatible server for --lm openai/MODEL."),
]
Schema = Annotated[bool, typer.Option(help="Whether the server at --api-base takes a JSON schema.")]
Logprobs = Annotated[
    bool, typer.Option(help="Whether to ask for log-probabilities, where the LM or server may give them.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="LM calls at a time. Default: 8; the embedded model takes 1.")]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Send nothing more once this much is spent.")]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Send no more LM calls than this.")]
MaxMinutes = Annotated[float | None, typer.Option(min=0, help="Send nothing more after this time.")]
PriceOption = Annotated[
    str | None,
    typer.Option("--price", help="USD a million prompt,completion tokens, where LiteLLM's list lacks the model."),
]
Root = Annotated[
    Path, typer.Option("--artifacts", envvar="AISR_ARTIFACTS", help="Where artifacts, cache and MLflow store are.")
]
ProgramName = Annotated[
    str, typer.Option("--program", help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.", show_default=False)
]
Batch = Annotated[
    str | None,
    typer.Option(
        help="`export` writes the requests for a provider's batch API to --out; `import` predicts from its --answers."
    ),
]
BatchAnswers = Annotated[Path | None, typer.Option("--answers", help="What a batch API gave back, for --batch import.")]
Jsonl = Annotated[Path, typer.Option("--data", help="JSONL file of records.", show_default=False)]
Unit = Annotated[str | None, typer.Option(help="track1: judge a `paragraph` or a `sentence` a call.")]
Evidence = Annotated[
    str | None,
    typer.Option(
        help="track1: what is shown of a picture: its `caption`, or besides its text (`ocr`), its pixels (`image`), "
        "what the LM wrote of it (`transcript`); `auto` is image where the LM takes them, else ocr. Default: caption."
    ),
]
ContextTokens = Annotated[
    int | None,
    typer.Option(min=1, help="track2: tokens of the paper to show. Default: 2/5 of it, 600 to 3,000."),
]
ImageRoot = Annotated[
    Path | None,
    typer.Option(
        envvar="AISR_IMAGE_ROOT",
        help="track1: the folder that img_path starts from. Default: that of the data, or one above, with `images/`.",
    ),
]
Traces = Annotated[
    int, typer.Option(min=0, help="Show so many records, failed, wrong and right ones, as traces in MLflow.")
]
ARTIFACTS = Path("artifacts")
TRACES = 5

RECORDS_FAILED = 1  # exit code: the command went through, some records did not
REFUSED = 2  # exit code: bad input, nothing was done


def chosen_task(name: str) -> "Task":
    """The task of --task. Raises ValueError for any other name."""
    from optimize.tasks import TASKS

    if name not in TASKS:
        raise ValueError(f"--task {name!r}; one of: {', '.join(TASKS)}")
    return TASKS[name]
