"""The rows that `bench/bars` prints, in 100 columns."""

import dataclasses
import json

WIDTH = 100
COLUMNS = ("bar", "value", "spread", "limit", "holds", "command")
RIGHT = ("value", "limit")


@dataclasses.dataclass
class Row:
    bar: str
    value: str | None  # none: it could not be measured, and the note says why
    spread: str
    limit: str  # at least, with its unit
    holds: bool
    command: str
    note: str

    def cells(self) -> list[str]:
        return [self.bar, self.value or "-", self.spread, self.limit, "yes" if self.holds else "NO",
                self.command.replace("kiln ", "")]


def shortened(text: str, width: int) -> str:
    """In the middle: what matters stands at both ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + "…" + (text[-tail:] if tail else "")


class Table:
    """Rows are written one by one, hours apart, so that widths come from what is known before the first."""

    def __init__(self, bars: list[str], limits: list[str], notes: bool):
        self.notes = notes
        self.widths = [max(map(len, bars)), len("1234.56"), len("100.0..110.0"), max(map(len, limits)), len("holds")]
        self.widths.append(max(7, WIDTH - sum(self.widths) - 2 * len(self.widths)))  # the command takes what is left
        self.widths[0] -= max(0, sum(self.widths) + 2 * (len(COLUMNS) - 1) - WIDTH)

    def line(self, cells: list[str]) -> str:
        cells = [shortened(cell, width) for cell, width in zip(cells, self.widths)]
        cells = [cell.rjust(width) if name in RIGHT else cell.ljust(width)
                 for name, cell, width in zip(COLUMNS, cells, self.widths)]
        return "  ".join(cells).rstrip() + "\n"

    def heading(self) -> str:
        return self.line(list(COLUMNS))

    def row(self, row: Row) -> str:
        """With its note below it, where notes are asked for or there is no value."""
        return self.line(row.cells()) + (f"    {row.note}\n" if row.note and (self.notes or row.value is None) else "")


def as_json(rows: list[Row]) -> str:
    return json.dumps([dataclasses.asdict(row) for row in rows], indent=2, ensure_ascii=False) + "\n"
