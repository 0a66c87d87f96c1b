"""Opening a decision model: who serves it, with which key, at which address, for how much."""

import os
from collections.abc import Callable

from aisr.base import digests
from aisr.compat.decisions import Provider, provider_of
from aisr.lm.budget import Ledger
from aisr.lm.client import THREADS, LedgerLM, OpenLM
from aisr.lm.decide import AsyncDecisionEngine, DecisionEngine
from aisr.lm.embeddings import Embeddings
from aisr.lm.prices import Price, listed_decision_price, listed_vision, listed_window
from aisr.lm.question_adapter import question_adapter
from aisr.lm.unavailable import LMUnavailable, check_price

DECIDE = "decide:"  # before the model string of a decision model
WRITER = ",writer="  # behind it, before the spec of the LM that writes what a program needs in text


def open_decisions(
    said: str,
    api_base: str | None,
    threads: int | None,
    ledger: Ledger,
    price: Price | None,
    timeout: float | None,
    keyed: bool,
    role: str,
    embeddings: Embeddings,
    open_writer: Callable[[str], OpenLM],
) -> OpenLM:
    """The decision model of a spec string without its prefix; the rest as `aisr.lm.open.open_lm` takes it.
    open_writer: opens the LM that writes. Raises `LMUnavailable`."""
    model, _, writing = said.partition(WRITER)
    provider = check_decides(model, api_base, keyed, role)
    price = price or listed_decision_price(model)
    check_price(f"{DECIDE}{model}", price, ledger, role)
    keys = [name for name in provider.keys if os.environ.get(name)]
    key = "none" if api_base and not keys else None
    engine = DecisionEngine(model, api_base, key, keys, timeout, threads or THREADS)
    digest = digests.of_text(api_base.rstrip("/")) if api_base else None
    lm = LedgerLM(
        f"decide-{digest}/{model}" if digest else f"decide/{model}",  # as servers are told apart in the response cache
        ledger=ledger,
        price=price,
        gives_logprobs=True,
        threads=threads or THREADS,
        engine=engine,
        async_engine=AsyncDecisionEngine(engine),
    )
    return OpenLM(
        lm,
        question_adapter(open_writer(writing) if writing else None),
        f"{DECIDE}{said}",
        digest,
        threads or THREADS,
        sees=provider.sees and listed_vision(model) is not False,
        window=listed_window(model),
        decides=True,
        brief=True,
        embeddings=embeddings,
    )


def check_decides(model: str, api_base: str | None, keyed: bool, role: str) -> Provider:
    """Who serves a decision model. api_base: a server of one's own; keyed: whether its key must be at hand; role: what
    the names of its options begin with. Raises `LMUnavailable`, saying which variable or option helps."""
    spec = f"--{role}lm decide:{model}"
    if "/" not in model or model.endswith("/"):
        raise LMUnavailable(f"{spec}: expected decide:PROVIDER/MODEL, such as decide:openai/gpt-6-luna")
    provider = provider_of(model)
    if provider is None:
        raise LMUnavailable(
            f"{spec}: LiteLLM knows no decision models of {model.partition('/')[0]!r}; for a server of your own use "
            f"decide:hosted_vllm/MODEL with --{role}api-base"
        )
    addressed = api_base or not provider.addresses or any(os.environ.get(name) for name in provider.addresses)
    if not addressed:
        raise LMUnavailable(f"{spec} has no address of its own: give --{role}api-base ADDRESS")
    missing = provider.keys and not any(os.environ.get(name) for name in provider.keys)
    if keyed and missing and not api_base:
        raise LMUnavailable(
            f"{spec} needs {' or '.join(provider.keys)}; set it in the environment (export {provider.keys[0]}=…), or "
            f"pass --{role}api-base for a server of your own"
        )
    return provider
