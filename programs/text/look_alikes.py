"""Letters of other scripts that look like one of the 26 of English.

What looks like what is Unicode's to say (confusables.txt of UTS #39, version 15.1). Of it are here the letters of eight
scripts that most machines have a font for: Greek, Coptic, Cyrillic, Armenian, Georgian, Cherokee, Lisu, and what Latin
itself has beyond English, such as small capitals. Letters in full width and the alphabets of mathematics are not here:
their compatibility form is the letter itself. Left out are signs that look like digits, which would make numbers of
words; one sign for two (`rn` for `m`); and what looks alike within English (`I` and `l`).
"""

import unicodedata
from collections.abc import Iterator
from functools import cache

LOOK_ALIKES = {
    "a": "ɑΑαАаᎪꓮ",
    "b": "ƄΒВЬᏏᏴꓐꞴ",
    "c": "ϲСсᏟᴄⲤⲥꓚꮯϹ",
    "d": "ԁᎠᏧꓒꓓ",
    "e": "ΕЕеҽᎬꓰꬲ",
    "f": "ϜքẝꓝꞘꞙꬵ",
    "g": "ƍɡԌցᏀᏳᶃꓖ",
    "h": "ΗНһհᎻᏂⲎꓧ",
    "i": "ıɩɪΙιІіᎥⲒꓲꙇꭵ",
    "j": "ͿϳЈјᎫꓙꞲ",
    "k": "ΚКᏦⲔꓗ",
    "l": "ƖǀӀӏᏞⳐꓡ",
    "m": "ΜϺМᎷⲘꓟ",
    "n": "ΝոռⲚꓠ",
    "o": "ΟοσςОоՕօჿᴏᴑⲞⲟꓳꬽ",
    "p": "ΡρРрᏢⲢⲣꓑ",
    "q": "ԛգզ",
    "r": "ƦгᎡᏒᴦⲅꓣꭇꭈꮁ",
    "s": "ƽЅѕՏᏕᏚꓢꜱꮪ",
    "t": "ΤТᎢⲦꓔ",
    "u": "ʋυՍսᴜꓴꞟꭎꭒ",
    "v": "νѴѵᏙᴠꓦꮩ",
    "w": "ɯѡԜԝաᎳᏔᴡꓪꮃ",
    "x": "ΧХхⲬꓫꞳ",
    "y": "ɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ",
    "z": "ΖᏃᴢꓜꮓ",
}
ACCENTED = ((0x370, 0x530), (0x1F00, 0x2000))  # Greek and Cyrillic: letters with marks in one sign


@cache
def table() -> dict[int, str]:
    """For `str.translate`: such a letter -> the letter of English, and with accents the accented one (`ё` -> `ë`). Of a
    letter only one of whose cases looks like one, the other goes with it: capitals make no other text. (But for Greek
    `ν` and `υ`, whose capitals look like N and Y.)"""
    seen = {sign: letter for letter, signs in LOOK_ALIKES.items() for sign in signs}
    known = dict(_other_cases(seen)) | seen
    accented = {}
    for sign in (chr(code) for first, end in ACCENTED for code in range(first, end)):
        base, *marks = list(unicodedata.normalize("NFD", sign))
        if marks and base in known:
            accented[sign] = unicodedata.normalize("NFC", known[base] + "".join(marks))
    return {ord(sign): letter for sign, letter in (known | accented).items()}


def _other_cases(seen: dict[str, str]) -> Iterator[tuple[str, str]]:
    for sign, letter in seen.items():
        for other in (sign.lower(), sign.upper()):
            if len(other) == 1 and not other.isascii():
                yield other, letter
