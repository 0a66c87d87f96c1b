"""Text from outside (claims, captions, papers) as it may stand in a prompt.

Such text must stay data: it must not open a field of the adapter's own format (`[[ ## label ## ]]`), nor pass for one
of DSPy's inline content parts, which DSPy would send to the model as a picture or file of the text's choosing.
"""

BROKEN = {"[[ ##": "[ [ ##", "## ]]": "## ] ]", "<<CUSTOM-TYPE": "< <CUSTOM-TYPE"}


def plain(text: str) -> str:
    """The text with forged markers broken up by a space; other text as it is."""
    for marker, broken in BROKEN.items():
        text = text.replace(marker, broken)
    return text
