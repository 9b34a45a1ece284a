"""One layer of ResNet-50 from Python: find its kernel by a descriptor, pack the weights, run it on one and two threads,
and check all of its numbers against the definition. The layer is res2a_branch2b of workloads/resnet50.json: 3x3, 64 to
64 channels, on 56 x 56 pixels.

    python3 one_layer.py dist/lib/libNAME.so
"""

import sys

import numpy
from kiln_package import CONV, Descriptor, KilnError, Layer, Package, Pool

SIZE, CHANNELS, TAPS = 56, 64, 3
LAYER = "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1"  # as kiln writes it, for a message


def definition(x, k):
    """y[h, w, co] = sum over kh, kw, ci of x[h + kh - 1, w + kw - 1, ci] k[kh, kw, ci, co], x padded with zeros."""
    padded = numpy.pad(x[0].astype(numpy.float64), ((1, 1), (1, 1), (0, 0)))
    y = numpy.zeros((1, SIZE, SIZE, CHANNELS))
    for kh in range(TAPS):
        for kw in range(TAPS):
            y[0] += padded[kh : kh + SIZE, kw : kw + SIZE] @ k[kh, kw].astype(numpy.float64)
    return y


def main(library):
    package = Package(library)
    descriptor = Descriptor(CONV, 2, batch=1, spatial=(SIZE, SIZE), channels=CHANNELS, kernel=(TAPS, TAPS),
                            output_channels=CHANNELS, padding_lo=(1, 1), padding_hi=(1, 1))  # fmt: skip
    try:
        kernel = package.find(descriptor)
    except KilnError as error:
        sys.exit(f"one_layer.py: {LAYER}: {error}")
    print(kernel.info.key.decode(), "tuned" if kernel.info.tuned else "untuned", sep="\n")

    random = numpy.random.default_rng(1)
    x = random.uniform(-0.5, 0.5, (1, SIZE, SIZE, CHANNELS)).astype(numpy.float32)
    k = random.uniform(-0.5, 0.5, (TAPS, TAPS, CHANNELS, CHANNELS)).astype(numpy.float32)
    wanted, worst = definition(x, k), 0
    with Pool(package, 2) as two_threads:
        for pool in (None, two_threads):
            layer = Layer(kernel, pool)
            layer.pack(k)
            y = layer.run(x, output=numpy.full(wanted.shape, numpy.nan, numpy.float32))
            worst = max(worst, numpy.abs(y - wanted).max())
    print(f"largest error {worst:.1e}: {'ok' if worst < 1e-4 else 'WRONG'}")
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: one_layer.py LIBRARY.so")
    try:
        sys.exit(main(sys.argv[1]))
    except (KilnError, OSError, AttributeError) as error:
        sys.exit(f"one_layer.py: {error}")
