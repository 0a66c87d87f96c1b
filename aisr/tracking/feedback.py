"""What people said of the traces of a run, in MLflow's UI or by `mlflow.log_feedback`, as corrections.

Feedback counts that a person gave (source type HUMAN), that answers one of `aisr/tracking/questions.py`, and that
nobody has overridden since. Who could write to the store could write anything: what is no correction is
listed as such.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from aisr.corrections.files import Found
from aisr.corrections.line import Correction
from aisr.programs.reading.lines import explain
from aisr.programs.records.base import Record
from aisr.tasks.task import Task
from aisr.tracking.questions import EVIDENCE, MOST, of_label
from aisr.tracking.runs import KIND_TAG, NoRun
from aisr.tracking.store import reading
from aisr.tracking.traces import JUDGED, RECORD_TAG, shown_id

MOST_TRACES = 10_000
ID = re.compile(r"[^\s,;]+")


class Given(NamedTuple):
    """The corrections of a run's traces; what people said there that is none, with the reason; how many traces."""

    found: list[Found]
    rejected: list[str]
    traces: int


def of_run(root: Path, run_id: str, task: Task, known: Mapping[str, Record]) -> Given:
    """What people said of a run's traces. known: the records that were judged, by their ids: traces hold none whole.

    Raises `NoRun`, and `NoStore`.
    """
    given = Given([], [], 0)
    with reading(root) as store:
        from mlflow import MlflowException

        from aisr.compat.mlflow import TracingClient

        try:
            run = store.client.get_run(run_id)
            if run.data.tags.get("aisr.task") != task.name:
                kind, of = (run.data.tags.get(name) for name in (KIND_TAG, "aisr.task"))
                raise NoRun(f"run {run_id} is no run of {task.name}: it is a {kind} of {of}")
            traces = list(_traces(TracingClient(store.uri), run.info.experiment_id, run_id))
        except MlflowException as error:
            raise NoRun(f"run {run_id}: {error.message}") from error
    by_trace = {shown_id(key): record for key, record in known.items()}
    for trace in traces:
        for one in _of_trace(task, trace, by_trace):
            (given.found if isinstance(one, Found) else given.rejected).append(one)  # type: ignore[arg-type]
    return given._replace(traces=len(traces))


def _traces(client: Any, experiment: str, run_id: str) -> Iterator[Any]:
    token, count = None, 0
    while count < MOST_TRACES:
        page = client.search_traces(locations=[experiment], run_id=run_id, page_token=token)
        yield from page
        count, token = count + len(page), page.token
        if not token:
            return


def _of_trace(task: Task, trace: Any, known: Mapping[str, Record]) -> Iterator[Found | str]:
    """The corrections of one trace, and why what is none is none."""
    by_person: dict[str, dict[str, Any]] = defaultdict(dict)
    for said in sorted(trace.info.assessments, key=lambda one: one.last_update_time_ms or 0):
        if said.feedback is not None and said.source.source_type == "HUMAN" and said.valid is not False:
            by_person[said.source.source_id][said.name] = said
    if not by_person:
        return
    place = f"trace {trace.info.trace_id}"
    judged, key = _judged(trace), trace.info.tags.get(RECORD_TAG)
    if not judged:
        yield f"{place}: it does not tell what was judged; evaluate again, with this version"
        return
    record = known.get(str(key))
    if record is None or task.correctable is None:
        yield f"{place}: there is no record {str(key)[:80]!r}; expected one in the file of --data"
        return
    statements = task.correctable.statements(record)
    for answers in by_person.values():
        evidence = answers.get(EVIDENCE)
        for k, sentence in enumerate(statements[: min(len(judged), MOST)]):
            if (said := answers.get(of_label(task, k))) is not None:
                yield _correction(task, said, evidence, judged[k], (record.id, k, sentence), place)


def _judged(trace: Any) -> list[Any]:
    """What the span of the record says was judged; nothing where it does not."""
    for span in trace.data.spans:
        judged = span.attributes.get(JUDGED)
        if isinstance(judged, list) and all(isinstance(one, dict) for one in judged):
            return judged
    return []


def _correction(
    task: Task, said: Any, evidence: Any, judged: dict[str, Any], of: tuple[str, int, str], place: str
) -> Found | str:
    record_id, statement, sentence = of
    named = ID.findall(str(evidence.feedback.value)[:1000]) if evidence is not None else []
    try:
        when = datetime.fromtimestamp((said.last_update_time_ms or 0) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{place}: {str(said.last_update_time_ms)[:40]} is no time, in milliseconds since 1970"
    try:
        return Found(
            Correction.model_validate({
                "task": task.name,
                "record_id": record_id,
                "statement": statement,
                "sentence": sentence,
                "verdict": {"label": judged.get("said")},
                "label": said.feedback.value,
                "evidence": named,
                "who": said.source.source_id,
                "when": when,
                "digest": judged.get("digest"),
            }),
            place,
        )  # fmt: skip
    except ValidationError as error:
        return f"{place}: {explain(error)}; expected one of: {', '.join(task.labelled.labels)}"
