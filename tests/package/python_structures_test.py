"""What repeats the structures of runtime/kiln.h: the ctypes structures of examples/kiln_package.py have the same fields in
the same places, and runtime/descriptor.cpp knows which lists of a descriptor end with its spatial rank."""

import ctypes
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = re.sub(r"/\*.*?\*/", "", (ROOT / "runtime/kiln.h").read_text(), flags=re.DOTALL)
CONSTANTS = {name: int(value) for name, value in re.findall(r"\b(KILN_\w+) = (-?\d+)", HEADER)}
SCALARS = {"int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32, "int": ctypes.c_int, "int64_t": ctypes.c_int64,
           "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "float": ctypes.c_float, "double": ctypes.c_double,
           "char": ctypes.c_char}  # fmt: skip
CLASSES = {"kiln_status": "Status", "kiln_epilogue_step": "EpilogueStep", "kiln_descriptor": "Descriptor",
           "kiln_tensor": "Tensor", "kiln_parallel": "Parallel", "kiln_arguments": "Arguments",
           "kiln_kernel_info": "KernelInfo", "kiln_package": "PackageTable",
           "kiln_port": "Port", "kiln_network_variant": "NetworkVariant", "kiln_network_info": "NetworkInfo",
           "kiln_weights": "Weights", "kiln_bound_network": "BoundNetwork",
           "kiln_network_arguments": "NetworkArguments", "kiln_observer": "Observer", "kiln_network": "NetworkTable"}  # fmt: skip
# kiln.h only ever adds to it, at its end, and a package says how long it is.
PREFIXES = {"kiln_package"}


def declared(statement):
    """(name, ctypes type) of each field that a statement of a structure declares."""
    function = re.search(r"\(\*(\w+)\)", statement)
    if function:
        return [(function[1], ctypes.c_void_p)]
    kind, first = re.fullmatch(r"(?:const )?(\w+) (.*)", statement).groups()
    fields = []
    for declarator in first.split(","):
        pointer, name, count = re.fullmatch(r"((?:\*(?:const )?)*)(\w+)(?:\[(\w+)\])?", declarator.strip()).groups()
        field = ctypes.c_void_p if pointer else SCALARS[kind] if kind in SCALARS else structure(kind)
        if count:
            field = field * (CONSTANTS[count] if count in CONSTANTS else int(count))
        fields.append((name, field))
    return fields


def structure(name):
    body = re.search(rf"struct {name} {{(.*?)\n}}", HEADER, re.DOTALL)[1]
    statements = [" ".join(s.split()) for s in body.split(";")]
    fields = [field for s in statements if s for field in declared(s)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def places(fields, of):
    return [(name, getattr(of, name).offset, getattr(of, name).size) for name, *_ in fields]


def check_descriptor():
    """What normalize() relies on: no padding between fields, and each list with an entry a dimension named."""
    descriptor = structure("kiln_descriptor")
    source = (ROOT / "runtime/descriptor.cpp").read_text()
    end = 0
    for name, offset, size in places(descriptor._fields_, descriptor):
        if offset != end:
            yield f"kiln_descriptor: {offset - end} bytes of padding before {name}"
        end = offset + size
    if end != ctypes.sizeof(descriptor):
        yield "kiln_descriptor: padding at its end"
    lists = [name for name, kind in descriptor._fields_ if kind == ctypes.c_int64 * CONSTANTS["KILN_MAX_SPATIAL_RANK"]]
    yield from (
        f"{name}: a list of kiln_descriptor that runtime/descriptor.cpp does not name"
        for name in lists
        if f"&kiln_descriptor::{name}," not in source
    )


def main():
    sys.modules.setdefault("numpy", types.ModuleType("numpy"))  # not needed here
    sys.path.insert(0, str(ROOT / "examples"))
    import kiln_package

    problems = list(check_descriptor())
    for name, python_name in CLASSES.items():
        in_c, in_python = structure(name), getattr(kiln_package, python_name)
        expected, got = places(in_c._fields_, in_c), places(in_python._fields_, in_python)
        if name in PREFIXES:
            expected = expected[: len(got)]
        for a, b in zip(expected + [None] * len(got), got + [None] * len(expected)):
            if a != b:
                problems.append(f"{python_name}: kiln.h has {a}, kiln_package.py has {b} (name, offset, bytes)")
                break
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
