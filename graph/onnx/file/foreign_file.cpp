#include "graph/onnx/file/foreign_file.h"

#include <algorithm>
#include <string_view>

namespace kiln::graph::onnx {

namespace {

using namespace std::literals;

struct Signature {
    size_t offset;
    std::string_view bytes;
    std::string_view meaning;
};

constexpr Signature signatures[] = {
    {0, "version https://git-lfs"sv,
     "it is a Git LFS pointer, which stands for the model: run `git lfs pull` where it lies"},
    {0, "PK\x03\x04"sv,
     "it is a zip archive, as .pt, .npz and .mlpackage are: unpack it, or export the model with torch.onnx.export"},
    {0, "\x1f\x8b"sv, "it is compressed: unpack it with gunzip"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "it is compressed: unpack it with unxz"},
    {0, "\x28\xb5\x2f\xfd"sv, "it is compressed: unpack it with unzstd"},
    {257, "ustar"sv, "it is a tar archive: unpack it"},
    {4, "TFL3"sv,
     "it is a TensorFlow Lite model: convert it with `python -m tf2onnx.convert --tflite FILE --output m.onnx`"},
    {4, "ORTM"sv, "it is a model in ONNX Runtime's own format: take the ONNX model that it was made from"},
    {0, "\x89HDF"sv, "it is an HDF5 file, as of Keras: convert it with tf2onnx"},
    {0, "\x80\x02"sv, "it is a Python pickle, as of PyTorch: export the model with torch.onnx.export"},
    {0, "\x80\x04"sv, "it is a Python pickle: export the model with torch.onnx.export"},
    {0, "GGUF"sv, "it is a GGUF file, which has weights only"},
    {0, "\x93NUMPY"sv, "it is a NumPy array"},
    {0,
     "\x7f"
     "ELF"sv,
     "it is a program or a library"},
    {0, "<?xml"sv, "it is XML, as of OpenVINO: take the ONNX model that it was made from"},
    {0, "<!DOCTYPE"sv, "it is a web page: the download went wrong"},
    {0, "<!doctype"sv, "it is a web page: the download went wrong"},
    {0, "<html"sv, "it is a web page: the download went wrong"},
    {0, "ir_version:"sv, "it is a model in protobuf's text format: save it in the binary one with onnx.save"},
    {0, "<\n"sv, "it is text, perhaps a model in ONNX's text format: save it in the binary one with onnx.save"},
    {8, "{\""sv, "it is a safetensors file, which has weights only"},
    {0, "{"sv, "it is text, perhaps JSON"},
};

bool is_text(std::string_view begin) {
    return std::all_of(begin.begin(), begin.end(),
                       [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\r' || c == '\t'; });
}

}  // namespace

std::string foreign_file(std::span<const std::byte> bytes) {
    const std::string_view begin(reinterpret_cast<const char *>(bytes.data()), std::min<size_t>(bytes.size(), 512));
    if (begin.empty()) {
        return "it is empty";
    }
    for (const Signature &signature : signatures) {
        if (begin.size() > signature.offset && begin.substr(signature.offset).starts_with(signature.bytes)) {
            return std::string(signature.meaning);
        }
    }
    if (is_text(begin)) {
        return "it is text";
    }
    // GraphDef and SavedModel begin with a node and a version; an ONNX model begins with its IR version.
    return begin[0] == '\n' ? "it may be a TensorFlow graph (.pb): convert it with tf2onnx" : "";
}

}  // namespace kiln::graph::onnx
