#include "cli/network/network_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "graph/batch/with_batch.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

constexpr int64_t most_images = 1 << 16;

bool parse_extent(std::string_view text, int64_t *extent) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *extent);
    return error == std::errc() && end == text.data() + text.size() && *extent >= 0 && !text.starts_with('-');
}

// What the texts of an option state, one input each.
template<typename Stated>
Status parse_all(const std::vector<std::string> &texts, Result<Stated> (*parse)(const std::string &),
                 std::string_view option, std::string_view what, std::vector<Stated> *all) {
    for (const std::string &text : texts) {
        Result<Stated> stated = parse(text);
        if (!stated) return stated.error();
        if (std::ranges::count(*all, stated->name, &Stated::name) > 0) {
            return usage_error(fmt::format("{}: `{}` has two {}; leave one", option, quoted_line(stated->name), what));
        }
        all->push_back(std::move(*stated));
    }
    return {};
}

Result<graph::StatedInputs> stated_inputs(const NetworkOptions &options) {
    graph::StatedInputs stated;
    if (Status s = parse_all(options.shapes, parse_input_shape, "--shape", "shapes", &stated.shapes); !s)
        return s.error();
    if (Status s = parse_all(options.constants, parse_input_constant, "--constant", "values", &stated.constants); !s)
        return s.error();
    return stated;
}

}  // namespace

void add_model_options(CLI::App &command, NetworkOptions &options) {
    command
        .add_option("--shape", options.shapes,
                    "The shape of an input that the model leaves open, e.g. x=1x3x480x480; once for each input")
        ->allow_extra_args(false)
        ->type_name("NAME=SHAPE");
    command
        .add_option("--constant", options.constants,
                    "The value that an input always has, which is then no input of the network, e.g. rate=16000; once "
                    "for each input")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    command
        .add_option("--batch", options.batch,
                    "How many images the network takes at once, of a model that takes one; where it leaves their "
                    "number open, use --shape")
        ->check(CLI::Range(int64_t{1}, most_images))
        ->type_name("N");
    command
        .add_option("--outputs", options.outputs,
                    "A value of the model that the network computes in place of the model's outputs, so that it ends "
                    "there; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME");
}

void add_alterations_option(CLI::App &command, NetworkOptions &options) {
    command
        .add_option(
            "--alterations", options.alterations,
            "A shared library of alterations of your own for the network, see docs/networks.md; may be repeated")
        ->allow_extra_args(false)
        ->type_name("LIB.so");
}

void add_prepare_option(CLI::App &command, NetworkOptions &options) {
    command.add_flag("--prepare-input", options.prepares_input,
                     "Of a network: leave pads, moves and element-wise work on its inputs to a function of its own, "
                     "NAME_prepare()");
}

void add_network_options(CLI::App &command, NetworkOptions &options) {
    command.add_option("--network", options.file, "An ONNX model, in place of --workloads")->type_name("M.onnx");
    add_model_options(command, options);
    add_alterations_option(command, options);
}

// Names of inputs may have any character, so the last `=` ends the name.
Result<graph::InputShape> parse_input_shape(const std::string &text) {
    const auto refuse = [&](const std::string &why) {
        return usage_error(
            fmt::format("--shape {}: {}; write NAME=1x3x480x480, or NAME=scalar", quoted_line(text), why));
    };
    const size_t end = text.rfind('=');
    if (end == std::string::npos || end == 0) return refuse("has no name and shape");
    graph::InputShape shape{.name = text.substr(0, end), .shape = {}};
    const std::string_view extents = std::string_view(text).substr(end + 1);
    if (extents == "scalar") return shape;
    for (size_t begin = 0; begin <= extents.size();) {
        const size_t next = std::min(extents.find('x', begin), extents.size());
        const std::string_view extent = extents.substr(begin, next - begin);
        if (!parse_extent(extent, &shape.shape.emplace_back())) {
            return refuse(fmt::format("`{}` is no extent", quoted_line(extent)));
        }
        begin = next + 1;
    }
    if (const Result<int64_t> count = graph::element_count(shape.shape); !count) return refuse(count.error().message);
    return shape;
}

Result<graph::InputConstant> parse_input_constant(const std::string &text) {
    const auto refuse = [&](const std::string &why) {
        return usage_error(fmt::format("--constant {}: {}; write NAME=16000, or NAME=1,2,3", quoted_line(text), why));
    };
    const size_t end = text.rfind('=');
    if (end == std::string::npos || end == 0) return refuse("has no name and value");
    graph::InputConstant constant{.name = text.substr(0, end), .elements = {}};
    const std::string_view numbers = std::string_view(text).substr(end + 1);
    for (size_t begin = 0; begin <= numbers.size();) {
        const size_t next = std::min(numbers.find(',', begin), numbers.size());
        const std::string_view number = numbers.substr(begin, next - begin);
        double &element = constant.elements.emplace_back();
        const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), element);
        if (error != std::errc() || stop != number.data() + number.size() || !std::isfinite(element)) {
            return refuse(fmt::format("`{}` is no finite number", quoted_line(number)));
        }
        begin = next + 1;
    }
    return constant;
}

Status choose_outputs(const std::vector<std::string> &names, graph::onnx::Model *model) {
    if (names.empty()) return {};
    std::set<std::string_view> values;
    for (const graph::onnx::ValueInfo &input : model->inputs) values.insert(input.name);
    for (const graph::onnx::Node &node : model->nodes) values.insert(node.outputs.begin(), node.outputs.end());
    std::vector<graph::onnx::ValueInfo> outputs;
    for (const std::string &name : names) {
        if (name.empty() || !values.contains(name)) {
            return usage_error(
                fmt::format("--outputs: no node of the model computes `{}`; `kiln explain --network` with "
                            "--pass import and --format text names the values",
                            quoted_line(name)));
        }
        if (std::ranges::count(names, name) > 1)
            return usage_error(fmt::format("--outputs: `{}` is named twice; leave one", quoted_line(name)));
        outputs.push_back({.name = name, .type = {}, .shape = {}});
    }
    model->outputs = std::move(outputs);
    return {};
}

Result<std::vector<graph::ConstantInput>> read_constants(const NetworkOptions &options) {
    const Result<graph::StatedInputs> stated = stated_inputs(options);
    if (!stated) return stated.error();
    if (stated->constants.empty()) return std::vector<graph::ConstantInput>();
    const Result<graph::onnx::Model> model = graph::onnx::read_model(options.file);
    if (!model) return model.error();
    return graph::constant_inputs(*model, *stated);
}

Result<graph::Graph> read(const NetworkOptions &options) {
    const Result<graph::StatedInputs> stated = stated_inputs(options);
    if (!stated) return stated.error();
    Result<graph::onnx::Model> model = graph::onnx::read_model(options.file);
    if (!model) return model.error();
    if (Status s = choose_outputs(options.outputs, &*model); !s) {
        return Error{s.error().code, fmt::format("{}: {}", quoted_line(options.file), s.error().message)};
    }
    Result<graph::Graph> graph = graph::lower(*model, *stated);
    if (!graph)
        return Error{graph.error().code, fmt::format("{}: {}", quoted_line(options.file), graph.error().message)};
    if (options.batch == 1) return graph;
    Result<graph::Graph> batched = graph::with_batch(*graph, options.batch);
    if (batched) return batched;
    return Error{batched.error().code, fmt::format("{}: --batch {}: {}; leave out --batch", quoted_line(options.file),
                                                   options.batch, batched.error().message)};
}

}  // namespace kiln
