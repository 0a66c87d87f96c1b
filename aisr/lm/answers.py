"""Reading answers of LMs: the one place that says what of an answer counts, and why one ended without any.

1. Thoughts are cut off first (`without_thoughts`): they hold drafts.
2. Of what is left, the last JSON object that holds all fields counts, or the last run of DSPy's marked fields that
   does; whatever stands before or behind it is passed over. Of a marked field it is the first whole value, if its text
   begins with one. In the form that the adapter asked for, if the answer has that, else in the other one.
3. An object that is not complete does not count: its last value may be cut, and `P1` be the rest of `P12`. Nor does one
   with half a character, a NUL or a NaN in it, which could not be written down.

An answer without such an object is an `AdapterParseError`; programs ask once more then, and fail the record after that
(`aisr.programs.program.ask`). `Answer.failure` gives the reason where asking once more would not help.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, islice
from threading import Lock
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import dspy
import json_repair
from cachetools import LRUCache, cached
from dspy.lm15 import DataPart, FinishReason, RefusalPart, Response, TextPart
from dspy.utils.exceptions import AdapterParseError
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from aisr.base.files import digest_text
from aisr.lm.schema import outputs_model, response_format

# --- Thoughts

TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
THOUGHT = re.compile(
    rf"(?P<open><(?:\w+:)?(?:{TAGS})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<\|channel>)"
    rf"|</(?:\w+:)?(?:{TAGS})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<channel\|>",
    re.IGNORECASE,
)
# Channels of the form "harmony", as servers pass them on, with its control tokens or without.
CHANNEL = re.compile(r"<\|channel\|>\s*+(?P<name>\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>")
BARE_CHANNELS = re.compile(r"\A\s*analysis.*assistantfinal", re.DOTALL)
CHANNEL_END = re.compile(r"<\|(?:end|return|call|channel)\|>")
CONTROL_TOKEN = re.compile(r"(<\|\w{1,40}\|>)")  # such as <|im_end|>


def without_thoughts(text: str) -> str:
    """Return an answer without what the model only thought: what stands in `<think>…</think>` and its like, also where
    the opening tag is missing (all before the closing one) or the closing one (all behind it, if it is not within an
    object), and in all channels but `final`."""
    parts = CONTROL_TOKEN.split(_outside_of_tags(BARE_CHANNELS.sub("", _final_channel(text))))
    while parts and not CONTROL_TOKEN.sub("", parts[-1]).strip():
        parts.pop()
    return "".join(parts).strip()


def _final_channel(text: str) -> str:
    """Return what a text says in its last channel `final`; nothing where it has others alone."""
    channels = list(CHANNEL.finditer(text))
    if not channels:
        return text
    finals = [channel for channel in channels if channel["name"] == "final"]
    return CHANNEL_END.split(text[finals[-1].end() :])[0] if finals else ""


def _outside_of_tags(text: str) -> str:
    kept: list[str] = []
    end = 0  # of the last thought
    begin: int | None = None  # of the one that is open
    for tag in THOUGHT.finditer(text):
        if tag["open"]:
            begin = tag.start() if begin is None else begin
            continue
        kept = [] if begin is None else [*kept, text[end:begin]]
        end, begin = tag.end(), None
    answer = text[end:begin]
    is_within_object = answer.count("{") > answer.count("}")
    return "".join([*kept, text[end:] if is_within_object else answer])


# --- Objects and marked fields

FIELD = re.compile(r"^[ \t*_>#]*\[\[ ## (\w+) ## \]\]", re.MULTILINE)
BRACE = re.compile(r"[{}]")
UNWRITABLE = re.compile(r"\\u0000|[\ud800-\udfff]")  # in JSON
FENCE = re.compile(r"\A```\w*\s*")
MOST_READ = 400_000  # characters of an answer
MOST_BRACES = 2_000  # that begin no object, before nothing more is looked for
MOST_REPAIRED = 40_000  # characters of an object that is not quite JSON
Fields = dict[str, Any]


def last_object(text: str, names: Sequence[str], optional: Sequence[str] = ()) -> Fields | None:
    """Return the last JSON object in a text that holds all of some fields, be it within another; None for none. Of
    these and the optional ones, one at least has a value. One that lacks its last brace alone is whole.

    Where none is JSON as it stands, one in the manner of Python or JavaScript counts as well. Raises ValueError for
    numbers that Python does not read, RecursionError.
    """
    text = text.replace("\u00a0", " ").removeprefix("\ufeff").strip()
    with suppress(json.JSONDecodeError):
        text = json.loads(text) if text.startswith('"') else text
    objects, rest = _decode_objects(text)
    if any(f'"{name}"' in rest for name in names):
        return None  # the last object was cut, and what comes before it is a draft
    whole = _holding(objects, names, optional) or _holding(_repair_objects(text), names, optional)
    return whole[-1] if whole else None


def _holding(objects: Sequence[Fields], names: Sequence[str], optional: Sequence[str]) -> list[Fields]:
    """Return those of some objects that hold an answer."""
    whole = [found for found in objects if found.keys() >= {*names}]
    return [found for found in whole if any(found.get(name) is not None for name in (*names, *optional))]


def _decode_objects(text: str) -> tuple[list[Fields], str]:
    """Return the JSON objects in a text, those within others first, and what is left of one that was cut."""
    objects: list[Fields] = []

    def keep(found: Fields) -> Fields:
        objects.append(found)
        return found

    decoder = json.JSONDecoder(strict=False, object_hook=keep)
    place, cut = text.find("{"), len(text)
    for _ in range(MOST_BRACES):
        if place < 0:
            break
        try:
            _, end = decoder.raw_decode(text, place)
            cut = len(text)
        except json.JSONDecodeError as error:
            end = place + 1
            if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
                cut = min(cut, place)
        place = text.find("{", end)
    rest = text[cut:]
    if rest and not rest[-1].isdigit():  # a number may go on
        with suppress(json.JSONDecodeError):
            decoder.decode(rest + "}")
            rest = ""
    return objects, rest


def _repair_objects(text: str) -> list[Fields]:
    """Return the objects in a text that are not quite JSON, as `_decode_objects`."""
    objects: list[Fields] = []
    for braced in islice(_outermost(text), MOST_BRACES):
        if len(braced) <= MOST_REPAIRED and isinstance(repaired := json_repair.loads(braced), dict):
            objects += _decode_objects(json.dumps(repaired))[0]
    return objects


def _outermost(text: str) -> Iterator[str]:
    """What stands between matching braces, without what stands within it."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for brace in BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, brace.end()))
    return (text[start:end] for start, end in spans)


def last_fields(text: str, names: Sequence[str], optional: Sequence[str] = ()) -> Fields | None:
    """Return the last run of DSPy's marked fields that holds all of some, by their names; None for none. A field that
    stands there once more begins another run."""
    runs: list[Fields] = [{}]
    marks = list(FIELD.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        if mark[1] in runs[-1]:
            runs.append({})
        runs[-1][mark[1]] = text[mark.end() : end].strip()
    whole = _holding(runs, names, optional)
    return whole[-1] if whole else None


def first_value(value: Any, annotation: Any) -> Any:
    """Return what the value of a field stands for: itself, but of a text whose field is none the first whole value in
    it. Raises ValueError where a list or an object is asked for and the text begins with words: whatever comes behind
    them may be a draft."""
    is_union = get_origin(annotation) in (Union, UnionType)
    if not isinstance(value, str) or annotation is str or (is_union and str in get_args(annotation)):
        return value
    text = FENCE.sub("", value)
    with suppress(ValueError):
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    if text[:1] in ("[", "{"):
        return json_repair.loads(text)
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_model or get_origin(annotation) in (list, dict):
        raise ValueError("a field begins with words, not with its value")
    return text.strip("'")


# --- How a prompt is rendered and an answer read: DSPy's adapters


DEMOS_KEPT = 512  # rendered demos of an adapter


class _Reader:
    """What both adapters share.

    They read answers as this module says, with every failure as their own error. An output that a demo lacks is left
    out of its answer: DSPy puts "Not supplied for this particular example" there, which teaches the words. And the
    system message of a signature is rendered once, and so is a demo: together they are half of the work for a prompt.
    """

    readers: Sequence[Callable[..., Fields | None]]  # of the form that is asked for, then of the other one

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.format_system_message = lru_cache(maxsize=32)(super().format_system_message)  # type: ignore[misc]
        self._demo = cached(LRUCache(DEMOS_KEPT), key=_demo_key, lock=Lock())(self._render_demo)

    def parse(self, signature: Any, completion: str) -> Fields:
        text = without_thoughts(completion)
        try:
            return self._read(signature, text)
        except (AdapterParseError, ValueError, RecursionError, MemoryError) as error:
            raise AdapterParseError(type(self).__name__, signature, text, message=str(error)) from error

    def _read(self, signature: Any, text: str) -> Fields:
        """Return the fields of an answer, without thoughts. Raises AdapterParseError, ValueError, RecursionError,
        MemoryError."""
        if len(text) > MOST_READ:
            raise ValueError(f"longer than {MOST_READ:,} characters")
        outputs = signature.output_fields
        names = [name for name, field in outputs.items() if field.is_required()]
        optional = [name for name in outputs if name not in names]
        for reader in self.readers:
            if (values := reader(text, names, optional)) is not None:
                return _validated(signature, values)
        if any(field.annotation is not str for field in outputs.values()):
            raise AdapterParseError(type(self).__name__, signature, text)
        values = super().parse(signature, text)  # type: ignore[misc]  # a text that was cut is still a text
        if "None" in values.values():  # which DSPy makes of null
            raise ValueError("it holds no text")
        return _validated(signature, values)

    def format_demos(self, signature: Any, demos: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [dict(message) for demo in demos for message in self._demo(signature, demo)]

    def _render_demo(self, signature: Any, demo: Mapping[str, Any]) -> list[dict[str, Any]]:
        lacking = tuple(name for name in signature.output_fields if demo.get(name) is None)
        if len(lacking) == len(signature.output_fields):
            return []
        own = _without(signature, lacking)
        messages: list[dict[str, Any]] = super().format_demos(own, [demo])  # type: ignore[misc]
        return messages


def _demo_key(signature: Any, demo: Mapping[str, Any]) -> tuple[Any, str]:
    return signature, digest_text(repr(demo))


class JSONAdapter(_Reader, dspy.JSONAdapter):
    """DSPy's adapter for JSON, with the schema of this package, which each call brings along."""

    readers = last_object, last_fields

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        options = {"response_format": response_format(signature), **lm_kwargs}
        return dspy.ChatAdapter.__call__(self, lm, options, signature, demos, inputs)


class ChatAdapter(_Reader, dspy.ChatAdapter):
    """DSPy's adapter for marked fields."""

    readers = last_fields, last_object


def adapter_for(schema: bool) -> dspy.Adapter:
    """Return the adapter for JSON under a schema where the model takes one, elsewhere that for marked fields, whose
    fallback to JSON would double a weak model's calls in silence."""
    return JSONAdapter() if schema else ChatAdapter(use_json_adapter_fallback=False)


def _validated(signature: Any, values: Fields) -> Fields:
    """Return the fields of an answer as the signature has them. Raises ValueError where they are others, or hold what
    cannot be written down."""
    if UNWRITABLE.search(json.dumps(values, ensure_ascii=False, allow_nan=False)):
        raise ValueError("it holds half a character or a NUL")
    outputs = signature.output_fields
    known = {name: first_value(value, outputs[name].annotation) for name, value in values.items() if name in outputs}
    answer = outputs_model(signature).model_validate(known)
    return {name: getattr(answer, name) for name in outputs}


@lru_cache(maxsize=64)
def _without(signature: Any, names: tuple[str, ...]) -> Any:
    """A signature without some of its fields."""
    for name in names:
        signature = signature.delete(name)
    return signature


# --- Endings


class Alternative(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    token: str
    logprob: float | None


class Token(Alternative):
    top_logprobs: list[Alternative] = Field(validation_alias=AliasChoices("top_logprobs", "top"))


class Logprobs(BaseModel):
    """As OpenAI's API has them."""

    content: list[Token]


class Output(BaseModel):
    """A text with the log-probabilities of its tokens."""

    text: str
    logprobs: Logprobs


class Answer(BaseModel):
    """The answer to a call, as the response cache and recordings keep it.

    call: digest of the call; finish: why each output ended: `length`, `content_filter`, `tool_calls`, `refusal`, or
    that of one that ended by itself; refusal: the words of a refusal; tokens: of the answer, as the server counts.
    """

    call: Annotated[str, StringConstraints(max_length=64)]
    outputs: Annotated[list[str | Output | None], Field(min_length=1)]
    finish: list[str | None]
    refusal: str = ""
    tokens: int = 0

    def failure(self, limit: int | None, option: str) -> str | None:
        """Return why there is no answer to use and asking once more would not help; None where there may be one.

        limit: the most tokens of an answer that were asked for; option: the one that sets it, as it is typed.
        """
        for reason, output in zip(self.finish, self.outputs, strict=False):
            text = _text(output)
            if reason == "length":
                return self._cut(limit, option, text)
            if reason == "refusal":
                words = " ".join(self.refusal.split())[:200]
                return f"the model refused to answer: {words}" if words else "the model refused to answer"
            if reason == "content_filter":
                return "the answer was filtered"
            if reason == "tool_calls" and not text:
                return "the model called a tool, which none was offered, in place of an answer"
        return None

    def _cut(self, limit: int | None, option: str, text: str) -> str:
        """Return which limit cut an answer, and what helps."""
        if REPEATS.search(text[-TAIL:]):
            return f"the answer was cut after {self.tokens or limit or 'too many'} tokens: it repeats itself at its end"
        if limit and 0 < self.tokens < limit:
            return (
                f"the answer was cut after {self.tokens} tokens: the server's context is full; give the server a "
                "larger one, or prompts fewer demos or tokens"
            )
        most = limit or self.tokens
        option = f"{option}={2 * most}" if most else option
        return f"the answer was cut after {most or 'too many'} tokens, the most that is allowed; {option} allows more"

    @property
    def text(self) -> str:
        """The text of the first output."""
        return _text(self.outputs[0])

    def legacy_outputs(self) -> list[Any]:
        """Return the outputs as DSPy's adapters take them."""
        return [dict(output) if isinstance(output, Output) else output for output in self.outputs]


def _text(output: str | Output | None) -> str:
    return (output.text if isinstance(output, Output) else output) or ""


TAIL = 600  # characters at the end of an answer that are looked at for repetitions
REPEATS = re.compile(r"(.{2,80}?)\1{5}.{0,80}\Z", re.DOTALL)
FINISH: Mapping[FinishReason, str] = {"tool_call": "tool_calls"}


def read_answer(call: str, responses: Sequence[Response]) -> Answer:
    """Return the answer to a call that was sent for each of the responses."""
    refusals = [_texts(response, RefusalPart) for response in responses]
    return Answer(
        call=call,
        outputs=[_output(response) for response in responses],
        finish=[
            "refusal" if refused else FINISH.get(response.finish_reason, response.finish_reason)
            for response, refused in zip(responses, refusals, strict=True)
        ],
        refusal="".join(refusals),
        tokens=sum(response.usage.output_tokens or 0 for response in responses),
    )


def _texts(response: Response, kind: type[TextPart] | type[RefusalPart]) -> str:
    return "".join(part.text for part in response.message.parts if isinstance(part, kind))


def _output(response: Response) -> str | Output:
    """Return a text, without what no program reads, such as thoughts; or the text and its log-probabilities."""
    data = [json.dumps(part.value, ensure_ascii=False) for part in response.message.parts if isinstance(part, DataPart)]
    text = "".join([_texts(response, TextPart), *data])
    tokens = _tokens_of(without_thoughts(text), response.logprobs or ())
    if not any(token.top for token in tokens):  # a label's own probability alone says nothing of the others
        return text
    content = [Token.model_validate(token) for token in tokens]
    return Output(text=text, logprobs=Logprobs(content=content))


BEGINNING = 20  # characters of an answer by which it is found among its tokens


def _tokens_of(text: str, tokens: Sequence[Any]) -> Sequence[Any]:
    """Return the tokens of an answer without those of the thought before it, which some servers list as well; none
    where the answer is not among them."""
    texts = [token.token for token in tokens]
    place = "".join(texts).rfind(text[:BEGINNING])
    if place < 0 or not text:
        return ()
    ends = accumulate(map(len, texts))
    return tokens[sum(end <= place for end in ends) :]
