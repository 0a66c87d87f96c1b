"""The folder of a compiled program: whether it exists, its files written, and the index of all of them. Nothing here
imports DSPy, so a mistyped name is refused at once."""

from pathlib import Path

from aisr.artifact.manifest import FILE, parse
from aisr.base.files import BadArtifact, write_whole

PROGRAM = "program.json"
UNCOMPILED = "uncompiled"  # stands for a program that was not compiled, where two are compared
MOST_NAMED = 5


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
        "| task | name | optimizer | LM | dev | test | digest |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(root.glob(f"*/*/{FILE}")):
        try:
            made = parse(path)
            dev, test = (str(made.scores.get(split, "–")) for split in ("dev", "test"))
            cells = [made.task, path.parent.name, made.optimizer, made.lm.spec, dev, test, made.digest]
        except BadArtifact:
            cells = ["?", path.parent.name, "manifest.json is not one of ours", "", "", "", ""]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    write_whole(root / "INDEX.md", "# Compiled programs\n\n" + "\n".join(rows) + "\n")
