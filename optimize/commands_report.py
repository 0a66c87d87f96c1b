"""The commands for people who read verdicts: the error browser."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="artifacts/TASK/NAME, or the folder beside `evaluate --output`.")],
    image_root: Annotated[
        Path | None, typer.Option(help="Folder that the picture paths of the records start from. Default: no pictures.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the page. Default: report.html in that folder.")] = None,
) -> None:
    """Write the error browser: one HTML file with every judged record, its evidence, verdicts, prompt and answer."""
    from optimize.display import note
    from optimize.opening import prepare
    from optimize.options import ARTIFACTS

    prepare(ARTIFACTS)
    from optimize.artifact import write_whole
    from optimize.report import page, records

    found = records.read(run)
    thumbnail: page.Thumbnail = page.no_picture
    if image_root is not None:
        from optimize.report.thumbnails import Thumbnails

        if not image_root.is_dir():
            raise ValueError(f"--image-root {image_root}: no such folder; expected the one that img_path starts from")
        thumbnail = Thumbnails(image_root)
    target = out or run / page.FILE
    write_whole(target, page.render(found, thumbnail))
    note(f"wrote {target}: {len(found.records)} records, {target.stat().st_size / 2**20:.1f} MiB, to open in a browser")
