"""What the user can mend, apart from what is a fault of ours.

A command ends with the message of the first in one line, and shows the second whole: a shape that does not fit deep in
the arithmetic must not look like a wrong file name, least of all after money was spent.
"""


class UserError(ValueError):
    """Bad input, a wrong option, a file that is not what it should be. The message says what, what was expected, and
    what to do next.

    A ValueError too, so that pydantic's validators may raise it; but a ValueError alone is no message for a user.
    """


class NotEmbedded(RuntimeError):
    """A model gave no embeddings of the texts of a record; those of another it may well give."""
