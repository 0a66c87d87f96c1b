"""Whether a folder can be that of a compiled program, before anything that could read it is imported."""

from pathlib import Path

from aisr.base.files import BadArtifact

PROGRAM = "program.json"
UNCOMPILED = "uncompiled"  # stands for a program that was not compiled, where two are held against each other
MOST_NAMED = 5


def check_there(folder: Path, root: Path | None = None) -> None:
    """Raises `BadArtifact` for a folder without a program; of those below the artifacts folder `root` it names some,
    first those of the same name."""
    if (folder / PROGRAM).is_file():
        return
    there = (
        sorted(root.glob(f"*/*/{PROGRAM}"), key=lambda file: (file.parent.name != folder.name, file)) if root else []
    )
    known = ", ".join(str(file.parent) for file in there[:MOST_NAMED])
    more = f" and {len(there) - MOST_NAMED} more" if len(there) > MOST_NAMED else ""
    if str(folder) == UNCOMPILED:
        raise BadArtifact(
            f"{UNCOMPILED}: no folder of a program; `aisr compare {UNCOMPILED} PROGRAM` scores PROGRAM as it was "
            "before it was compiled"
        )
    raise BadArtifact(
        f"{folder}: no {PROGRAM} in there; expected a folder that `aisr compile` wrote"
        + (f", such as {known}{more}" if there else "")
    )
