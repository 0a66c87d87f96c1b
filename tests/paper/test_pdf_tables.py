"""Tables that go over pages of a PDF are one table, with all their rows and one head."""

from pathlib import Path

import pytest

from aisr.paper.readers.pdf import read
from support.pdfs import column, rule, text, write

HEAD = ("Site", "Wren", "Lark")
SITES: list[tuple[str, ...]] = [(f"Site{number}", f"{number}.25", f"{number + 50}.75") for number in range(10, 70)]
START = text(72, 740, "A Paper", size=18) + text(72, 710, "1 Results", size=12, font="F2")
START += column(72, 690, ["Wrens sing at all of the sites that we went to, as Table 1 shows for each one of them."])
END = column(72, 300, ["After the table the text goes on as if there had been none, and it says no more at all."])


def rows(top: float, shown: list[tuple[str, ...]]) -> str:
    return "".join(
        text(x, top - 12 * place, cell)
        for place, row in enumerate(shown)
        for x, cell in zip((100, 250, 400), row, strict=True)
    )


def head(top: float) -> str:
    return rule(95, top + 12, 350) + rows(top, [HEAD]) + rule(95, top - 5, 350)


def foot(top: float) -> str:
    return rule(95, top, 350) + text(300, 30, "7")


def caption(said: str = "Table 1: F1 at each site.", top: float = 660) -> str:
    return text(150, top, said, size=9)


def first(last: int) -> str:
    return START + caption() + head(630) + rows(612, SITES[:last]) + text(300, 30, "1")


def middle(shown: list[tuple[str, ...]], top: float = 740) -> str:
    return rows(top, shown) + text(300, 30, "2")


@pytest.mark.parametrize(
    "pages",
    [
        [first(45), rows(740, SITES[45:]) + foot(735 - 12 * 15) + END],
        [first(20), middle(SITES[20:40]), rows(740, SITES[40:]) + foot(735 - 12 * 20) + END],
        [
            first(44) + text(350, 70, "Continued on next page"),
            caption("Table 1: (continued)", 760) + head(740) + rows(722, SITES[44:]) + foot(715 - 12 * 16) + END,
        ],
    ],
    ids=["rows", "three pages", "continued"],
)
def test_a_table_over_pages_is_one(tmp_path: Path, pages: list[str]) -> None:
    draft = read(write(tmp_path / "a.pdf", *pages))
    found = [row.split("\t") for row in draft.floats["Table 1"].rows.split("\n")]
    assert found == [list(HEAD), *map(list, SITES)]
    assert list(draft.floats) == ["Table 1"]
    said = " ".join(one.text for each in draft.paragraphs for one in each.sentences)
    assert "Site" not in said
    assert ("After the table the text goes on" in said) == (END in pages[-1])
