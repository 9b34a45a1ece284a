"""Quantizes a model of f32 with onnxruntime's tools: QDQ, u8 activations, i8 weights with a scale for each output channel, calibrated with
seeded random inputs. It needs onnx and onnxruntime.
usage: quantize.py MODEL.onnx QUANTIZED.onnx"""

import pathlib
import sys
import tempfile

import numpy
import onnx
import onnx.version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quant_pre_process, quantize_static

BATCHES = 4


class RandomInputs(CalibrationDataReader):
    def __init__(self, model: onnx.ModelProto):
        random = numpy.random.default_rng(0)
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in constants]
        shapes = {value.name: [d.dim_value or 1 for d in value.type.tensor_type.shape.dim] for value in inputs}
        self.batches = iter(
            [
                {name: random.uniform(-1, 1, shape).astype("f4") for name, shape in shapes.items()}
                for _ in range(BATCHES)
            ]
        )

    def get_next(self):
        return next(self.batches, None)


def main() -> None:
    source, target = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        prepared = str(pathlib.Path(folder) / "prepared.onnx")
        model = onnx.version_converter.convert_version(onnx.load(source), 13)
        # Weights that are inputs, too, would be calibrated.
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in constants]
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        onnx.save(model, prepared)
        quant_pre_process(prepared, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared,
            target,
            RandomInputs(onnx.load(prepared)),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    main()
