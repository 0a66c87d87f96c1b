"""What `models:/…` can name, looked up in seconds less than it takes to import MLflow."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from aisr.base import redact
from aisr.base.files import BadArtifact
from aisr.tracking.store import check_exists, is_own, tracking_uri

MODEL_SCHEME = "models:/"
FORM = re.compile(r"models:/(?P<name>[^/@]+)(?:@[^/@]+|/[0-9]+)")
EXPECTED = "expected models:/NAME@champion or models:/NAME/VERSION"
MOST_NAMED = 6
# Of MLflow's database: every version that was not deleted, as name, number and an alias or none.
VERSIONS = """
    SELECT version.name, version.version, alias.alias
    FROM model_versions AS version
    LEFT JOIN registered_model_aliases AS alias ON alias.name = version.name AND alias.version = version.version
    WHERE version.current_stage IS NOT 'Deleted_Internal'
    ORDER BY version.name, version.version DESC
"""


def check_registered(root: Path, uri: str) -> None:
    """Raises `BadArtifact` for what can be no version, and for one that the database below `root` does not have, with
    those that it has; `NoStore` where there is none. What a server has is left to MLflow to find out."""
    named = FORM.fullmatch(uri)
    if named is None:
        raise BadArtifact(f"{uri}: {EXPECTED}, as `aisr compile` prints it")
    check_exists(root)
    if not is_own(root):
        return
    try:
        with closing(sqlite3.connect(f"{_file(root).as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(VERSIONS).fetchall()
    except sqlite3.Error:
        return  # MLflow says what is wrong with it, or brings it up to date
    there = {f"{MODEL_SCHEME}{name}/{version}": name for name, version, _ in rows}
    there |= {f"{MODEL_SCHEME}{name}@{alias}": name for name, _, alias in rows if alias}
    there |= {f"{MODEL_SCHEME}{name}@latest": name for name, _, _ in rows}  # an alias that MLflow gives itself
    if uri not in there:
        known = sorted(one for one in there if not one.endswith("@latest"))
        known.sort(key=lambda one: there[one] != named["name"])
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        raise BadArtifact(
            f"{uri}: no such version in {redact.secrets(tracking_uri(root))}; {EXPECTED}; "
            + (f"there are {', '.join(known[:MOST_NAMED])}{more}" if known else "nothing was registered there yet")
        )


def _file(root: Path) -> Path:
    return Path(tracking_uri(root).removeprefix("sqlite:///"))
