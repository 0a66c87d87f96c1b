"""The language model that judges."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM


# --- What can go wrong for a caller from Python. A record that merely fails is no error: see `aisr.Judged`.

OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


class Error(Exception):
    """What the caller can mend; the message says what was expected, and how."""


class BadRecord(Error, ValueError):
    """A record of the wrong form: `records[3]: sentence_label[0].sentence: Field required`."""


class BadProgram(Error, ValueError):
    """There is no such program, or it is not what was saved; or its store or its pictures cannot be opened."""


class LMUnavailable(Error):
    """The language model cannot be opened as asked for, or would refuse every record: a refused key, an account without
    credit, a limit that is reached, a server closed for long."""


def in_python(error: Exception) -> str:
    """The message of an error, without secrets and addresses; a command's `--api-base` is `api_base` here."""
    from aisr.base import redact

    return OPTION.sub(lambda option: option[1].replace("-", "_"), redact.addresses(str(error)))


class LM:
    """A language model that is ready for use, by any number of threads and event loops; made by `open_lm`."""

    def __init__(self, opened: "OpenLM") -> None:
        self.opened = opened

    def __repr__(self) -> str:
        return f"<aisr.LM {self.spec}>"

    @property
    def spec(self) -> str:
        """What it was opened by: `embedded`, or PROVIDER/MODEL."""
        return self.opened.spec

    @property
    def spend(self) -> dict[str, int | float | None]:
        """What its calls came to so far: `calls` sent, `cached_calls` answered from the cache, `prompt_tokens` and
        `completion_tokens` of those sent, of the former the `prefix_tokens` that the provider had in its own cache, and
        `usd` (None where a price is unknown)."""
        return self.opened.ledger.spend.as_dict()

    async def aclose(self) -> None:
        """Close the connections of this event loop; the next call opens new ones. `async with contextlib.aclosing(lm):`
        does it at the end of a block."""
        await self.opened.lm.aclose()


def open_lm(
    spec: str = "embedded",
    *,
    api_base: str | None = None,
    schema: bool = True,
    logprobs: bool = True,
    threads: int | None = None,
    timeout: float | None = None,
    price: tuple[float, float] | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    max_minutes: float | None = None,
    embedding_api_base: str | None = None,
    embedding_price: float | None = None,
) -> LM:
    """A language model by its name: `embedded`, or PROVIDER/MODEL such as `openai/gpt-4o-mini`. Its key comes from the
    environment.

    api_base: address of an OpenAI-compatible server for `openai/MODEL`; schema: whether that server takes a JSON
    schema; logprobs: whether to ask for log-probabilities, where it may give them; threads: calls at a time (default 8;
    the embedded model takes 1); timeout: seconds until an answer that is not complete is given up (default: 600);
    price: USD a million prompt and completion tokens, where LiteLLM's list lacks the model; max_usd, max_calls,
    max_minutes: nothing more is sent once so much is spent, or after so long; embedding_api_base and embedding_price:
    where the embedding model of a retriever is asked, if not at `api_base`, and USD a million of its tokens.

    Answers are kept in DSPy's own response cache, which is the caller's: in the folder DSPY_CACHEDIR, else below the
    home folder, or as `dspy.configure_cache` has it; as text, never pickles. To share that of the commands, set
    DSPY_CACHEDIR to `artifacts/.cache` before the first LM is opened. Raises `LMUnavailable`.
    """
    from aisr.lm import open as opening
    from aisr.lm import prices
    from aisr.lm.budget import Ledger, Limits
    from aisr.lm.client import THREADS
    from aisr.lm.embeddings import Embeddings

    ledger = Ledger(Limits(max_usd, max_calls, max_minutes))
    try:
        where = opening.embedding_address(embedding_api_base, api_base)
        opened = opening.open_lm(
            spec,
            api_base=api_base,
            schema=schema,
            logprobs=logprobs,
            threads=threads,
            ledger=ledger,
            price=prices.Price(*price) if price else None,
            timeout=timeout,
            embeddings=Embeddings(ledger, where, embedding_price, threads or THREADS, timeout),
        )
    except prices.LMUnavailable as error:
        raise LMUnavailable(in_python(error)) from error
    return LM(opened)
