"""The command that serves the checker to coding agents."""

from pathlib import Path
from typing import Annotated

import typer

from aisr.cli.options import (
    ARTIFACTS,
    LMSpec,
    MaxMinutes,
    MaxUsd,
    PriceOption,
    Reach,
    Root,
)
from aisr.cli.session import opened_lm, prepare
from aisr.cli.task_options import UncompiledEvidence
from aisr.programs.errors import UserError


def mcp(
    *,
    folder: Annotated[
        list[Path] | None,
        typer.Option(help="A folder that agents may name files in; repeatable. Nothing else is read."),
    ] = None,
    program: Annotated[str | None, typer.Option(help="A compiled program for sentences against evidence.")] = None,
    cite_program: Annotated[str | None, typer.Option(help="A compiled program for claims against papers.")] = None,
    draft_program: Annotated[
        str | None, typer.Option(help="A compiled program (task draft) for the second look at papers.")
    ] = None,
    evidence: UncompiledEvidence = None,
    lm: LMSpec = "embedded",
    reach: Reach,
    price: PriceOption = None,
    max_usd: MaxUsd = None,
    max_calls: Annotated[int, typer.Option(min=1, help="Most LM calls of the whole session.")] = 500,
    max_minutes: MaxMinutes = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Serve the checker to coding agents: an MCP server on standard input and output. Limits are for the whole session,
    and no agent can raise them."""
    from aisr.paper.check.session import opened

    folders = opened(folder or [])
    prepare(artifacts, program, cite_program, draft_program)
    try:
        import mcp as _installed  # noqa: F401
    except ImportError as error:
        raise UserError("`aisr mcp` needs the extra: pip install 'aisr[mcp,paper]'") from error
    from aisr.lm.budget import Ledger, Limits
    from aisr.paper.check.server import server
    from aisr.paper.check.session import Session, Settings

    ledger = Ledger(Limits(max_usd, max_calls, max_minutes))
    asked = opened_lm(lm, reach, ledger, price=price)
    settings = Settings(folders, artifacts, program, cite_program, draft_program, evidence)
    server(Session(settings, asked)).run("stdio")
