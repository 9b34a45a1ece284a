#include "check/conformance_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "check/conformance_case.h"
#include "check/conformance_fields.h"
#include "check/npy.h"

namespace kiln {
namespace {

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

}  // namespace

Result<ConformanceSuite> read_conformance_suite(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) return bad_input(path + ": cannot be read");
    const nlohmann::json manifest = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (manifest.is_discarded()) return bad_input(path + ": is not JSON");
    ConformanceFields fields(manifest, path);
    ConformanceSuite suite{.name = fields.text("suite")};
    if (fields.integer("format") != 1) fields.fail("format", "only format 1 of conformance manifests is known");
    if (!manifest.contains("cases") || !manifest["cases"].is_array()) fields.fail("cases", "must be a list");
    if (!fields.status()) return fields.status().error();

    const std::string folder = std::filesystem::path(path).parent_path().string();
    std::set<std::string> ids;
    for (const auto &object : manifest["cases"]) {
        auto c = parse_conformance_case(object, folder.empty() ? "." : folder, path);
        if (!c) return c.error();
        if (!ids.insert(c->id).second) return bad_input(fmt::format("{}: case `{}`: id: used twice", path, c->id));
        suite.cases.push_back(std::move(*c));
    }
    return suite;
}

Result<Operands> read_operands(const ConformanceCase &c) {
    Operands operands;
    if (Status s = read_into(c.first, &operands.first); !s) return s.error();
    if (Status s = read_into(c.second, &operands.second); !s) return s.error();
    if (Status s = read_into(c.bias, &operands.bias); !s) return s.error();
    return operands;
}

Result<Tensor> read_expected(const ConformanceCase &c) { return read_tensor(c.expected); }

}  // namespace kiln
