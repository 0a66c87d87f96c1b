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
from typing import Any

from dspy import lm15
from dspy.lm15 import FinishReason, LM15Error, Message, RefusalPart, Response, TextPart, TokenLogprob, TopLogprob, Usage

from aisr.lm.transport import Reply

MOST_WORDS = 300  # characters of an error
MOST_TOKENS = 10**9  # of a call; what counts more is no count


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


def error_of(status: int, content: Any, headers: Iterable[tuple[str, str]] = ()) -> LM15Error:
    """Return the error of a reply, in its own words. status: of HTTP, or the code that stands in the body of a reply
    that says 200; content: its JSON, or its text."""
    inner = content[0] if isinstance(content, list) and content else content
    fields = inner if isinstance(inner, dict) else {}
    error = fields.get("error") or fields
    named = error if isinstance(error, dict) else {}
    words = named.get("message") or fields.get("message") or (inner if named is fields else error)
    message = " ".join((words if isinstance(words, str) else _as_text(words)).split())[:MOST_WORDS]
    described = " ".join([message, *(str(named[name]) for name in ("code", "type", "status") if name in named)])
    kind = BY_STATUS.get(status) or (lm15.ServerError if status >= 500 else lm15.InvalidRequestError)
    if status < 400:
        kind = lm15.ProviderError
    elif kind in (lm15.InvalidRequestError, lm15.AuthError, lm15.RateLimitError, lm15.ServerError):
        kind = next((own for pattern, own in BY_WORDS if pattern.search(described)), kind)
    wait = _seconds_to_wait(dict((name.lower(), value) for name, value in headers))
    return _with_usage(kind(message, status=status, retry_after=wait), fields)


def _as_text(value: Any) -> str:
    return "" if value in (None, b"", {}, []) else json.dumps(value, ensure_ascii=False, default=str)


def _with_usage(error: LM15Error, body: Mapping[str, Any]) -> LM15Error:
    """Have an error carry the tokens that its reply reports: they are paid for."""
    error.usage = read_usage(body.get("usage"))
    return error


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return how long a server asks to wait, in seconds; None where it does not say, or says no such thing."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = float(headers["retry-after"])
    except KeyError:
        return None
    except ValueError:
        try:
            when = parsedate_to_datetime(headers["retry-after"])
        except (KeyError, ValueError):
            return None
        seconds = max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
    return seconds if 0 <= seconds < math.inf else None


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
    """Return the response in a reply. Of several choices it is the first one. Raises lm15's errors where the reply
    holds an error or no choice."""
    body = _json_object(checked(reply))
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    for holder in (body, choice):
        error = holder.get("error")
        if error or holder.get("object") == "error":
            code = error.get("code") if isinstance(error, dict) else holder.get("code")
            found = error_of(_status(code), holder, reply.headers)
            found.status = found.status if str(code) == str(found.status) else None
            raise _with_usage(found, body)
    if not choice or choice.get("finish_reason") == "error":
        words = f"the answer holds no choice: {json.dumps(body, ensure_ascii=False)[:MOST_WORDS]}"
        kind = lm15.ServerError if isinstance(choices, list | None) else lm15.ProviderError
        raise _with_usage(kind(words), body)
    message: Any = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text, refusal = _content(message.get("content")), _content(message.get("refusal"))
    ending = ENDINGS.get(str(choice.get("finish_reason")).lower(), "stop")
    if message.get("tool_calls") and not text:
        ending = "tool_call"
    logprobs = choice.get("logprobs")
    return Response(
        id=None,
        model=model,
        message=Message.assistant([TextPart(text), *([RefusalPart(refusal)] if refusal else [])]),
        finish_reason=ending,
        usage=read_usage(body.get("usage")),
        logprobs=_logprobs(logprobs.get("content")) if isinstance(logprobs, dict) else None,
    )


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
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str)).encode(errors="backslashreplace").decode()


def read_usage(usage: Any) -> Usage:
    """Return the tokens that a server reports; None for what is no count."""
    fields = usage if isinstance(usage, dict) else {}
    details = fields.get("prompt_tokens_details")
    return Usage(
        input_tokens=_count(fields.get("prompt_tokens")),
        output_tokens=_count(fields.get("completion_tokens")),
        cache_read_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
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
                    TopLogprob(token=_content(one["token"]), logprob=one["logprob"])
                    for one in token.get("top_logprobs") or ()
                    if one["logprob"] is not None
                ),
            )
            for token in content
        )
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
