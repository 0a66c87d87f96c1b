"""The `aisr` command. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from optimize.lm import OpenLM
    from optimize.tasks import Task

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Judge whether AI-assisted scientific writing is faithful to its evidence (NLPCC 2026 Task 10): compile "
    "prompt programs against the ranking score, version them, predict and submit.",
)

RECORDS_FAILED = 1
REFUSED = 2

TaskName = Annotated[str, typer.Option("--task", help="track1 or track2.", show_default=False)]
LMSpec = Annotated[
    str, typer.Option("--lm", envvar="AISR_LM", help="`embedded`, or PROVIDER/MODEL such as openai/gpt-4o-mini.")
]
ApiBase = Annotated[
    str | None, typer.Option(envvar="AISR_API_BASE", help="Address of an OpenAI-compatible server for --lm openai/MODEL.")
]
Schema = Annotated[bool, typer.Option(help="Whether the server at --api-base takes a JSON schema.")]
Threads = Annotated[int | None, typer.Option(min=1, help="LM calls at a time. Default: 8; the embedded model takes 1.")]
Root = Annotated[
    Path, typer.Option("--artifacts", envvar="AISR_ARTIFACTS", help="Where artifacts, cache and MLflow store are.")
]
ProgramName = Annotated[
    str, typer.Option("--program", help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.", show_default=False)
]
Jsonl = Annotated[Path, typer.Option("--data", help="JSONL file of records.", show_default=False)]
ARTIFACTS = Path("artifacts")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="JSONL file in the official format.")],
    task: TaskName,
    limit: Annotated[int, typer.Option(min=1, help="How many bad lines to list.")] = 20,
) -> None:
    """Check every line of a record file; list what is wrong."""
    from collections import Counter

    from optimize.display import note
    from programs.records import scan

    chosen = _task(task)
    bad = records = 0
    labels: Counter[str] = Counter()
    for line in scan(file, chosen.record, chosen.name):
        if line.record is None:
            bad += 1
            if bad <= limit:
                note(str(line.problem))
            continue
        records += 1
        gold = getattr(line.record, "gold", None)
        labels.update(chosen.said(gold) if gold is not None else ["(withheld)"])
    if bad > limit:
        note(f"… and {bad - limit} more (--limit {bad} lists them)")
    note(f"{file}: {records} good records, {bad} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    if bad or not records:
        raise typer.Exit(REFUSED)


@app.command()
def split(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.")],
    task: TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(help="train:dev:test, in whole parts.")] = "3:1:1",
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records into train, dev and test that share no picture, paper or claim."""
    from optimize import splits
    from optimize.display import note

    chosen = _task(task)
    note(f"splitting {file} {parts} (seed {seed}) into {out}/")
    written = splits.split_file(chosen, file, out, splits.Parts.parse(parts), seed)
    for name, count in written.items():
        note(f"  {out / name}.jsonl: {count} records")


@app.command("compile")
def compile_(
    task: TaskName,
    data: Annotated[Path | None, typer.Option(help="Folder with train.jsonl and dev.jsonl; test.jsonl if there is one. "
                                              "Default: data/sample/TASK.")] = None,
    optimizer: Annotated[str, typer.Option(help="labeled, bootstrap, random-search, mipro or gepa.")] = "random-search",
    name: Annotated[str | None, typer.Option(help="Name of the artifact. Default: that of the optimizer.")] = None,
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    threads: Threads = None,
    demos: Annotated[int, typer.Option(min=0, help="Most few-shot examples in a prompt.")] = 4,
    candidates: Annotated[int, typer.Option(min=1, help="How many programs the optimizer may try.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the optimizer.")] = 0,
    unit: Annotated[str | None, typer.Option(help="track1: judge a `paragraph` or a `sentence` a call.")] = None,
    context_tokens: Annotated[int | None, typer.Option(min=1, help="track2: tokens of the paper to show.")] = None,
    limit_train: Annotated[int | None, typer.Option(min=1, help="Take only the first records of train.")] = None,
    limit_dev: Annotated[int | None, typer.Option(min=1, help="The same for dev.")] = None,
    limit_test: Annotated[int | None, typer.Option(min=1, help="The same for test.")] = None,
    track: Annotated[bool, typer.Option(help="Log the compile to MLflow and register its champion.")] = True,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Compile a program against the ranking score; save the champion and register it."""  # fmt: skip
    _prepare(artifacts)
    from optimize import artifact, compiling, display
    from optimize.optimizers import OPTIMIZERS, Settings

    chosen = _task(task)
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"--optimizer {optimizer!r}; one of: {', '.join(OPTIMIZERS)}")
    opened = _open(lm, api_base, schema, threads)
    folder = data or Path("data/sample") / chosen.name
    files = {side: folder / f"{side}.jsonl" for side in ("train", "dev", "test")}
    if not files["test"].exists():
        del files["test"]
    options = {key: value for key, value in {"unit": unit, "context_tokens": context_tokens}.items() if value}
    plan = compiling.Plan(
        task=chosen,
        name=artifact.check_name(name or optimizer),
        optimizer=optimizer,
        settings=Settings(demos=demos, candidates=candidates, seed=seed),
        options=options,
        data=files,
        limits={"train": limit_train, "dev": limit_dev, "test": limit_test},
        command=_command(),
    )
    display.note(f"compiling {chosen.name} on {folder} with {optimizer} and {lm}; artifact {artifacts / chosen.name / plan.name}/")
    with display.live(opened.ledger) as shown:
        watcher = compiling.Watcher(
            shown.stage, shown.judged, lambda contender: shown.say(f"    {contender.name}: {contender.dev.interval} on dev")
        )
        made = compiling.compile_program(plan, opened, artifacts, watcher)
        _say_champion(made)
        if track:
            shown.stage("MLflow: logging the run and registering the champion")
            _track(artifacts, plan, made)
    display.note(f"wrote {made.folder}/ (program digest {made.manifest['digest']}) and {artifacts / 'INDEX.md'}")
    _say_spend(opened)


@app.command()
def evaluate(
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    threads: Threads = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first records.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score a compiled program on labelled records, with a 95 % interval."""
    _prepare(artifacts)
    from optimize import artifact, compiling, display
    from optimize.champion import measure

    chosen = _task(task)
    loaded = _load(chosen, program, artifacts)
    opened = _open(lm, api_base, schema, threads)
    examples = compiling.labelled(chosen, loaded.program, data, limit)
    display.note(f"evaluating {program} ({loaded.digest}) with {lm} on {len(examples)} records of {data}")
    with display.live(opened.ledger) as shown:
        found = measure(chosen, loaded.program, examples, opened, shown.judged)
    display.score_table(f"{chosen.name} on {data}", found.report())
    _say_failures(found.failures)
    _say_spend(opened)
    if output:
        artifact.write_whole(output, artifact.as_json(found.report()))
        display.note(f"wrote {output}")
    raise typer.Exit(RECORDS_FAILED if found.failures else 0)


@app.command()
def predict(
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    out: Annotated[Path, typer.Option(help="Predictions file; a run that was stopped goes on in it.", show_default=False)],
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    threads: Threads = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Predict a file of records. Exits 1 where records failed; the same command tries those again."""
    _prepare(artifacts)
    from optimize import display
    from optimize.predict import predict as run

    chosen = _task(task)
    loaded = _load(chosen, program, artifacts)
    opened = _open(lm, api_base, schema, threads)
    display.note(f"predicting {data} with {program} ({loaded.digest}) and {lm} into {out}")
    identity = {"task": chosen.name, "program": loaded.digest, "lm": opened.lm.model}
    with display.live(opened.ledger) as shown:
        summary = run(chosen, loaded.program, data, out, opened, identity, lambda judged: shown.judged())
    kept = summary.records - summary.judged
    display.note(f"wrote {out}: {summary.records} records" + (f", {kept} of them from an earlier run" if kept else ""))
    _say_failures(summary.failures)
    _say_spend(opened)
    raise typer.Exit(RECORDS_FAILED if summary.failures else 0)


@app.command()
def submit(
    task: TaskName,
    data: Annotated[Path, typer.Option(help="The test inputs that were predicted.", show_default=False)],
    predictions: Annotated[Path, typer.Option(help="Predictions file of `aisr predict`.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Zip to write; the other track's file in it is kept.", show_default=False)],
    on_failure: Annotated[str, typer.Option(help="`refuse`, or `fallback`: fill failed records in.")] = "refuse",
    limit: Annotated[int, typer.Option(min=1, help="How many problems to list.")] = 20,
) -> None:
    """Validate predictions against the test inputs and pack the zip that the server takes."""
    from optimize import submission
    from optimize.display import note

    chosen = _task(task)
    if on_failure not in ("refuse", "fallback"):
        raise ValueError(f"--on-failure {on_failure!r}; one of: refuse, fallback")
    note(f"checking {predictions} against {data}")
    found = submission.check(chosen, data, predictions, fill_failed=on_failure == "fallback")
    for problem in found.problems[:limit]:
        note(f"  {problem}")
    if found.problems:
        raise ValueError(f"{len(found.problems)} problems; nothing was written")
    for key in found.filled:
        note(f"  {key}: failed; filled in with the fallback answer")
    submission.pack(chosen, found.lines, out)
    note(f"wrote {out}: {chosen.submission_file} with {len(found.lines)} records")


@app.command()
def score(
    gold: Annotated[Path, typer.Argument(help="Labelled records, JSONL.")],
    predicted: Annotated[Path, typer.Argument(metavar="PRED", help="Predictions, JSONL.")],
    task: TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score predictions as the official evaluator does; refuse what it refuses."""
    from optimize import display
    from optimize.artifact import as_json, write_whole
    from optimize.scoring import score_files

    chosen = _task(task)
    report = score_files(chosen, gold, predicted)
    display.score_table(f"{chosen.name}: {predicted} against {gold}", report)
    if output:
        write_whole(output, as_json(report))
        display.note(f"wrote {output}")


@app.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Open the MLflow UI on the store of the compiles, on this machine only."""
    from optimize.display import note
    from optimize.server import serve

    note(f"MLflow UI on http://127.0.0.1:{port} in about 20 seconds; Ctrl-C ends it")
    raise typer.Exit(serve(artifacts, port))


def main() -> None:
    """The console script: what a user can mend ends in one line on standard error and exit code 2."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on where it can")
    except Exception as error:
        if not _is_for_the_user(error):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(REFUSED)


def _is_for_the_user(error: Exception) -> bool:
    """Bad input, files and LM errors carry messages of their own; anything else is a fault of ours and shows itself."""
    dspy_errors = sys.modules.get("dspy.utils.exceptions")
    return isinstance(error, ValueError | OSError) or (
        dspy_errors is not None and isinstance(error, dspy_errors.DSPyError)
    )


def _task(name: str) -> "Task":
    from optimize.tasks import TASKS

    if name not in TASKS:
        raise ValueError(f"--task {name!r}; one of: {', '.join(TASKS)}")
    return TASKS[name]


def _prepare(artifacts: Path) -> None:
    """What must be set before DSPy is imported: a response cache of this workspace, and no bars but ours."""
    import logging

    os.environ.setdefault("DSPY_CACHEDIR", str(artifacts.resolve() / ".cache"))
    os.environ.setdefault("TQDM_DISABLE", "1")
    logging.getLogger("dspy").setLevel(logging.ERROR)


def _open(lm: str, api_base: str | None, schema: bool, threads: int | None) -> "OpenLM":
    from optimize.lm import open_lm

    return open_lm(lm, api_base=api_base, schema=schema, threads=threads)


def _load(task: "Task", program: str, artifacts: Path) -> Any:
    from optimize import artifact, tracking

    registered = program.startswith(tracking.MODEL_SCHEME)
    loaded = tracking.load_registered(artifacts, program) if registered else artifact.load(Path(program))
    if loaded.task is not task:
        raise ValueError(f"--program {program} is compiled for {loaded.task.name}, not for {task.name}")
    return loaded


def _command() -> str:
    """The command line as a manifest records it: without the address of a server, which can hold a key."""
    words = ["aisr", *sys.argv[1:]]
    hidden = [
        "--api-base=…" if word.startswith("--api-base=") else "…" if k and words[k - 1] == "--api-base" else word
        for k, word in enumerate(words)
    ]
    return shlex.join(hidden).replace("'…'", "…")


def _track(artifacts: Path, plan: Any, made: Any) -> None:
    from datetime import datetime

    from optimize import tracking
    from optimize.display import note

    lm = made.manifest["lm"]["spec"]
    title = f"{plan.task.name} · {plan.optimizer} · {lm} · {datetime.now():%Y-%m-%d %H:%M}"
    tracked = tracking.track(
        artifacts, tracking.Compiled(plan.task, title, made.folder, made.manifest, made.choice, made.test, plan.data)
    )
    note(f"registered models:/{tracked.model}@{tracking.ALIAS} (version {tracked.version}) · run {tracked.run_id}")


def _say_champion(made: Any) -> None:
    from optimize.display import note

    champion = made.choice.champion
    better = "no better than uncompiled" if champion.gain.low <= 0 else "better than uncompiled"
    note(f"  champion: {champion.name}, {champion.dev.interval} on dev; difference from uncompiled {champion.gain}: {better}")
    if made.test:
        note(f"  on test: {made.test.interval}")
        _say_failures(made.test.failures)


def _say_failures(failures: dict[str, str]) -> None:
    from optimize.display import note

    for key, reason in list(failures.items())[:10]:
        note(f"  failed: {key}: {reason}")
    if failures:
        note(f"{len(failures)} records failed")


def _say_spend(lm: "OpenLM") -> None:
    from optimize.display import note

    spend = lm.ledger.spend
    price = "price unknown" if spend.usd is None else f"{spend.usd:.4f} USD"
    note(
        f"{spend.calls} LM calls (+{spend.cached_calls} from the cache), {spend.prompt_tokens} prompt and "
        f"{spend.completion_tokens} completion tokens, {price}"
    )


if __name__ == "__main__":
    main()
