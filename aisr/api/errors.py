"""What can go wrong for a caller from Python. A record that merely fails is no error: see `aisr.Judged`."""

import re

OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


class Error(Exception):
    """What the caller can mend; the message says what was expected, and how."""


class BadRecord(Error, ValueError):
    """A record of the wrong form: `records[3]: sentence_label[0].sentence: Field required`."""


class BadProgram(Error, ValueError):
    """There is no such program, or it is not what was saved; or its store or its pictures cannot be opened."""


class LMUnavailable(Error):
    """The language model cannot be opened as asked for, or would refuse every record: a refused key, an account without
    credit, a limit that is reached, a server closed for long."""


def in_python(error: Exception) -> str:
    """The message of an error, without secrets and addresses; a command's `--api-base` is `api_base` here."""
    from aisr.base import redact

    return OPTION.sub(lambda option: option[1].replace("-", "_"), redact.addresses(str(error)))
