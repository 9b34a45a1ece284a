#include "cli/network/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "text/quoted_text.h"

namespace kiln {
namespace {

using network::Port;

constexpr size_t longest_file_name = 255;  // of Linux, in bytes

std::string tuple(const std::vector<int64_t> &shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

// What NumPy calls the type of a port, for a line of Python.
std::string_view numpy_name(scalar::Element type) {
    switch (type) {
        case scalar::Element::f32:
            return "float32";
        case scalar::Element::f64:
            return "float64";
        case scalar::Element::f16:
            return "float16";
        case scalar::Element::bf16:
        case scalar::Element::u16:
            return "uint16";
        case scalar::Element::i8:
            return "int8";
        case scalar::Element::u8:
            return "uint8";
        case scalar::Element::i16:
            return "int16";
        case scalar::Element::i32:
            return "int32";
        case scalar::Element::u32:
            return "uint32";
        case scalar::Element::i64:
            return "int64";
        case scalar::Element::u64:
            return "uint64";
        case scalar::Element::boolean:
            return "bool";
    }
    return "float32";
}

std::string form_text(const Port &port) {
    return fmt::format("{} {}", numpy_name(port.form.type), tuple(port.form.shape));
}

class InputReader {
public:
    explicit InputReader(const std::vector<Port> &inputs) : inputs_(inputs), arrays_(inputs.size()) {}

    void read(const std::string &text);
    Result<std::vector<NpyArray>> finish();

private:
    void complain(const std::string &problem) { problems_ += (problems_.empty() ? "" : "\n") + problem; }
    std::string names() const;
    std::optional<size_t> named_input(const std::string &text) const;
    void read_file(size_t input, const std::string &path);

    const std::vector<Port> &inputs_;
    std::vector<std::optional<NpyArray>> arrays_;
    std::set<size_t> named_;  // inputs with a file, readable or not
    std::string problems_;
};

std::string InputReader::names() const {
    std::vector<std::string> names;
    for (const Port &port : inputs_) names.push_back(fmt::format("`{}`", quoted_line(port.name)));
    return fmt::format("{}", fmt::join(names, ", "));
}

// The one whose name and a `=` begin the text; names may have a `=` in them, so the longest one counts.
std::optional<size_t> InputReader::named_input(const std::string &text) const {
    std::optional<size_t> found;
    for (size_t i = 0; i < inputs_.size(); i++) {
        if (!text.starts_with(inputs_[i].name + "=")) continue;
        if (!found || inputs_[i].name.size() > inputs_[*found].name.size()) found = i;
    }
    return found;
}

void InputReader::read(const std::string &text) {
    if (const auto input = named_input(text)) return read_file(*input, text.substr(inputs_[*input].name.size() + 1));
    if (inputs_.empty())
        return complain(fmt::format("--input {}: the network has no inputs; leave it out", quoted_line(text)));
    const size_t end = text.find('=');
    // With one input a path may have a `=` in it, or somebody wrote another name before it.
    if (inputs_.size() == 1 && (end == std::string::npos || read_npy(text))) return read_file(0, text);
    if (end == std::string::npos) {
        return complain(fmt::format("--input {}: of which input? Write NAME={}; the inputs are {}", quoted_line(text),
                                    quoted_line(text), names()));
    }
    complain(fmt::format("--input {}: `{}` is no input of the network; its inputs are {}", quoted_line(text),
                         quoted_line(text.substr(0, end)), names()));
}

void InputReader::read_file(size_t input, const std::string &path) {
    const Port &port = inputs_[input];
    const std::string name = quoted_line(port.name);
    if (!named_.insert(input).second) return complain(fmt::format("--input: `{}` has two files; leave one", name));
    if (path.empty()) {
        return complain(
            fmt::format("--input: `{}` has an empty path; write {}=FILE.npy, with {}", name, name, form_text(port)));
    }
    Result<NpyArray> array = read_npy(path);
    if (!array) return complain(quoted_line(array.error().message));
    const bool has_type = array->descr == npy_descr(port.form.type);
    const bool has_shape = array->shape == port.form.shape;
    if (!has_type) {
        complain(fmt::format("{}: has elements `{}`, but input `{}` is {}; save it with .astype(\"{}\")",
                             quoted_line(path), array->descr, name, form_text(port), numpy_name(port.form.type)));
    }
    if (!has_shape) {
        complain(fmt::format(
            "{}: has shape {}, but input `{}` is {}; change the array, or the network with --shape where the "
            "model leaves extents open",
            quoted_line(path), tuple(array->shape), name, form_text(port)));
    }
    if (has_type && has_shape) arrays_[input] = std::move(*array);
}

Result<std::vector<NpyArray>> InputReader::finish() {
    for (size_t i = 0; i < inputs_.size(); i++) {
        if (named_.contains(i)) continue;
        const std::string name = quoted_line(inputs_[i].name);
        complain(
            fmt::format("input `{}` has no file; add --input {}=FILE.npy with {}", name, name, form_text(inputs_[i])));
    }
    if (!problems_.empty()) return bad_input(problems_);
    std::vector<NpyArray> arrays;
    for (std::optional<NpyArray> &array : arrays_) arrays.push_back(std::move(*array));
    return arrays;
}

std::string plain_file_name(const std::string &name) {
    std::string plain = name;
    for (char &c : plain) {
        if (c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '_';
    }
    return plain;
}

std::string file_name(const std::string &plain, int number) {
    const std::string end = number == 1 ? ".npy" : fmt::format("_{}.npy", number);
    return plain.substr(0, longest_file_name - end.size()) + end;
}

}  // namespace

Result<std::vector<NpyArray>> read_inputs(const std::vector<Port> &inputs, const std::vector<std::string> &files) {
    InputReader reader(inputs);
    for (const std::string &file : files) reader.read(file);
    return reader.finish();
}

std::vector<std::string> output_file_names(const std::vector<Port> &outputs) {
    std::vector<std::string> names(outputs.size());
    std::set<std::string> taken;
    // First those that can keep their names.
    for (const bool keeps : {true, false}) {
        for (size_t i = 0; i < outputs.size(); i++) {
            const std::string plain = plain_file_name(outputs[i].name);
            if (!names[i].empty() || keeps != (plain == outputs[i].name)) continue;
            for (int number = 1; names[i].empty(); number++) {
                if (taken.insert(file_name(plain, number)).second) names[i] = file_name(plain, number);
            }
        }
    }
    return names;
}

}  // namespace kiln
