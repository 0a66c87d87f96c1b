"""The command that looks at the machine: what is installed, what would be asked, where things are kept."""

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from aisr.base.files import cache_folder
from aisr.cli.options import ARTIFACTS, RECORDS_FAILED, ApiBase, LMSpec, Reach, Root
from aisr.cli.session import opened_lm, prepare
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM

NEEDED = ("aisr", "dspy", "litellm", "mlflow", "pydantic", "scikit-learn")
OPTIONAL = {"xllamacpp": "models in this process", "rapidocr": "--evidence ocr", "ray": "--engine ray"}


def doctor(lm: LMSpec = "embedded", api_base: ApiBase = None, artifacts: Root = ARTIFACTS) -> None:
    """Show what is installed, which LM would be asked, whether the store answers and how much room there is. Sends
    nothing to an LM. Exit code 1 where something will not work."""
    prepare(artifacts)
    from aisr.base import redact
    from aisr.cli.display import note
    from aisr.lm.response_cache import check_cache
    from aisr.tracking.store import NoStore, check_exists, reading

    healthy = True
    note(f"python {sys.version.split()[0]}, " + ", ".join(f"{name} {_version(name)}" for name in NEEDED))
    note("optional: " + ", ".join(f"{name} {_version(name)} ({use})" for name, use in OPTIONAL.items()))
    try:
        opened = opened_lm(lm, Reach(api_base=api_base))
        note(f"LM: {opened.spec}, {'at --api-base, ' if api_base else ''}{_asked_for(opened)}")
    except UserError as error:
        healthy = False
        note(f"LM: {lm} cannot be used: {error}")
    keys = sorted(name for name, value in os.environ.items() if name.endswith("_API_KEY") and value)
    note(f"keys in the environment: {', '.join(keys) or 'none'}")
    try:
        check_exists(artifacts)
    except NoStore:
        note(f"MLflow store: none in {artifacts} yet; the first compile makes it")
    else:
        try:
            with reading(artifacts) as store:
                runs = store.client.search_experiments()
                note(f"MLflow store: {redact.secrets(store.uri)} answers, {len(runs)} experiments")
        except NoStore as error:
            healthy = False
            note(f"MLflow store: {error}")
    cache = Path(os.environ.get("DSPY_CACHEDIR") or cache_folder(artifacts))
    standing = next(folder for folder in (cache, *cache.absolute().parents) if folder.exists())
    fault = check_cache(cache)
    healthy = healthy and not fault
    state = f"cannot be used: {fault}" if fault else "a write to it succeeded"
    note(f"response cache: {cache}, {state}, {shutil.disk_usage(standing).free / 1e9:.1f} GB free on its disk")
    if not healthy:
        raise SystemExit(RECORDS_FAILED)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is missing"


def _asked_for(opened: "OpenLM") -> str:
    if opened.decides:
        return "a probability for every option asked for"
    return f"{'with' if opened.lm.gives_logprobs else 'without'} log-probabilities asked for"
