"""Reading answers of LMs: the one place that says what of an answer counts, and why one ended without any.

1. Thoughts are cut off first (`without_thoughts`): they hold drafts.
2. Of what is left, the last JSON object that holds all fields counts, or the last run of DSPy's marked fields that
   does; whatever stands before or behind it is passed over. In the form that the adapter asked for, if the answer has
   that, else in the other one.
3. An object that is not complete does not count: its last value may be cut, and `P1` be the rest of `P12`.

An answer without such an object is an `AdapterParseError`; programs ask once more then, and fail the record after that
(`aisr.programs.program.ask`). `Answer.failure` gives the reason where asking once more would not help.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import dspy
import json_repair
from dspy.lm15 import RefusalPart
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel

from aisr.base.private import plain

# --- Thoughts

TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
THOUGHT = re.compile(
    rf"(?P<open><(?:\w+:)?(?:{TAGS})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<\|channel>)"
    rf"|</(?:\w+:)?(?:{TAGS})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<channel\|>",
    re.IGNORECASE,
)
# Channels of the form "harmony", as servers pass them on, with its control tokens or without.
CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
BARE_CHANNELS = re.compile(r"\A\s*analysis.*assistantfinal", re.DOTALL)
CONTROL_TOKENS = re.compile(r"(?:<\|\w+\|>\s*)+\Z")


def without_thoughts(text: str) -> str:
    """Return an answer without what the model only thought: what stands in `<think>…</think>` and its like, also where
    the opening tag is missing (all before the closing one) or the closing one (all behind it, if it begins a line), and
    in all channels but `final`."""
    messages = list(CHANNEL.finditer(text))
    if messages:
        finals = [message for message in messages if message["name"] == "final"]
        text = re.split(r"<\|(?:end|return|call|channel)\|>", text[finals[-1].end() :])[0] if finals else ""
    text = BARE_CHANNELS.sub("", text)
    kept: list[str] = []
    end, start = 0, None  # of what is kept; of the thought that is open
    for tag in THOUGHT.finditer(text):
        if tag["open"]:
            start = tag.start() if start is None else start
            continue
        kept = [] if start is None else [*kept, text[end:start]]
        end, start = tag.end(), None
    rest = text[end:]
    if start is not None and not text[:start].rpartition("\n")[2].strip():
        rest = text[end:start]
    return CONTROL_TOKENS.sub("", "".join([*kept, rest])).strip()


# --- Objects and marked fields

FIELD = re.compile(r"^[ \t*_>#]*\[\[ ## (\w+) ## \]\]", re.MULTILINE)
BRACE = re.compile(r"[{}]")


def last_object(text: str, names: Sequence[str]) -> str | None:
    """Return the last JSON object in a text that holds all of some fields, be it within another, as text; None for
    none. One that lacks its last brace alone is whole.

    Where none is JSON as it stands, one in the manner of Python or JavaScript counts as well. Raises ValueError for
    numbers that Python does not read, RecursionError.
    """
    text = text.replace("\u00a0", " ").removeprefix("\ufeff").strip()
    with suppress(json.JSONDecodeError):
        text = json.loads(text) if text.startswith('"') else text
    holding: list[dict[str, Any]] = []

    def note(decoded: dict[str, Any]) -> dict[str, Any]:
        holding.extend([decoded] if all(name in decoded for name in names) else [])
        return decoded

    decoder = json.JSONDecoder(strict=False, object_hook=note)  # which takes line ends within texts
    place, cut = text.find("{"), None  # cut: from where on the text ends within an object
    while place >= 0:
        end = place + 1
        try:
            _, end = decoder.raw_decode(text, place)
            cut = None
        except json.JSONDecodeError as error:
            if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
                cut = place if cut is None else cut
                if not text[-1].isdigit():  # a number may go on
                    with suppress(json.JSONDecodeError):
                        decoder.decode(text[place:] + "}")
                        cut = None
        place = text.find("{", end)
    if cut is not None and any(f'"{name}"' in text[cut:] for name in names):
        return None  # what comes before it is a draft
    if not holding:
        for braced in _outermost(text):
            if isinstance(repaired := json_repair.loads(braced), dict):
                decoder.decode(json.dumps(repaired))  # notes what is within as well
    return json.dumps(holding[-1]) if holding else None


def _outermost(text: str) -> list[str]:
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
    return [text[start:end] for start, end in spans]


def last_fields(text: str, names: Sequence[str]) -> str | None:
    """Return the last run of DSPy's marked fields that holds all of some, as text; None for none. A field that stands
    there once more begins another run."""
    runs: list[dict[str, str]] = [{}]
    marks = list(FIELD.finditer(text))
    for mark, following in zip_longest(marks, marks[1:]):
        if mark[1] in runs[-1]:
            runs.append({})
        runs[-1][mark[1]] = text[mark.end() : following.start() if following else None].strip()
    whole = [run for run in runs if all(name in run for name in names)]
    return "\n\n".join(f"[[ ## {name} ## ]]\n{whole[-1][name]}" for name in names) if whole else None


# --- How a prompt is rendered and an answer read: DSPy's adapters


def adapter_for(schema: bool) -> dspy.Adapter:
    """Return DSPy's adapter for JSON under a schema where the model takes one, elsewhere that for marked fields, whose
    fallback to JSON would double a weak model's calls in silence.

    It reads answers as this module says, with every failure as its own error: DSPy lets the errors of its parsers pass,
    where an answer nests too deep for them or holds a number of ten thousand digits. And an output that a demo lacks is
    left out of its answer: DSPy puts "Not supplied for this particular example" there, which teaches the words.
    """
    adapter = dspy.JSONAdapter() if schema else dspy.ChatAdapter(use_json_adapter_fallback=False)
    parse, format_demos = adapter.parse, adapter.format_demos
    forms = {True: (last_object, dspy.JSONAdapter().parse), False: (last_fields, dspy.ChatAdapter().parse)}

    def read(signature: Any, completion: str) -> Any:
        text = without_thoughts(completion)
        names = [name for name, field in signature.output_fields.items() if field.is_required()]
        unread = AdapterParseError(type(adapter).__name__, signature, text)
        try:
            for is_json in (schema, not schema):
                find, parse_form = forms[is_json]
                if (found := find(text, names)) is None:
                    continue
                try:
                    return parse_form(signature, found)
                except AdapterParseError as error:
                    raise error if is_json else unread from error
            if all(field.annotation is str for field in signature.output_fields.values()):
                return parse(signature, text)  # a text that was cut is still a text
        except (ValueError, RecursionError, MemoryError) as error:
            raise AdapterParseError(type(adapter).__name__, signature, completion, message=str(error)) from error
        raise unread

    def of_their_own_fields(signature: Any, demos: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for demo in demos:
            lacking = tuple(name for name in signature.output_fields if demo.get(name) is None)
            if len(lacking) < len(signature.output_fields):
                messages += format_demos(_without(signature, lacking), [demo])
        return messages

    adapter.parse, adapter.format_demos = read, of_their_own_fields
    return adapter


@lru_cache(maxsize=64)
def _without(signature: Any, names: tuple[str, ...]) -> Any:
    """A signature without some of its fields."""
    for name in names:
        signature = signature.delete(name)
    return signature


# --- Endings


class Answer(BaseModel):
    """The answer to a call, as the response cache and recordings keep it.

    call: digest of the call; outputs: as DSPy returns them, a text each, or an object with `text` and `logprobs`;
    finish: why each ended: `length`, `content_filter`, `tool_calls`, `refusal`, or that of one that ended by itself;
    refusal: the words of a refusal; tokens: of the answer, as the server counts.
    """

    call: str
    outputs: list[str | dict[str, Any] | None]
    finish: list[str | None]
    refusal: str = ""
    tokens: int = 0

    def failure(self, limit: int | None, option: str) -> str | None:
        """Return why there is no answer to use and asking once more would not help; None where there may be one.

        limit: the most tokens of an answer that were asked for; option: the one that sets it, as it is typed.
        """
        for reason, output in zip(self.finish, self.outputs, strict=False):
            if reason == "length":
                most = limit or self.tokens
                option = f"{option}={2 * most}" if most else option
                cut = f"the answer was cut after {most or 'too many'} tokens"
                return f"{cut}, the most that is allowed; {option} allows more"
            if reason == "refusal":
                words = " ".join(self.refusal.split())[:200]
                return f"the model refused to answer: {words}" if words else "the model refused to answer"
            if reason == "content_filter":
                return "the answer was filtered"
            if reason == "tool_calls" and not (output.get("text") if isinstance(output, dict) else output):
                return "the model called a tool, which none was offered, in place of an answer"
        return None


def read_answer(call: str, entry: Mapping[str, Any]) -> Answer:
    """Return the answer to a call. entry: of DSPy's history, whose response is of DSPy's own form, or of OpenAI's."""
    response = entry["response"]
    endings = [ending for one in (response if isinstance(response, tuple) else (response,)) for ending in _endings(one)]
    return Answer(
        call=call,
        outputs=[_text_and_logprobs(output) for output in entry["outputs"]],
        finish=[reason for reason, _ in endings],
        refusal="".join(words for _, words in endings),
        tokens=entry["usage"].get("completion_tokens") or 0,
    )


def _endings(response: Any) -> Iterator[tuple[str | None, str]]:
    """Yield why each answer of a response ended, and the words of a refusal."""
    choices = getattr(response, "choices", None)
    if choices is None:  # of DSPy's own form
        refused = "".join(part.text for part in response.message.parts if isinstance(part, RefusalPart))
        reason = "tool_calls" if response.finish_reason == "tool_call" else response.finish_reason
        yield "refusal" if refused else reason, refused
        return
    for choice in choices:
        message = getattr(choice, "message", None)
        special = getattr(message, "provider_specific_fields", None) or {}  # where LiteLLM keeps it
        refused = getattr(message, "refusal", None) or special.get("refusal") or ""
        yield "refusal" if refused else getattr(choice, "finish_reason", None), refused


def _text_and_logprobs(output: Any) -> Any:
    """Return an output without what no program reads, such as thoughts."""
    if not isinstance(output, dict):
        return output or ""
    text, logprobs = output.get("text") or "", output.get("logprobs")
    return {"text": text, "logprobs": plain(logprobs)} if logprobs else text
