"""What the user can mend, apart from what is a fault of ours.

A command ends with the message of the first in one line, and shows the second whole: a shape that does not fit deep in
the arithmetic must not look like a wrong file name, least of all after money was spent.
"""

import sys
from collections.abc import Callable


class UserError(ValueError):
    """Bad input, a wrong option, a file that is not what it should be. The message says what, what was expected, and
    what to do next.

    A ValueError too, so that pydantic's validators may raise it; but a ValueError alone is no message for a user.
    """


def exit_code(command: Callable[[], object]) -> int:
    """Run the command of a module (`python -m aisr.metrics.averitec`): 0, or 2 with the message of its UserError on
    standard error."""
    try:
        command()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
