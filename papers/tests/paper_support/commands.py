"""`check-paper` run in this process."""

from collections.abc import Callable

from support.commands import Finished, run_main

CheckPaper = Callable[..., Finished]


def run(*words: object) -> Finished:
    """`check-paper WORDS…`, as a shell would run it."""
    from aisr_papers.cli import main

    return run_main(main, "check-paper", *words)
