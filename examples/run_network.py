"""A network of `kiln build --network` from Python: binds its weights and runs it on an array, with one thread and with two.

    python3 run_network.py dist/lib/libNAME.so x.npy
"""

import pathlib
import sys

import numpy
from kiln_package import KilnError, Network, Package, Pool


def main(library, *files):
    package = Package(library)
    weights = pathlib.Path(library).with_name(pathlib.Path(library).stem.removeprefix("lib") + ".weights")
    network = Network(package, weights if weights.exists() else None)
    inputs = [numpy.load(file) for file in files]
    outputs = network.run(*inputs)
    for port, values in zip(network.outputs, outputs):
        print(port.name.decode(), values.dtype, values.shape, values.ravel()[:4])
    with Pool(package, 2) as pool:
        again = network.run(*inputs, pool=pool)
    same = all(numpy.array_equal(a.view(numpy.uint8), b.view(numpy.uint8)) for a, b in zip(outputs, again))
    print("one thread and two agree" if same else "one thread and two DIFFER")
    return 0 if same else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: run_network.py LIBRARY.so INPUT.npy...")
    try:
        sys.exit(main(*sys.argv[1:]))
    except (KilnError, OSError, ValueError, AttributeError) as error:
        sys.exit(f"run_network.py: {error}")
