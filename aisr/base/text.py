"""How scores and counts are worded wherever a person reads them."""


def percent(value: float) -> str:
    """A share in 0-1 as points of a hundred, with one place."""
    return f"{100 * value:.1f}"


def counted(count: int, noun: str) -> str:
    """A number of things: "1 flag", "2 flags"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def with_interval(value: float, low: float, high: float) -> str:
    """The same with the ends of its interval."""
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"
