"""The options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.commands.given import known_task, there

if TYPE_CHECKING:
    from aisr.tasks.task import Task

LMSpec = Annotated[
    str,
    typer.Option(
        "--lm",
        envvar="AISR_LM",
        help="`embedded`, PROVIDER/MODEL such as openai/gpt-4o-mini, or decide:PROVIDER/MODEL, a decision model.",
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option(
        envvar="AISR_API_BASE",
        help="Address of the server of --lm openai/MODEL (its API is OpenAI's) or decide:…/MODEL.",
    ),
]
Schema = Annotated[bool, typer.Option(help="Whether a server of your own takes a JSON schema.")]
Logprobs = Annotated[
    bool, typer.Option(help="Whether to ask for log-probabilities, where the LM or server may give them.")
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="LM calls at a time. Default: 8; the embedded model takes 1."),
]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Send nothing more once this much is spent.")]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Send nothing more once so many LM calls were sent.")]
MaxMinutes = Annotated[float | None, typer.Option(min=0, help="Send nothing more after this time.")]
PriceOption = Annotated[
    str | None,
    typer.Option("--price", help="USD a million prompt,completion tokens, where LiteLLM's list lacks the model."),
]
EmbeddingPrice = Annotated[
    float | None,
    typer.Option(min=0, help="USD a million tokens of a retriever's embedding model, where LiteLLM's list lacks it."),
]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Print the estimated calls, tokens and cost by a dry run, then exit.")
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
BatchAnswers = Annotated[
    Path | None, typer.Option("--answers", help="What a batch API gave back, for --batch import.", callback=there)
]
Jsonl = Annotated[Path, typer.Option("--data", help="JSONL file of records.", show_default=False, callback=there)]
Limit = Annotated[int | None, typer.Option(min=1, help="Take only the first records.")]
Traces = Annotated[
    int, typer.Option(min=0, help="Show so many records, failed, wrong and right ones, as traces in MLflow.")
]
ARTIFACTS = Path("artifacts")
TRACES = 5

RECORDS_FAILED = 1  # exit code: the command went through, some records did not
REFUSED = 2  # exit code: bad input, nothing was done
FOUND = 3  # exit code: what the user asked to be told of by it is there


def chosen_task(name: str) -> "Task":
    """The task of --task. Raises UserError for any other name."""
    known_task(name)
    from aisr.tasks.all import TASKS

    return TASKS[name]
