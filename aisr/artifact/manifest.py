"""`manifest.json`: who made a compiled program from what, and how it did."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.files import BadArtifact, parse_json, with_interval
from aisr.programs.records import explain

FILE = "manifest.json"
REPORT = "report.json"
PartT = TypeVar("PartT", bound="_Part")
Gain = tuple[float, float, float]  # a paired difference with the ends of its 95 % interval


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Score(_Part):
    """The ranking score on a split in 0-1, with its 95 % interval; how many records failed; beside them the parts of
    the score by their names ("macro_f1", "pem")."""

    model_config = ConfigDict(extra="allow")
    score: float
    interval: tuple[float, float]
    failed: int = 0

    @property
    def parts(self) -> dict[str, float]:
        """The parts of the score by their names."""
        return {name: value for name, value in (self.model_extra or {}).items() if isinstance(value, float)}

    def __str__(self) -> str:
        return with_interval(self.score, *self.interval)


class Data(_Part):
    """A split: its file's name and digest, where it was as the command named it, and how many records were taken."""

    file: str
    path: str | None = None
    digest: str
    records: int


class Corrections(_Part):
    """What people corrected, among the records of train: the digest of its file, how many of its records were taken,
    in the place of how many of train's own, and how many were left out, as dev or test share something with them."""

    digest: str
    records: int
    replaced: int = 0
    left_out: int = 0


class UsedLM(_Part):
    """A language model: how it was asked for, and what was opened. endpoint: the digest of an address, never that."""

    model_config = ConfigDict(extra="allow")
    spec: str = ""
    model: str | None = None
    endpoint: str | None = None
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


class Layer(_Part):
    """What became of the decision layer (see `aisr.optimize.decision_fit.Fitted`). kept: the way to decide that is
    used, None for the model as it is; cross_validated: the ranking score of each way; gain: of the choice among
    them."""

    model_config = ConfigDict(extra="allow")
    kept: str | None = None
    cross_validated: dict[str, float] = {}
    records: int | None = None
    gain: Gain | None = None


class Ranked(_Part):
    """What became of the evidence ranker (see `aisr.optimize.ranker_fit.RankFitted`). kept: whether it ranks in
    the retriever's place; before, after: Hit@k by the retriever, and by rankers of other groups; gain: in mean
    reciprocal rank; why: what kept it from being fitted."""

    model_config = ConfigDict(extra="allow")
    kept: bool = False
    gain: Gain | None = None
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    why: str | None = None


class Sharing(_Part):
    """How many records of a split share something with train, of how many, and by what (see
    `aisr.optimize.leakage`)."""

    sharing: int
    records: int
    by_kind: dict[str, int] = {}


class Apart(_Part):
    """What counted as shared between two records, for the folds of what was fitted and for what follows; what the other
    splits share with train by it."""

    rule: str
    splits: dict[str, Sharing] = {}


class Manifest(_Part):
    """The whole file. Scores by split: `dev`, `test`; `baseline_dev`, `baseline_test` of the program that the champion
    is compared with; `no_lm_dev`, `no_lm_test` of the baseline without any LM, where a task has one. names_none: the
    labels that name no evidence, in tasks that ask for some."""

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
    decision: Layer | None = None
    ranker: Ranked | None = None
    names_none: list[str] | None = None
    teacher: UsedLM | None = None
    data: dict[str, Data] = {}
    corrections: Corrections | None = None
    apart: Apart | None = None
    gain_on_dev: Gain | None = None
    gain_on_test: Gain | None = None
    spend: Spent = Spent()
    stopped_early: str | None = None
    seconds: float = 0.0
    versions: dict[str, str] = {}

    @property
    def layer(self) -> str | None:
        """Which decision layer was kept, by its way to decide; None for none."""
        return self.decision.kept if self.decision else None


class LabelScore(_Part):
    """How a label was given: precision and recall in 0-1, and how many statements have it."""

    precision: float
    recall: float
    support: int


class Calibration(_Part):
    """How far probabilities were off on average, in 0-1, and of how many statements."""

    judgements: int
    calibration_error: float


class OnTest(_Part):
    """How a champion did on its test split: by label, and by the source of its probabilities (none is recorded by
    versions before the calibration was, and where there are none)."""

    records: int
    per_label: dict[str, LabelScore] = {}
    confidence: dict[str, Calibration] = {}

    @property
    def statements(self) -> int:
        """How many statements it judged."""
        return sum(one.support for one in self.per_label.values())

    @property
    def accuracy(self) -> float | None:
        """The share of them that it labelled right, in 0-1; None for a task without labels."""
        right = sum(one.recall * one.support for one in self.per_label.values())
        return right / self.statements if self.statements else None


class _Report(_Part):
    test: OnTest | None = None


def on_test(path: Path) -> OnTest | None:
    """Of a report.json what it says of the test split; None where there was none. Raises `BadArtifact`."""
    return _parsed(path, _Report, "the report.json of a compiled program").test


def manifest(folder: Path) -> Manifest:
    """The manifest of an artifact folder. Raises `BadArtifact` where there is none, or one that is not ours."""
    return parse(folder / FILE)


def parse(path: Path) -> Manifest:
    """The manifest in a file. Raises `BadArtifact`, naming the field."""
    return _parsed(path, Manifest, "the manifest of a compiled program")


def _parsed(path: Path, model: type[PartT], expected: str) -> PartT:
    try:
        text = path.read_bytes()
        parse_json(text, str(path))
        return model.model_validate_json(text)
    except OSError as error:
        raise BadArtifact(f"{path}: {error.strerror}; expected {expected}") from error
    except ValidationError as error:
        raise BadArtifact(f"{path}: {explain(error)}; expected {expected}") from error
