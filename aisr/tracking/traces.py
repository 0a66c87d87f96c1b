"""Traces of a few records in MLflow: each prompt and raw answer behind a prediction, beside the gold labels.

They are written from what `aisr/predict/replay.py` tells again, straight into the store, one record after the
other: no tracing is ever turned on in the process, nothing waits in a queue when it ends, and the name of the program
and of the machine, which MLflow's own tracing adds, stay out. Times are those of the writing, so every duration is 0.
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
from aisr.predict.replay import FORGOTTEN, LMCall, ReplayedRecord
from aisr.programs.task import Task
from aisr.report.records import JudgedRecord, judged
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


def logged(
    root: Path, run_id: str, task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int
) -> str | None:
    """Log a sample of records as `log` does; a sentence on what came of it, if any was to be logged. All else of the
    run is saved by then."""
    try:
        made = log(open_store(root), run_id, task, replayed, count, seed)
    except NotTraced as error:
        return f"no traces: {error}"
    return f"logged {made} records as traces of the run, for the MLflow UI" if made else None


def log(mlflow: Any, run_id: str, task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int) -> int:
    """Log a sample of at most `count` records as traces of a run; how many. They are in the store when this returns.
    Raises NotTraced."""
    chosen = sample(task, replayed, count, seed)
    if not chosen:
        return 0
    client = tracing_client()
    try:
        experiment = mlflow.get_run(run_id).info.experiment_id
        began = time.time_ns()
        for place, one in enumerate(chosen):
            moment = began - place * 1_000_000  # the UI shows the latest first
            info, spans = _trace(task, one, experiment, run_id, moment)
            client.start_trace(info)
            client.log_spans(experiment, spans)
    except (mlflow.MlflowException, NotImplementedError) as error:  # the second: a server older than MLflow 3.4
        raise NotTraced(f"the MLflow store did not take the traces: {redact.secrets(reason(error))}") from error
    return len(chosen)


def sample(task: Task, replayed: Sequence[ReplayedRecord], count: int, seed: int) -> list[ReplayedRecord]:
    """At most `count` records, in their order: in turn a failed one, a wrong one and a right one, each drawn at random
    by the seed, as long as there are some. So few are for reading: how often each occurs is what the score says.

    What the response cache no longer tells is left out; it is not known to have failed.
    """
    told = [one for one in replayed if one.outcome.failure != FORGOTTEN]
    kinds: dict[str, list[int]] = {"failed": [], "wrong": [], "right": []}
    for place, one in enumerate(told):
        kinds["failed" if one.outcome.failure else "right" if _is_right(task, one) else "wrong"].append(place)
    draw = random.Random(seed)
    for places in kinds.values():
        draw.shuffle(places)
    turns = [place for place in chain(*zip_longest(*kinds.values())) if place is not None]
    return [told[place] for place in sorted(turns[:count])]


def _is_right(task: Task, one: ReplayedRecord) -> bool:
    return bool(task.score([one.example.gold], [one.outcome.answer]).right()[0])


def _trace(
    task: Task, one: ReplayedRecord, experiment: str, run_id: str, moment: int
) -> "tuple[TraceInfo, list[Span]]":
    """A record as a trace of a run: what stands in MLflow's lists, and a span for the record with one for each call."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback, TraceInfo, TraceLocation, TraceState

    shown = judged(task, one, [])
    trace_id = f"tr-{secrets.token_hex(16)}"
    record_id = _cut(_clean(one.record.id))
    by_us = AssessmentSource(source_type="CODE", source_id="aisr")
    info = TraceInfo(
        trace_id,
        TraceLocation.from_experiment_id(experiment),
        request_time=moment // 1_000_000,
        state=TraceState.ERROR if shown.failure else TraceState.OK,
        request_preview=f"{record_id} · {_cut(_clean(task.text(one.record)))}",
        response_preview=_cut(_prediction(shown)),
        execution_duration=0,
        trace_metadata={"mlflow.sourceRun": run_id},
        tags={"mlflow.traceName": record_id, RECORD_TAG: record_id},
        assessments=[
            Expectation("gold", _gold(shown), source=by_us),
            Feedback("right", shown.right, source=by_us, rationale=_why(task, one)),
        ],
    )
    root = _span(trace_id, None, record_id, "CHAIN", moment, _record(task, one, shown), shown.failure)
    calls = [
        _span(trace_id, root.span_id, f"call {k} of {len(one.calls)}", "CHAT_MODEL", moment, _call(call))
        for k, call in enumerate(one.calls, start=1)
    ]
    return info, [root, *calls]


def _record(task: Task, one: ReplayedRecord, shown: JudgedRecord) -> dict[str, Any]:
    """The attributes of a record's span."""
    texts = [_clean(statement.text) for statement in shown.statements]
    numbered = "\n".join(f"{k}. {text}" for k, text in enumerate(texts, start=1)) if len(texts) > 1 else texts[0]
    if shown.failure:
        said: dict[str, Any] = {"failed": [_clean(shown.failure)]}
    else:
        said = {"prediction": _cleaned(task.prediction.line(one.outcome.answer))}
    return {
        SPAN_INPUTS: {"record": {"id": _clean(one.record.id), "statements": numbered}},
        SPAN_OUTPUTS: said,
        "gold": _cleaned(task.prediction.line(one.example.gold)),
        "right": shown.right,
    }


def _call(call: LMCall) -> dict[str, Any]:
    """The attributes of a call's span; `replay` has redacted them."""
    return {
        SPAN_INPUTS: {"messages": [{role: text} for role, text in call.messages]},
        SPAN_OUTPUTS: {"answer": [call.answer]},
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

    known = {"mlflow.traceRequestId": trace_id, "mlflow.spanType": kind, **attributes}
    return Span.from_dict(
        {
            "trace_id": trace_id,
            "span_id": secrets.token_hex(8),
            "parent_span_id": parent,
            "name": name,
            "start_time_unix_nano": moment,
            "end_time_unix_nano": moment,
            "attributes": {key: json.dumps(value) for key, value in known.items()},
            "status": {"code": "ERROR" if failure else "OK", "message": _clean(failure or "")},
        }
    )


def _prediction(shown: JudgedRecord) -> str:
    if shown.failure:
        return f"failed: {_clean(shown.failure)}"
    chosen = sorted((one for one in shown.exhibits if one.chosen), key=lambda one: one.chosen)
    return _in_short([str(one.said) for one in shown.statements], _common(shown), [one.key for one in chosen])


def _gold(shown: JudgedRecord) -> str:
    evidence = [one.key for one in shown.exhibits if one.gold]
    return _in_short([" or ".join(one.gold) for one in shown.statements], _common(shown), evidence)


def _common(shown: JudgedRecord) -> str:
    """The commonest gold label of a record. Gold and prediction are told by what departs from it, to be compared at a
    glance."""
    return Counter(" or ".join(one.gold) for one in shown.statements).most_common(1)[0][0]


def _in_short(labels: Sequence[str], common: str, evidence: Sequence[str]) -> str:
    """Labels and evidence in a line, the odd ones first: `2, 5 Contradiction, rest Supported`, `Overstate · P7, P9`."""
    places: dict[str, list[str]] = {}
    for k, label in enumerate(labels, start=1):
        places.setdefault(label, []).append(str(k))
    if len(places) == 1:
        said = f"all {labels[0]}" if len(labels) > 1 else labels[0]
    else:
        odd = [f"{', '.join(where)} {label}" for label, where in places.items() if label != common]
        said = ", ".join([*odd, f"rest {common}"] if common in places else odd)
    return _clean(" · ".join([said, *([", ".join(evidence)] if evidence else [])]))


def _why(task: Task, one: ReplayedRecord) -> str:
    """Why a record counts as right or wrong."""
    if one.outcome.answer is None:
        return _clean(f"failed: {one.outcome.failure}")
    return _clean(task.feedback(one.example.gold, one.outcome.answer))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _clean(text: str) -> str:
    return redact.addresses(text)


def _cleaned(value: Any) -> Any:
    """The same for all strings of a JSON value."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_clean(key): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, (list, tuple)) else value
