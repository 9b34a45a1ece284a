#include "check/conformance_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "check/case_tensors.h"
#include "check/convolution_case.h"
#include "check/movement_case.h"
#include "json/json_fields.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

FieldProblem read_shape(const Json &value, Shape *shape) {
    if (FieldProblem problem = read_value(value, shape)) return problem;
    for (const int64_t extent : *shape) {
        if (extent < 0 || extent > std::numeric_limits<int32_t>::max()) {
            return expected("extents from 0 to 2147483647", value);
        }
    }
    return {};
}

// A suite may name its own files only: a stranger's suite must not choose which files are read. Links are judged at their
// end. Null if the file is fine.
const char *problem_of_file(const std::string &folder, const std::string &path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return "does not exist, or is no regular file";
    const fs::path own = fs::canonical(folder, error), file = fs::canonical(path, error);
    if (error) return "cannot be found";
    const auto [end, ignored] = std::mismatch(own.begin(), own.end(), file.begin(), file.end());
    return end == own.end() ? nullptr : "lies outside of the suite's folder; copy it there";
}

CaseTensor read_tensor(JsonFields fields, const std::string &folder) {
    CaseTensor read{.tensor = {.path = folder + "/" + fields.get<std::string>("file"),
                               .shape = fields.get<Shape>("shape", read_shape)},
                    .dtype = fields.get<std::string>("dtype")};
    if (!fields.ok()) return read;
    if (const char *problem = problem_of_file(folder, read.tensor.path)) {
        fields.fail("file", fmt::format("{} {}", read.tensor.path, problem));
    }
    if (const auto dtype = parse_suite_dtype(read.dtype)) read.tensor.dtype = *dtype;
    return read;
}

// All tensors of a case. A missing file is found now, not after an hour of building.
std::map<std::string, CaseTensor> read_tensors(JsonFields &fields, const std::string &folder) {
    std::map<std::string, CaseTensor> tensors;
    JsonFields of_case = fields.object("tensors");
    for (const std::string &name : of_case.names()) {
        tensors.emplace(name, read_tensor(of_case.object(name), folder));
    }
    return tensors;
}

Mapped map_case(std::string_view op, JsonFields &attributes, CaseTensors tensors, ConformanceCase *result) {
    const auto convolution = [&](Operation of) { return map_convolution(of, attributes, tensors, result); };
    const auto movement = [&](Operation of) { return map_movement(of, attributes, tensors, result); };
    if (op == "conv_fwd" || op == "conv_fwd_epilogue") return convolution(Operation::conv);
    // The case asks for the plain convolution. The algorithm chooses the block through which it computes.
    if (op == "conv_fwd_space_to_depth") return convolution(Operation::conv);
    if (op == "conv_bwd_input") return convolution(Operation::conv_backprop_input);
    if (op == "conv_bwd_kernel") return convolution(Operation::conv_backprop_kernel);
    if (op == "space_to_depth") return movement(Operation::space_to_depth);
    if (op == "depth_to_space") return movement(Operation::depth_to_space);
    if (op == "layout_transform") return movement(Operation::layout_transform);
    if (op == "conv_int8" || op == "depthwise_conv_int8") {
        return Unmapped{"int8 needs the epilogue step `requantize`, which workloads do not have yet"};
    }
    if (op == "onnx_graph") return Unmapped{"a graph of layers; kiln compiles single workloads"};
    return Unmapped{fmt::format("operation `{}` is not known", op)};
}

}  // namespace

Result<ConformanceCase> parse_conformance_case(const Json &object, const std::string &folder,
                                               const std::string &manifest) {
    std::string where = manifest + ": case";
    if (object.is_object() && object.contains("id") && object["id"].is_string()) {
        where += fmt::format(" `{}`", object["id"].get<std::string>());
    }
    FieldProblem problem;
    JsonFields fields(object, where + ": ", &problem);
    ConformanceCase result;
    result.id = fields.get<std::string>("id");
    const auto op = fields.get<std::string>("op");
    const auto tags = fields.get_or<std::vector<std::string>>("tags", {});
    const auto tensors = read_tensors(fields, folder);
    JsonFields tolerance = fields.object("tolerance"), attributes = fields.object("attrs");
    const bool is_exact = tolerance.get<std::string>("kind") == "exact";
    result.tolerance.value = is_exact ? 0 : tolerance.get<double>("value_floored");
    if (problem) return bad_input(*problem);

    const Mapped unmapped = map_case(op, attributes, CaseTensors(attributes, tensors), &result);
    if (problem) return bad_input(*problem);
    const auto tagged = [&](std::string_view tag) { return std::ranges::find(tags, tag) != tags.end(); };
    result.judged = !tagged("padding_nan_ambiguous");
    if (unmapped) result.reason = unmapped->reason;
    if (result.workload && result.judged && tagged("special_values")) {
        result.workload->special_values = SpecialValues::exact;
    }
    return result;
}

}  // namespace kiln
