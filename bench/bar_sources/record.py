"""The file of `bench/bars --record`: for each bar the row that was measured last."""

import csv
import datetime
import os
import pathlib
import platform

from bar_sources.table import Row

FIELDS = ("bar", "value", "spread", "limit", "holds", "command", "cpu", "date", "note")


def cpu() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


class Record:
    """Reads the file and writes it again, so that one that cannot be written is told of before hours of measuring."""

    def __init__(self, path: str):
        self.path, self.rows = pathlib.Path(path), {}
        if self.path.exists():
            with open(self.path, newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                if tuple(reader.fieldnames or ()) != FIELDS:
                    raise ValueError(f"{path}: its columns are not {','.join(FIELDS)}")
                self.rows = {row["bar"]: row for row in reader}
        self.write()

    def add(self, row: Row) -> None:
        """A bar without a value keeps its row of before."""
        if row.value is None:
            return
        self.rows[row.bar] = {
            "bar": row.bar, "value": row.value, "spread": row.spread, "limit": row.limit, "holds": "yes" if row.holds else "no",
            "command": row.command, "cpu": cpu(), "date": datetime.date.today().isoformat(), "note": row.note,
        }  # fmt: skip
        self.write()

    def write(self) -> None:
        new = self.path.with_name(self.path.name + ".new")
        with open(new, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())
        os.replace(new, self.path)
