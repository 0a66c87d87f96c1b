"""The options that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.programs import names
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.budget import Ledger
    from aisr.programs.task import Task


# --- What is refused of a command's words as they are read: nobody waits for DSPy to be told of a typing error.


def known_task(name: str | None) -> str | None:
    """What --task says. Raises UserError for the name of no task."""
    if name is not None and name not in names.TASK_NAMES:
        raise UserError(f"--task {name!r}; one of: {', '.join(names.TASK_NAMES)}")
    return name


def there(param: typer.CallbackParam, given: Any) -> Any:
    """The path or paths that an option or argument says. Raises UserError where one is no file."""
    option = f"{param.opts[-1]} " if param.param_type_name == "option" else ""
    for path in given if isinstance(given, list | tuple) else [given]:
        if path is not None and (path.is_dir() or not path.exists()):
            found = "a folder" if path.is_dir() else "no such file"
            expected = str(getattr(param, "help", None) or "a file").rstrip(".")
            raise UserError(f"{option}{path}: {found}; expected: {expected.partition(': ')[2] or expected}")
    return given


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
MaxUsd = Annotated[
    float | None,
    typer.Option(
        min=0, help="Send nothing more once this much is spent, by all runs that write the same output together."
    ),
]
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
    from aisr.programs.registry import TASKS

    return TASKS[name]


# --- The options of LMs that commands share, as values: how one is reached, and what may be spent.


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Where the LM of --lm is, and how it is asked. One beside it is asked in the same way."""

    api_base: ApiBase = None
    schema: Schema = True
    logprobs: Logprobs = True
    threads: Threads = None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What may be spent, and what is paid for models that LiteLLM's list lacks."""

    max_usd: MaxUsd = None
    max_calls: MaxCalls = None
    max_minutes: MaxMinutes = None
    price: PriceOption = None
    embedding_price: EmbeddingPrice = None

    def ledger(self, output: Path | None = None) -> "Ledger":
        """A new account with these limits, of which that in US dollars is for all runs that write `output`."""
        from aisr.lm.budget import Ledger, Limits

        limits = Limits(self.max_usd, self.max_calls, self.max_minutes)
        return Ledger(limits) if output is None else Ledger.beside(output, limits)

    def prices(self) -> dict[str, Any]:
        """What an LM is opened with."""
        return {"price": self.price, "embedding_price": self.embedding_price}
