#include "check/conformance_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "check/case_tensors.h"
#include "check/convolution_case.h"
#include "check/movement_case.h"
#include "check/network_case.h"
#include "check/quantized_case.h"
#include "check/suite_file.h"
#include "json/json_fields.h"

namespace kiln {
namespace {

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
        return map_quantized_convolution(op == "depthwise_conv_int8", attributes, tensors, result);
    }
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
    JsonFields attributes = fields.object("attrs");
    result.tolerance = parse_tolerance(fields.object("tolerance"));
    if (op == "onnx_graph") result.network = parse_network_case(fields, folder);
    if (problem) return bad_input(*problem);
    if (result.network) return result;

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
