#include "check/conformance_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "check/conformance_case.h"
#include "check/npy.h"
#include "json/file_text.h"
#include "json/json_fields.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/quantized/quantized_operands.h"

namespace kiln {
namespace {

constexpr int deepest_level = 64;  // a manifest has 7
constexpr int64_t most_manifest_bytes = int64_t(64) << 20;

Result<Tensor> read_tensor(const SuiteTensor &from) {
    auto array = read_npy(from.path);
    if (!array) return array.error();
    if (array->shape != from.shape) {
        return bad_input(fmt::format("{}: has shape ({}), but the manifest says ({})", from.path,
                                     fmt::join(array->shape, ", "), fmt::join(from.shape, ", ")));
    }
    return to_tensor(std::move(*array), from.dtype, from.path);
}

Status read_into(const std::optional<SuiteTensor> &from, Tensor *to) {
    if (!from) return {};
    auto tensor = read_tensor(*from);
    if (!tensor) return tensor.error();
    *to = std::move(*tensor);
    return {};
}

Tensor tensor_of(const std::vector<int32_t> &numbers) {
    Tensor tensor{DType::i32, {static_cast<int64_t>(numbers.size())}, {}};
    const auto bytes = std::as_bytes(std::span(numbers));
    tensor.data.assign(bytes.begin(), bytes.end());
    return tensor;
}

// O, spatial, I to spatial, I, O.
Tensor with_outputs_last(const Tensor &from) {
    Tensor to = from;
    std::rotate(to.shape.begin(), to.shape.begin() + 1, to.shape.end());
    const int64_t outputs = from.shape.front(), rest = from.elements() / std::max<int64_t>(1, outputs);
    const auto size = static_cast<int64_t>(size_of(from.dtype));
    for (int64_t o = 0; o < outputs; o++) {
        for (int64_t i = 0; i < rest; i++)
            std::copy_n(&from.data[(o * rest + i) * size], size, &to.data[(i * outputs + o) * size]);
    }
    return to;
}

}  // namespace

Result<ConformanceSuite> parse_conformance_suite(std::string_view text, const std::string &path) {
    const Result<Json> manifest = parse_json(text, deepest_level);
    if (!manifest) return bad_input(path + ": " + manifest.error().message);
    FieldProblem problem;
    JsonFields fields(*manifest, path + ": ", &problem);
    ConformanceSuite suite{.name = fields.get<std::string>("suite")};
    if (fields.get<int64_t>("format") != 1) fields.fail("format", "only format 1 of conformance manifests is known");
    const Json &cases = fields.list("cases");
    if (problem) return bad_input(*problem);

    const std::string folder = std::filesystem::path(path).parent_path().string();
    std::set<std::string> ids;
    for (const Json &object : cases) {
        auto c = parse_conformance_case(object, folder.empty() ? "." : folder, path);
        if (!c) return c.error();
        if (!ids.insert(c->id).second) return bad_input(fmt::format("{}: case `{}`: id: used twice", path, c->id));
        suite.cases.push_back(std::move(*c));
    }
    return suite;
}

Result<ConformanceSuite> read_conformance_suite(const std::string &path) {
    const Result<std::string> text = read_file_text(path, most_manifest_bytes, FileKind::any_stream);
    return text ? parse_conformance_suite(*text, path) : text.error();
}

Result<Operands> read_operands(const ConformanceCase &c) {
    Operands operands;
    if (Status s = read_into(c.first, &operands.first); !s) return s.error();
    if (Status s = read_into(c.second, &operands.second); !s) return s.error();
    if (Status s = read_into(c.bias, &operands.bias); !s) return s.error();
    if (c.outputs_first) operands.second = with_outputs_last(operands.second);
    for (const auto &[role, from] : c.others) {
        if (Status s = read_into(from, &(operands.*place_of(role))); !s) return s.error();
    }
    for (const auto &[role, numbers] : c.numbers) operands.*place_of(role) = tensor_of(numbers);
    if (!is_quantized(*c.workload)) return operands;
    if (Status s = check_quantized_values(*c.workload, operands); !s)
        return bad_input(fmt::format("case `{}`: {}", c.id, s.error().message));
    return operands;
}

Result<Tensor> read_expected(const ConformanceCase &c) { return read_tensor(c.expected); }

}  // namespace kiln
