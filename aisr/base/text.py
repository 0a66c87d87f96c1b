"""How scores are worded wherever a person reads them."""


def percent(value: float) -> str:
    """A share in 0-1 as points of a hundred, with one place."""
    return f"{100 * value:.1f}"


def with_interval(value: float, low: float, high: float) -> str:
    """The same with the ends of its interval."""
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"
