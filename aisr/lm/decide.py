"""A decision model as a DSPy engine: it is sent questions with their options, and gives a probability for each option.

The answer that programs see is the JSON that a model which writes would have written, with the probabilities beside it
as one token a label, whose alternatives are whole labels.
"""

import asyncio
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from dspy.lm15 import (
    AccessPolicy,
    InvalidRequestError,
    LM15Error,
    Message,
    OpenAIChatCompat,
    ProviderDefinition,
    Request,
    Response,
    RouterConfig,
    TextPart,
    TokenLogprob,
    TopLogprob,
    Usage,
)

from aisr.compat.decisions import MOST_QUESTIONS, Asked, Prepared, answer_in, prepared
from aisr.compat.dspy import AsyncLM15Engine, LM15Engine, timeouts_for
from aisr.compat.transport import BoundedAsyncTransport, BoundedTransport, Wire
from aisr.lm.budget import paid_for, together
from aisr.lm.decision_answers import Served, Unusable, parsed, read
from aisr.lm.question_adapter import NOTHING_BEFORE, question_from
from aisr.programs.questions.closed import SURE, Each, NoDistribution, Question, distribution, named, probability

IMPOSSIBLE = 1e-300  # in place of a probability of 0, which has no logarithm


class DecisionEngine:
    """What `dspy.LM(engine=...)` asks of an engine, for the decision models that LiteLLM knows.

    model: as LiteLLM names it; api_base: a server of one's own; api_key: its key, where it is not in the environment;
    keys: the variables that it is read from there; timeout: seconds for a whole answer, None for ten
    minutes; threads: the most connections.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"response_format", "logprobs", "top_logprobs"})
    decides = True
    takes_constraints = True  # aisr.programs.asking.ask: what a list may hold, and how many

    def __init__(
        self,
        model: str,
        api_base: str | None,
        api_key: str | None,
        keys: Sequence[str],
        timeout: float | None,
        threads: int,
    ) -> None:
        self.model, self.api_base, self.api_key, self.keys = model, api_base, api_key, tuple(keys)
        self.name = f"{model.partition('/')[0].replace('_', '-')}-decisions"  # lm15 has its own `openai`
        waits = RouterConfig(timeouts=timeouts_for(timeout), max_connections=max(threads, 8))
        self.settings = {**waits.transport_kwargs(), "trust_env": bool(getproxies())}
        self._transport = BoundedTransport(**self.settings)
        self._engine = LM15Engine(self.over(self._transport))
        self._wire = Wire(self._engine, self.name)

    def __deepcopy__(self, memo: dict[int, Any]) -> "DecisionEngine":
        return self

    def over(self, transport: object) -> RouterConfig:
        """A provider over these connections; its address and key are in each request."""
        access = AccessPolicy(provider=self.name, env_keys=self.keys, base_url="http://127.0.0.1")
        definition = ProviderDefinition.chat(
            access, compat=OpenAIChatCompat(), placeholder_key=None if self.keys else "none"
        )
        return RouterConfig(providers=(definition,), transport=transport)

    def complete(self, request: Request) -> Response:
        """One answer. Raises lm15's errors: `Unusable` for probabilities that are no distribution."""
        form = form_in(request)
        parts: list[Served] = []
        try:
            for asked in self.requests(request, form):
                one = prepared(asked)
                parts.append(heard(asked, one, self._wire.sent(one.url, one.headers, one.body)))
        except LM15Error as error:
            raise _charged(error, parts) from None
        return answer(request, form, parts)

    def requests(self, request: Request, form: Mapping[str, Any]) -> Iterator[Asked]:
        """What is sent: one request, or several where there are more questions than one takes."""
        state, images = judged(request)
        questions = [question_from(said) for said in form["questions"]]
        for begin in range(0, len(questions), MOST_QUESTIONS):
            part = {one.name: on_wire(one) for one in questions[begin : begin + MOST_QUESTIONS]}
            yield Asked(self.model, state, part, images, self.api_base, self.api_key)

    def close(self) -> None:
        """Close the connections, after which nothing more can be asked."""
        self._engine.close()
        self._transport.close()


class AsyncDecisionEngine:
    """The same for coroutines. Connections belong to an event loop, so each loop has its own."""

    def __init__(self, engine: DecisionEngine) -> None:
        self.engine = engine
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncDecisionEngine":
        return self

    async def complete(self, request: Request) -> Response:
        form = form_in(request)
        asked = list(self.engine.requests(request, form))
        parts, errors = [], []
        for one in await asyncio.gather(*map(self._served, asked), return_exceptions=True):
            if isinstance(one, BaseException):
                errors.append(one)
            else:
                parts.append(one)
        if errors:
            first = errors.pop(0)
            raise _charged(first, parts, errors) from None
        return answer(request, form, parts)

    async def _served(self, asked: Asked) -> Served:
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            transport = BoundedAsyncTransport(**self.engine.settings)
            engine = AsyncLM15Engine(self.engine.over(transport))
            self._opened[loop] = Wire(engine, self.engine.name), engine, transport
        one = prepared(asked)
        return heard(asked, one, await self._opened[loop][0].asent(one.url, one.headers, one.body))

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        for opened in self._opened.pop(asyncio.get_running_loop(), (None,))[1:]:
            await opened.aclose()


def heard(asked: Asked, sent: Prepared, body: bytes) -> Served:
    """What a server answered. Raises `Unusable`."""
    return read(answer_in(sent.provider, parsed(body)), asked.questions)


def form_in(request: Request) -> Mapping[str, Any]:
    """The questions that a request carries. Raises InvalidRequestError for one without any, such as a plain prompt."""
    said: Any = request.config.response_format or {}
    schema = said.get("schema") or {}
    if not schema.get("questions"):
        raise InvalidRequestError("a decision model answers closed questions, and this call asks none")
    form: Mapping[str, Any] = schema
    return form


def on_wire(question: Question) -> dict[str, Any]:
    """A question in the System One form."""
    if question.options is None:
        return {"type": "noul", "instructions": question.instructions}
    criteria = {label: text or None for label, text in question.options.items()}
    return {"type": "choice", "instructions": question.instructions, "criteria": criteria}


def judged(request: Request) -> tuple[str, list[str]]:
    """What the questions are about, as one text, and its pictures in their order, each spoken of in the text: what
    stands before all, examples with their answers, and the record."""
    system = request.system if isinstance(request.system, str) else "".join(p.text for p in request.system or ())
    texts = [] if system.strip() in ("", NOTHING_BEFORE) else [system]
    images: list[str] = []
    last = len(request.messages) - 1
    for number, message in enumerate(request.messages):
        text = ""
        for part in message.parts:
            if getattr(part, "type", "") == "image" and part.data:
                images.append(f"data:{part.media_type};base64,{part.data}")
                text += f"[picture {len(images)}]\n"
            else:
                text += getattr(part, "text", "") or ""
        heading = "Answer:" if message.role == "assistant" else "To be judged:" if number == last else "Example:"
        texts.append(f"{heading}\n{text}" if last else text)
    return "\n\n".join(texts), images


def answer(request: Request, form: Mapping[str, Any], parts: Sequence[Served]) -> Response:
    """What was served as the answer that a program reads. Raises `Unusable` where it is no distribution, or where a
    question was refused."""
    said = {name: one for part in parts for name, one in part.answers.items()}
    paid = together(part.paid for part in parts)
    try:
        text, tokens = _read(form, said)
    except NoDistribution as error:
        raise Unusable(str(error), paid) from error
    return Response(
        id=None,
        model=request.model,
        message=Message.assistant([TextPart(text)]),
        finish_reason="stop",
        usage=_usage(paid),
        logprobs=tuple(tokens) if tokens and request.config.logprobs is not None else None,
    )


def _usage(paid: Mapping[str, Any] | None) -> Usage:
    if not paid:
        return Usage()
    details = paid["prompt_tokens_details"]
    return Usage(
        input_tokens=paid["prompt_tokens"],
        output_tokens=paid["completion_tokens"],
        cache_read_tokens=details["cached_tokens"],
    )


def _charged(error: BaseException, parts: Iterable[Served], others: Iterable[BaseException] = ()) -> BaseException:
    """An error that also knows what was paid for the other requests of the same call (`aisr.lm.budget.paid_for`)."""
    known = [paid_for(one) for one in (error, *others)] + [part.paid for part in parts]
    if any(paid is not None for paid in known):
        error.paid = together(paid for paid in known if paid is not None)  # type: ignore[attr-defined]
    return error


def _read(form: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[str, list[TokenLogprob]]:
    rows: dict[str, list[tuple[dict[str, float], str]]] = {}  # of each field of labels, by slot
    ids: dict[str, dict[str, float]] = {name: {} for name in form["lists"]}
    for question in map(question_from, form["questions"]):
        if question.name not in said:
            raise NoDistribution(f"{question.name}: no answer; the model may have refused it")
        found = said[question.name]
        if question.options is None:
            ids[question.field][str(question.slot)] = probability(question, found)
        else:
            if not isinstance(found, dict):
                raise NoDistribution(f"{question.name}: one number where each option has a probability")
            chances = dict(zip(question.options, distribution(question, found), strict=True))
            rows.setdefault(question.field, []).append((chances, max(chances, key=lambda label: chances[label])))
    values: dict[str, Any] = {}
    for name, shape in form["shapes"].items():
        if name in rows:
            labels = [label for _, label in rows[name]]
            values[name] = labels[0] if shape == "label" else labels
        elif name in form["lists"]:
            wanted = form["lists"][name]
            values[name] = named(Each("", wanted["ranked"]), ids[name], wanted["least"], wanted["most"])
        else:
            sure = [_in_words(*pair) for field in rows for pair in rows[field]] if name == SURE else []
            values[name] = sure if shape == "list" else "".join(sure)
    return json.dumps(values, ensure_ascii=False), [_token(*pair) for field in rows for pair in rows[field]]


def _in_words(chances: Mapping[str, float], label: str) -> str:
    """Probabilities as a model that writes states them, for a program that was compiled to read that."""
    others = [f"{name} {100 * chance:.2f}" for name, chance in chances.items() if name != label]
    return ", ".join([f"{100 * chances[label]:.2f}", *others])


def _token(chances: Mapping[str, float], label: str) -> TokenLogprob:
    ranked = sorted(chances.items(), key=lambda pair: -pair[1])
    logs = {name: math.log(max(chance, IMPOSSIBLE)) for name, chance in ranked}
    top = tuple(TopLogprob(token=name, logprob=log) for name, log in logs.items())
    return TokenLogprob(token=label, logprob=logs[label], top=top)
