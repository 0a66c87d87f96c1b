"""Traces of a few records in MLflow: each prompt and raw answer behind a prediction, beside the gold labels.

They are written from replayed records (`aisr/predict/replay.py`) straight into the store, one after the other: no
tracing is ever turned on in the process, nothing waits in a queue when it ends, and the name of the program and of the
machine, which MLflow's own tracing adds, stay out. Times are those of the writing, so every duration is 0.
"""

import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base import redact
from aisr.base.private import tracing_client
from aisr.predict.replay import FORGOTTEN, ReplayedRecord
from aisr.programs.task import Task
from aisr.report.records import JudgedRecord, judged_record
from aisr.tracking.store import open_store, reason

if TYPE_CHECKING:
    from mlflow.entities import Span, TraceInfo

RECORD_TAG = "aisr.record"
SPAN_INPUTS, SPAN_OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"  # what the UI shows first of a span
LONGEST = 250  # characters in MLflow's lists; it refuses tags beyond 4,096 and previews beyond 1,000
# Of what the UI shows first of a span (`SPAN_INPUTS`, `SPAN_OUTPUTS`) it draws lone strings and chats as Markdown, in
# which a prompt loses its lines and a claim may be anything. What stands a level deeper, it shows as it is.


class NotTraced(Exception):
    """The store did not take the traces."""


def log_traces(
    root: Path, run_id: str, task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int
) -> str | None:
    """Log a sample of at most `count` records as traces of a run; a sentence on the result, None for no records. All
    else of the run is saved by then, so a store that does not take them is no error."""
    try:
        size = write_traces(open_store(root), run_id, task, replayed, count, seed)
    except NotTraced as error:
        return f"no traces: {error}"
    return f"logged {size} records as traces of the run, for the MLflow UI" if size else None


def write_traces(
    mlflow: Any, run_id: str, task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int
) -> int:
    """Write the sample into the store; how many records it has. Raises NotTraced."""
    records = sample(task, replayed, count, seed)
    if not records:
        return 0
    client = tracing_client()
    try:
        experiment = mlflow.get_run(run_id).info.experiment_id
        began = time.time_ns()
        for k, record in enumerate(records):
            moment = began - k * 1_000_000  # the UI shows the latest first
            info, spans = _trace(task, record, experiment, run_id, moment)
            client.start_trace(info)
            client.log_spans(experiment, spans)
    except (mlflow.MlflowException, NotImplementedError) as error:  # the second: a server older than MLflow 3.4
        raise NotTraced(f"the MLflow store did not take the traces: {redact.secrets(reason(error))}") from error
    return len(records)


def sample(task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int) -> list[ReplayedRecord]:
    """At most `count` records, in their order: in turn a failed one, a wrong one and a right one, each drawn at random
    by the seed, as long as there are some. So few are for reading; the score says how often each occurs.

    Records that are no longer in the response cache are left out; they are not known to have failed.
    """
    cached = [record for record in replayed if record.outcome.failure != FORGOTTEN]
    kinds: dict[str, list[int]] = {"failed": [], "wrong": [], "right": []}
    for k, record in enumerate(cached):
        right = task.score([record.example.gold], [record.outcome.answer]).right()[0]
        kinds["failed" if record.outcome.failure else "right" if right else "wrong"].append(k)
    draw = random.Random(seed)
    for rows in kinds.values():
        draw.shuffle(rows)
    turns = [row for row in chain(*zip_longest(*kinds.values())) if row is not None]
    return [cached[row] for row in sorted(turns[:count])]


def _trace(
    task: Task, replayed: ReplayedRecord, experiment: str, run_id: str, moment: int
) -> "tuple[TraceInfo, list[Span]]":
    """A record as a trace of a run: its row in MLflow's lists, and a span for the record with one for each call."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback, TraceInfo, TraceLocation, TraceState

    record, outcome = judged_record(task, replayed, []), replayed.outcome
    trace_id = f"tr-{secrets.token_hex(16)}"
    record_id = _cut(redact.addresses(replayed.record.id))
    gold, prediction = _summaries(record)
    why = f"failed: {outcome.failure}"
    if outcome.answer is not None:
        why = task.feedback(replayed.example.gold, outcome.answer)
    source = AssessmentSource(source_type="CODE", source_id="aisr")
    info = TraceInfo(
        trace_id,
        TraceLocation.from_experiment_id(experiment),
        request_time=moment // 1_000_000,
        state=TraceState.ERROR if record.failure else TraceState.OK,
        request_preview=f"{record_id} · {_cut(redact.addresses(task.text(replayed.record)))}",
        response_preview=_cut(prediction),
        execution_duration=0,
        trace_metadata={"mlflow.sourceRun": run_id},
        tags={"mlflow.traceName": record_id, RECORD_TAG: record_id},
        assessments=[
            Expectation("gold", gold, source=source),
            Feedback("right", record.right, source=source, rationale=redact.addresses(why)),
        ],
    )
    root = _span(trace_id, None, record_id, "CHAIN", moment, _attributes(task, replayed, record), record.failure)
    calls = []
    for k, call in enumerate(replayed.calls, start=1):
        attributes = {
            SPAN_INPUTS: {"messages": [{role: text} for role, text in call.messages]},
            SPAN_OUTPUTS: {"answer": [call.answer]},
        }
        name = f"call {k} of {len(replayed.calls)}"
        calls.append(_span(trace_id, root.span_id, name, "CHAT_MODEL", moment, attributes))
    return info, [root, *calls]


def _attributes(task: Task, replayed: ReplayedRecord, record: JudgedRecord) -> dict[str, Any]:
    """The attributes of a record's span."""
    texts = [statement.text for statement in record.statements]
    numbered = "\n".join(f"{k}. {text}" for k, text in enumerate(texts, start=1)) if len(texts) > 1 else texts[0]
    outputs: dict[str, Any] = {"failed": [record.failure]}
    if not record.failure:
        outputs = {"prediction": task.prediction.line(replayed.outcome.answer)}
    return {
        SPAN_INPUTS: {"record": {"id": replayed.record.id, "statements": numbered}},
        SPAN_OUTPUTS: outputs,
        "gold": task.prediction.line(replayed.example.gold),
        "right": record.right,
    }


def _span(
    trace_id: str,
    parent: str | None,
    name: str,
    kind: str,
    moment: int,
    attributes: dict[str, Any],
    failure: str | None = None,
) -> "Span":
    """A finished span, made from its stored form: MLflow's other ways to one begin a trace in the whole process."""
    from mlflow.entities import Span

    stored = {"mlflow.traceRequestId": trace_id, "mlflow.spanType": kind, **_redacted(attributes)}
    return Span.from_dict(
        {
            "trace_id": trace_id,
            "span_id": secrets.token_hex(8),
            "parent_span_id": parent,
            "name": name,
            "start_time_unix_nano": moment,
            "end_time_unix_nano": moment,
            "attributes": {key: json.dumps(value) for key, value in stored.items()},
            "status": {"code": "ERROR" if failure else "OK", "message": redact.addresses(failure or "")},
        }
    )


def _summaries(record: JudgedRecord) -> tuple[str, str]:
    """Gold and prediction in a line each. Both name the commonest gold label as the rest, to be compared at a
    glance."""
    gold = [" or ".join(statement.gold) for statement in record.statements]
    common = Counter(gold).most_common(1)[0][0]
    gold_line = _summary(gold, common, [exhibit.key for exhibit in record.exhibits if exhibit.gold])
    if record.failure:
        return gold_line, redact.addresses(f"failed: {record.failure}")
    chosen = sorted((exhibit for exhibit in record.exhibits if exhibit.chosen), key=lambda exhibit: exhibit.chosen)
    labels = [str(statement.said) for statement in record.statements]
    return gold_line, _summary(labels, common, [exhibit.key for exhibit in chosen])


def _summary(labels: Sequence[str], common: str, evidence: Sequence[str]) -> str:
    """Labels and evidence in a line, the odd ones first: `2, 5 Contradiction, rest Supported`, `Overstate · P7, P9`."""
    places: dict[str, list[str]] = {}
    for k, label in enumerate(labels, start=1):
        places.setdefault(label, []).append(str(k))
    if len(places) == 1:
        words = f"all {labels[0]}" if len(labels) > 1 else labels[0]
    else:
        odd = [f"{', '.join(where)} {label}" for label, where in places.items() if label != common]
        words = ", ".join([*odd, f"rest {common}"] if common in places else odd)
    return redact.addresses(" · ".join([words, *([", ".join(evidence)] if evidence else [])]))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _redacted(value: Any) -> Any:
    """A JSON value without addresses in its strings."""
    if isinstance(value, str):
        return redact.addresses(value)
    if isinstance(value, dict):
        return {redact.addresses(key): _redacted(one) for key, one in value.items()}
    return [_redacted(one) for one in value] if isinstance(value, (list, tuple)) else value
