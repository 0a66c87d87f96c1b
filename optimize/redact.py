"""Keeping keys, passwords and addresses out of files and messages: servers like to repeat them in their errors."""

import os
import re

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 6  # shorter values are no secrets, and replacing them would garble the text
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
ADDRESS = re.compile(r"\bhttps?://[^\s'\"<>]+")


def secrets(text: str) -> str:
    """The text without the values of secret environment variables and without user names and passwords in URLs."""
    for name, value in os.environ.items():
        if SECRET_NAME.search(name) and len(value) >= SHORTEST:
            text = text.replace(value, f"<{name}>")
    return USER_INFO.sub("", text)


def addresses(text: str) -> str:
    """The same, and without any http address: for what is written to files that are passed on."""
    return ADDRESS.sub("<address>", secrets(text))
