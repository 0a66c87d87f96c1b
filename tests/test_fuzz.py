"""Whatever bytes a file holds: a clear error in one line, or a record that can be used; never a traceback."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aisr.artifact.program import load_program, program_text
from aisr.base.files import BadArtifact
from aisr.base.jsonl import BadLine, Line, scan
from aisr.optimize.optimizers import strip
from aisr.programs.registry import TASKS
from aisr.programs.task import Task
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from aisr.programs.track2 import CITATION_LABELS, TRACK2
from support import scripted
from support.corpora import citation_row, claim_row

# Names that the formats know, so that what is drawn gets past the first check; and values of every kind.
FIELDS = (
    "id claim_text evidence_bundle sentence_label sentence types type text table_caption image_caption img_path label",
    "labels cited_paper_full_text evidence_para_ids evidence_texts failed format task options members state",
    "demos signature instructions fields lm traces train P1 __class__",
)
NAMES = st.sampled_from(" ".join(FIELDS).split())
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from([*CLAIM_LABELS, *CITATION_LABELS, "text", "track1", "P1", "a", "\ud800", "\x00", "NaN", "1" * 400]),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def altered(draw: st.DrawFn, start: Any) -> Any:
    """A good value in which some part, anywhere, is replaced, left out, or has another beside it."""
    value = json.loads(json.dumps(start))
    for _ in range(draw(st.integers(0, 3))):
        if places := list(_places(value)):
            holder, key = draw(st.sampled_from(places))
            if draw(st.booleans()):
                del holder[key]
            elif isinstance(holder, dict) and draw(st.booleans()):
                holder[draw(NAMES | TEXTS)] = draw(VALUES)
            else:
                holder[key] = draw(VALUES)
    return value


def _places(value: Any) -> Any:
    """Every place inside a value, as its container and key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def lines(start: list[Any]) -> st.SearchStrategy[bytes]:
    """Files of good lines, altered lines, and bytes of no sense."""
    line = st.one_of(
        *(altered(row).map(lambda value: json.dumps(value).encode()) for row in start),
        VALUES.map(lambda value: json.dumps(value).encode()),
        st.binary(max_size=30).map(lambda content: content.replace(b"\n", b"")),
        st.sampled_from([b"", b"\xef\xbb\xbf{}", b"\xff\xfe", b'{"id": "a"', b"[" * 5_000, b'{"a": 1}{"b": 2}']),
    )
    return st.lists(line, max_size=2).map(b"\n".join)


DEEP_JSON = st.sampled_from([b"[" * 100_000, b'{"a":' * 100_000])


# The same cases in every run, and no bounds on time.
cases = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


ROWS = {
    "track1": [claim_row(["Supported"], ["Supported", "Contradiction"], id="a"), claim_row(None, id="b")],
    "track2": [citation_row(id="a"), citation_row(None, id="b")],
}


@pytest.mark.parametrize("task", scripted.TRACKS)
def test_any_file_of_records(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    program = task.build({})

    @cases
    @given(lines(ROWS[task.name]))
    def run(content: bytes) -> None:
        path.write_bytes(content)
        is_list = content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
        with pytest.raises(BadLine, match="this is a JSON list") if is_list else nullcontext():
            read_all(scan(path, task.record, task.name))

    def read_all(lines: Iterator[Line[Any]]) -> None:
        for line in lines:
            if line.record is None:
                assert_clear(str(line.problem), f"{path}:{line.number}: ")
            else:
                case = program.prepare(line.record)
                str(case.example).encode()  # what is read can be shown to a model
                task.fallback(line.record)

    run()


@pytest.mark.parametrize("task", scripted.TRACKS)
def test_any_artifact(task: Task, tmp_path: Path) -> None:
    file, program = tmp_path / "program.json", task.build({})
    program.predictors()[0].demos = [scripted.cases(task, program)[0].example]
    strip(program)
    good = json.loads(program_text(task, program))
    text = altered(good).map(lambda value: json.dumps(value).encode())
    torn = st.integers(0, 400).map(lambda at: json.dumps(good).encode()[: -at or None])

    @cases
    @given(text | torn | VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50) | DEEP_JSON)
    def run(content: bytes) -> None:
        file.write_bytes(content)
        try:
            loaded = load_program(tmp_path)
        except BadArtifact as refused:
            assert_clear(str(refused), str(file))
        else:
            assert loaded.task.name in TASKS
            assert type(loaded.program) in (type(TRACK1.build({})), type(TRACK2.build({})))

    run()


def assert_clear(message: str, begins: str) -> None:
    """One line that says where, and not at endless length."""
    assert message.startswith(begins)
    assert "\n" not in message
    assert "Traceback" not in message
    assert 0 < len(message.removeprefix(begins)) < 1_000
    message.encode()
