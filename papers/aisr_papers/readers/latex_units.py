"""The units of siunitx, by the lists of its manual: prefixes, units, and the short names of both together."""

from collections.abc import Callable, Mapping

from aisr_papers.readers.latex_commands import name_set
from aisr_papers.readers.latex_tokens import Token, Tokens, source

PREFIXES = {
    "quecto": "q", "ronto": "r", "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n",
    "micro": "µ", "milli": "m", "centi": "c", "deci": "d", "deca": "da", "deka": "da", "hecto": "h", "kilo": "k",
    "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y", "ronna": "R",
    "quetta": "Q", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi", "exbi": "Ei",
    "zebi": "Zi", "yobi": "Yi",
}  # fmt: skip
NAMED = {
    "ampere": "A", "candela": "cd", "kelvin": "K", "kilogram": "kg", "metre": "m", "meter": "m", "mole": "mol",
    "second": "s", "becquerel": "Bq", "degreeCelsius": "°C", "celsius": "°C", "coulomb": "C", "farad": "F",
    "gray": "Gy", "hertz": "Hz", "henry": "H", "joule": "J", "katal": "kat", "lumen": "lm", "lux": "lx",
    "newton": "N", "ohm": "Ω", "pascal": "Pa", "radian": "rad", "siemens": "S", "sievert": "Sv", "steradian": "sr",
    "tesla": "T", "volt": "V", "watt": "W", "weber": "Wb", "astronomicalunit": "au", "bel": "B", "dalton": "Da",
    "day": "d", "decibel": "dB", "degree": "°", "electronvolt": "eV", "hectare": "ha", "hour": "h", "litre": "L",
    "liter": "L", "arcminute": "′", "minute": "min", "arcsecond": "″", "neper": "Np", "tonne": "t", "gram": "g",
    "percent": "%", "angstrom": "Å", "bar": "bar", "barn": "b", "knot": "kn", "mmHg": "mmHg", "nauticalmile": "M",
    "atomicmassunit": "u", "bit": "bit", "byte": "B", "molar": "M", "arcmin": "′", "arcsec": "″",
}  # fmt: skip
# \mg, \mL, \um: one prefix of these, and one unit.
SHORT_PREFIXES = {one: one for one in "afpnmcdhkMGT"} | {"u": "µ", "": ""}
SHORT_UNITS = {one: one for one in name_set("g m s mol A l L Hz N Pa V W J eV F H S C T K B")} | {"ohm": "Ω"}
SHORT = {before + unit: SHORT_PREFIXES[before] + SHORT_UNITS[unit] for before in SHORT_PREFIXES for unit in SHORT_UNITS}
SHORT |= {"amu": "u", "kWh": "kWh", "dB": "dB", "Molar": "M"}
RAISED = {"squared": "^2", "cubed": "^3"}  # behind a unit
RAISING = {"square": "^2", "cubic": "^3"}  # before it
WITH_ARGUMENT = ("tothe", "raiseto", "of")
PLAIN = ("text", "mathrm", "textrm", "ensuremath", "rm", "si", "unit")
MAX_TOKENS = 200
# What they also print in the text and in formulas, where a paper uses them there.
UNIT_NAMES = {**PREFIXES, **NAMED, **RAISED, "per": "/", "us": "µs", "um": "µm"}
del UNIT_NAMES["bar"], UNIT_NAMES["arcsec"]  # an accent, and a function


class _Unit:
    """A unit as it is put together, word by word: `kg m/s^2`."""

    def __init__(self) -> None:
        self.text = ""
        self._before = ""  # a stroke and a prefix
        self._power = ""

    def add(self, text: str) -> None:
        """Add the sign of a unit."""
        is_apart = self.text and not self._before.startswith("/") and not self.text.endswith((" ", "/", "^", "_", "("))
        self.text += f"{' ' if is_apart else ''}{self._before}{text}{self._power}"
        self._before = self._power = ""

    def add_letters(self, letters: str) -> None:
        """Add what is written as it is printed; a point stands between two units."""
        letters = letters.replace(".", " ")
        if self._before and letters.strip():
            self.add(letters.strip())
        else:
            self.text += letters

    def add_command(self, name: str) -> bool:
        """Add what a command of siunitx without arguments stands for; whether it is one."""
        if name == "per":
            self._before = "/"
        elif name in PREFIXES:
            self._before += PREFIXES[name]
        elif name in RAISING:
            self._power = RAISING[name]
        elif name in RAISED:
            self.text += RAISED[name]
        elif name in NAMED or name in SHORT:
            self.add(NAMED.get(name) or SHORT[name])
        else:
            return False
        return True

    def add_argument(self, name: str, argument: str) -> None:
        """Add a command with one argument: a power before or behind a unit, or what is measured."""
        if name == "raiseto":
            self._power = f"^{argument}"
        else:
            self.text += f"{'^' if name == 'tothe' else '_'}{argument}"


def read_unit(tokens: Tokens, own: Mapping[str, Tokens], symbol: Callable[[str], str | None]) -> str | None:
    """Return the unit that an argument of siunitx stands for; None where one of its commands is not known.

    own: what the paper's own units and macros stand for; symbol: what other commands print."""
    unit, left = _Unit(), list(tokens)[::-1]
    for _ in range(MAX_TOKENS):
        if not left:
            return " ".join(unit.text.split())
        token = left.pop()
        if token.kind == "text":
            unit.add_letters(token.text)
        elif token.kind == "close" and unit.text[-1:].isdigit():  # m^{-1}s
            unit.text += " "
        elif token.kind != "command" or token.text in PLAIN:
            continue
        elif token.text in WITH_ARGUMENT:
            unit.add_argument(token.text, _pop_argument(left))
        elif token.text in own:
            left += own[token.text][::-1]
        elif not unit.add_command(token.text):
            text = symbol(token.text)
            if text is None:
                return None
            unit.add_letters(text)
    return None


def _pop_argument(left: list[Token]) -> str:
    """Return the next argument of tokens that stand in reverse."""
    token = left.pop() if left else None
    if token is None or token.kind != "open":
        return token.source if token else ""
    argument = []
    while left and (token := left.pop()).kind != "close":
        argument.append(token)
    return source(argument)
