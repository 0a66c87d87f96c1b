"""Reading replies of servers: from an HTTP response to DSPy's `Response`, or to one error whose class says what the run
does: go on with the next record, send the call again, or end.

Servers that speak OpenAI's protocol differ in all that is no plain answer. An error may be within status 200, in a
choice, or behind another status than its own; its message be an object, a list or a number; token counts be texts or
negative. An answer is read whatever stands beside it, and never lost for that.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from dspy import lm15
from dspy.lm15 import FinishReason, LM15Error, Message, RefusalPart, Response, TextPart, TokenLogprob, TopLogprob, Usage

MOST_WORDS = 300  # characters of an error
MOST_TOKENS = 10**9  # of a call; what counts more is no count


class Reply(NamedTuple):
    """A whole HTTP response, as DSPy's providers read one."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes
    http_version: str = "HTTP/1.1"

    def __enter__(self) -> "Reply":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is left to close."""

    def read(self) -> bytes:
        return self.body


# --- Errors

# What servers and gateways call 400, 403, 429 or 500 as well, each in its own words.
BUDGET_SPENT = re.compile(
    r"budget_exceeded|insufficient_quota|exceeded_current_quota|exceeded your current quota|budget has been exceeded"
    r"|crossed.{0,20} budget|insufficient (?:balance|credits?|funds)|credit balance is too low|\blimit: 0\b",
    re.IGNORECASE,
)
KEY_REFUSED = re.compile(
    r"no_db_connection|invalid_api_key|authentication_error|(?:invalid|incorrect) api.?key|no auth credentials"
    r"|api.?key (?:is )?(?:not valid|invalid|expired)",
    re.IGNORECASE,
)
MODEL_UNKNOWN = re.compile(
    r"model_not_found|invalid model name|no such model|unknown model|\bmodels? .{0,80}"
    r"(?:not found|does not exist|do not exist)",
    re.IGNORECASE,
)
TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context (?:size|window|length)|prompt is too long", re.IGNORECASE
)
BY_WORDS: Sequence[tuple[re.Pattern[str], type[LM15Error]]] = (
    (BUDGET_SPENT, lm15.BillingError),
    (KEY_REFUSED, lm15.AuthError),
    (MODEL_UNKNOWN, lm15.UnsupportedModelError),
    (TOO_LONG, lm15.ContextLengthError),
)
BY_STATUS: Mapping[int, type[LM15Error]] = {
    401: lm15.AuthError,
    402: lm15.BillingError,
    403: lm15.AuthError,
    404: lm15.UnsupportedModelError,  # or the path is wrong: all records would meet it
    408: lm15.TimeoutError,
    429: lm15.RateLimitError,
    504: lm15.TimeoutError,
}
UNSURE = (lm15.InvalidRequestError, lm15.AuthError, lm15.RateLimitError, lm15.ServerError)  # until its words are read


def error_of(status: int, content: Any, headers: Iterable[tuple[str, str]] = ()) -> LM15Error:
    """Return the error of a reply, in its own words. status: of HTTP, or the code that stands in the body of a reply
    that says 200; content: its JSON, or its text."""
    content = _first(content) or content
    fields = _object(content)
    named = _object(fields.get("error") or fields)
    words = named.get("message") or fields.get("message") or fields.get("error") or content
    message = " ".join(_as_text(words).split())[:MOST_WORDS]
    codes = [str(named[name]) for name in ("code", "type", "status") if name in named]
    kind = _kind(status, " ".join([message, *codes])) if status >= 400 else lm15.ProviderError
    wait = _seconds_to_wait({name.lower(): value for name, value in headers})
    error = kind(message, status=status, retry_after=wait)
    error.usage = read_usage(fields.get("usage"))  # these tokens are paid for
    return error


def _kind(status: int, words: str) -> type[LM15Error]:
    """Return the class of an error. words: all that its reply says."""
    default: type[LM15Error] = lm15.ServerError if status >= 500 else lm15.InvalidRequestError
    by_status = BY_STATUS.get(status, default)
    if by_status not in UNSURE:
        return by_status
    return next((by_words for pattern, by_words in BY_WORDS if pattern.search(words)), by_status)


def _first(items: Any) -> Any:
    """Return the first item of a list; None for anything else."""
    return items[0] if isinstance(items, list) and items else None


def _object(value: Any) -> dict[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value in (None, {}, []) else json.dumps(value, ensure_ascii=False, default=str)


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return how long a server asks to wait, in seconds; None where it does not say, or says no such thing."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(text)
    except ValueError:
        seconds = _seconds_until(text)
    return seconds if 0 <= seconds < math.inf else None


def _seconds_until(date: str) -> float:
    """Return the seconds until a date in a header, 0 for one that is past; NaN for what is no date."""
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    left = when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)
    return max(left.total_seconds(), 0.0)


def checked(reply: Reply) -> Reply:
    """Return a reply that holds an answer. Raises the error of any other, by its status."""
    if 200 <= reply.status < 300:
        return reply
    text = reply.body.decode(errors="replace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = text
    raise error_of(reply.status, content, reply.headers)


# --- Answers by OpenAI's chat protocol

ENDINGS: Mapping[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
}


def chat_response(reply: Reply, model: str) -> Response:
    """Return the response in a checked reply. Of several choices it is the first one. Raises lm15's errors where it
    holds an error or no choice."""
    body = _json_object(reply)
    choice = _object(_first(body.get("choices")))
    if error := _error_within(body, choice, reply):
        error.usage = read_usage(body.get("usage"))
        raise error
    message = _object(choice.get("message"))
    text, refusal = _content(message.get("content")), _content(message.get("refusal"))
    ending = ENDINGS.get(str(choice.get("finish_reason")).lower(), "stop")
    if message.get("tool_calls") and not text:
        ending = "tool_call"
    return Response(
        id=None,
        model=model,
        message=Message.assistant([TextPart(text), *([RefusalPart(refusal)] if refusal else [])]),
        finish_reason=ending,
        usage=read_usage(body.get("usage")),
        logprobs=_logprobs(_object(choice.get("logprobs")).get("content")),
    )


def _error_within(body: Mapping[str, Any], choice: Mapping[str, Any], reply: Reply) -> LM15Error | None:
    """Return the error that stands in the place of an answer, under a status that says none; None for an answer."""
    for holder in (body, choice):
        if holder.get("error") or holder.get("object") == "error":
            code = (_object(holder.get("error")) or holder).get("code")
            error = error_of(_status(code), holder, reply.headers)
            if str(code) != str(error.status):
                error.status = None
            return error
    if choice and choice.get("finish_reason") != "error":
        return None
    words = f"the answer holds no choice: {json.dumps(body, ensure_ascii=False)[:MOST_WORDS]}"
    kind = lm15.ServerError if isinstance(body.get("choices"), list | None) else lm15.ProviderError
    return kind(words)


def _json_object(reply: Reply) -> dict[str, Any]:
    try:
        body = json.loads(reply.body, parse_constant=lambda name: None)  # some write -Infinity into log-probabilities
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        return body
    words = " ".join(reply.body[:MOST_WORDS].decode(errors="replace").split())
    raise lm15.ProviderError(f"the answer is no JSON object: {words!r}", status=reply.status)


def _status(code: Any) -> int:
    """Return the status that a code in a body stands for; 500 for one that is none."""
    number = int(code) if str(code).isdecimal() and len(str(code)) == 3 else 500
    return number if number >= 400 else 500


def _content(content: Any) -> str:
    """Return a text, or those of a list of parts, as one that can be written: halves of characters as JSON has them."""
    parts = content if isinstance(content, list) else [content]
    texts = [_object(part).get("text", part) for part in parts]
    return "".join(text for text in texts if isinstance(text, str)).encode(errors="backslashreplace").decode()


def read_usage(usage: Any) -> Usage:
    """Return the tokens that a server reports; None for what is no count."""
    fields = _object(usage)
    return Usage(
        input_tokens=_count(fields.get("prompt_tokens")),
        output_tokens=_count(fields.get("completion_tokens")),
        cache_read_tokens=_count(_object(fields.get("prompt_tokens_details")).get("cached_tokens")),
    )


def _count(value: Any) -> int | None:
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return count if 0 <= count <= MOST_TOKENS else None


def _logprobs(content: Any) -> tuple[TokenLogprob, ...] | None:
    """Return tokens with their alternatives; None where one is not as OpenAI's API has it."""
    try:
        return tuple(
            TokenLogprob(
                token=_content(token["token"]),
                logprob=token["logprob"],
                top=tuple(
                    TopLogprob(token=_content(other["token"]), logprob=other["logprob"])
                    for other in token.get("top_logprobs") or ()
                    if other["logprob"] is not None
                ),
            )
            for token in content
        )
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
