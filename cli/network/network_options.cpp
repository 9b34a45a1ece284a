#include "cli/network/network_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
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

Result<std::vector<graph::InputShape>> parse_shapes(const std::vector<std::string> &texts) {
    std::vector<graph::InputShape> shapes;
    for (const std::string &text : texts) {
        Result<graph::InputShape> shape = parse_input_shape(text);
        if (!shape) return shape.error();
        const auto has_name = [&](const graph::InputShape &other) { return other.name == shape->name; };
        if (std::ranges::any_of(shapes, has_name)) {
            return usage_error(fmt::format("--shape: `{}` has two shapes; leave one", quoted_line(shape->name)));
        }
        shapes.push_back(std::move(*shape));
    }
    return shapes;
}

}  // namespace

void add_model_options(CLI::App &command, NetworkOptions &options) {
    command
        .add_option("--shape", options.shapes,
                    "The shape of an input that the model leaves open, e.g. x=1x3x480x480; once for each input")
        ->allow_extra_args(false)
        ->type_name("NAME=SHAPE");
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

Result<graph::Graph> read(const NetworkOptions &options) {
    const Result<std::vector<graph::InputShape>> shapes = parse_shapes(options.shapes);
    if (!shapes) return shapes.error();
    Result<graph::onnx::Model> model = graph::onnx::read_model(options.file);
    if (!model) return model.error();
    if (Status s = choose_outputs(options.outputs, &*model); !s) {
        return Error{s.error().code, fmt::format("{}: {}", quoted_line(options.file), s.error().message)};
    }
    Result<graph::Graph> graph = graph::lower(*model, *shapes);
    if (!graph)
        return Error{graph.error().code, fmt::format("{}: {}", quoted_line(options.file), graph.error().message)};
    if (options.batch == 1) return graph;
    Result<graph::Graph> batched = graph::with_batch(*graph, options.batch);
    if (batched) return batched;
    return Error{batched.error().code, fmt::format("{}: --batch {}: {}; leave out --batch", quoted_line(options.file),
                                                   options.batch, batched.error().message)};
}

}  // namespace kiln
