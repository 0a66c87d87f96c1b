"""What a compile and an evaluation write for people: `records.json`, and the error browser, one HTML file with data,
style and script that loads nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aisr.artifact.program import Loaded, load_program
from aisr.base.files import as_json, interval_ends, percent, write_whole
from aisr.base.page import render_page
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import Evaluation, Result, score_outcomes
from aisr.predict.judge import ReplayedRecord, replay
from aisr.programs.pictures import ImageFolder, small_copies
from aisr.programs.program import Program
from aisr.report import records
from aisr.report.records import About, Records, gather

if TYPE_CHECKING:
    from aisr.optimize.run import Plan, Run

HERE = Path(__file__).parent
FILE = "report.html"
REPORT = "report.json"


class CompileReport(NamedTuple):
    """The champion as it was saved, and the records that it judged, replayed."""

    program: Program
    dev: list[ReplayedRecord]
    scored: list[ReplayedRecord]  # of test, or of dev where there is no test split


def write_compile_report(plan: "Plan", run: "Run", lm: OpenLM) -> CompileReport:
    """Into the artifact's folder: the champion as it was saved, record by record on dev.

    Test records are never listed one by one: whoever read them would choose by them.
    """
    task, champion, test = plan.task, run.choice.champion, run.test
    loaded = load_program(run.folder, task)
    program = loaded.program
    program.copy_context(champion.program)

    def replayed(split: str, result: Result) -> list[ReplayedRecord]:
        return replay(task, program, plan.data[split], lm, plan.limits.get(split), result.failures)

    dev = replayed("dev", champion.dev)
    result = score_outcomes(task, run.examples["dev"], [one.outcome for one in dev])
    about = _about(f"{task.name} · {plan.name}", loaded, lm, plan.data["dev"].name, result)
    if test is None:
        about.note = f"The program was chosen on these records: expect less elsewhere. {about.note}".strip()
    else:
        about.test = test.summary()
    _write_records(run.folder, gather(task, about, dev), plan.image_folder)
    return CompileReport(program, dev, replayed("test", test) if test else dev)


def write_evaluation_report(
    done: Evaluation, replayed: Sequence[ReplayedRecord], folder: Path, image_folder: ImageFolder | None
) -> None:
    """Into a folder: the scores, every record of an evaluation, and the page."""
    task = done.loaded.task
    write_whole(folder / REPORT, as_json(done.result.report()))
    about = _about(f"{task.name} · {done.program}", done.loaded, done.lm, done.data.name, done.result)
    _write_records(folder, gather(task, about, replayed), image_folder)


def _about(title: str, loaded: Loaded, lm: OpenLM, data: str, result: Result) -> About:
    baseline = [f"No-LM baseline: {result.no_lm.interval}."] if result.no_lm else []
    return About(
        labels=list(loaded.task.labels),
        evidence=loaded.task.names_evidence,
        title=title,
        program=loaded.digest,
        lm=lm.spec,
        data=data,
        note=" ".join([*(f"{remark}." for remark in result.score.remarks), *baseline]),
        score=result.summary(),
        label_weights=loaded.program.label_weights is not None,
    )


def _write_records(folder: Path, content: Records, image_folder: ImageFolder | None) -> None:
    write_whole(folder / records.FILE, content.model_dump_json() + "\n")
    write_whole(folder / FILE, render(content, image_folder))


# --- The page


def render(content: Records, image_folder: ImageFolder | None = None) -> str:
    """Return the page. Its policy admits its own script, its style and inlined pictures, and no network.

    image_folder: where the pictures are; None: their captions and paths are shown.
    """
    fields = content.model_dump(mode="json")
    texts = fields.pop("texts")
    paths = {exhibit.picture for one in content.records for exhibit in one.exhibits if exhibit.picture}
    pictures = small_copies(image_folder, paths) if image_folder else {}
    return render_page(
        HERE / "page.html",
        HERE / "page.css",
        (HERE / "record.js", HERE / "page.js"),
        about=content.about,
        data={"records": fields, "texts": texts, "pictures": pictures},
        percent=percent,
        interval_ends=interval_ends,
    )
