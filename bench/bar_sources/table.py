"""The rows that `bench/bars` prints, in 100 columns."""

import dataclasses
import json

WIDTH = 100
COLUMNS = ("bar", "value", "spread", "limit", "holds", "command")
RIGHT = ("value", "limit")


@dataclasses.dataclass
class Row:
    bar: str
    value: str
    spread: str
    limit: str  # at least, with its unit
    holds: bool
    command: str
    note: str

    def cells(self) -> list[str]:
        return [self.bar, self.value, self.spread, self.limit, "yes" if self.holds else "NO",
                self.command.replace("kiln ", "")]


def shortened(text: str, width: int) -> str:
    """In the middle: what matters stands at both ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + "…" + (text[-tail:] if tail else "")


def table(rows: list[Row], notes: bool) -> str:
    lines = [list(COLUMNS)] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    widths[-1] = max(7, WIDTH - sum(widths[:-1]) - 2 * (len(COLUMNS) - 1))  # the command takes what is left
    excess = sum(widths) + 2 * (len(COLUMNS) - 1) - WIDTH
    widths[0] -= max(0, excess)
    text = ""
    for number, line in enumerate(lines):
        cells = [shortened(cell, width) for cell, width in zip(line, widths)]
        cells = [cell.rjust(width) if name in RIGHT else cell.ljust(width)
                 for name, cell, width in zip(COLUMNS, cells, widths)]
        text += "  ".join(cells).rstrip() + "\n"
        if notes and number and rows[number - 1].note:
            text += "    " + rows[number - 1].note + "\n"
    return text


def as_json(rows: list[Row]) -> str:
    return json.dumps([dataclasses.asdict(row) for row in rows], indent=2, ensure_ascii=False) + "\n"
