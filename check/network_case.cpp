#include "check/network_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "check/suite_file.h"
#include "json/json_fields.h"

namespace kiln {
namespace {

std::optional<scalar::Element> parse_suite_element(std::string_view text) {
    constexpr std::pair<std::string_view, scalar::Element> names[] = {
        {"float32", scalar::Element::f32},   {"float64", scalar::Element::f64}, {"float16", scalar::Element::f16},
        {"bfloat16", scalar::Element::bf16}, {"int8", scalar::Element::i8},     {"uint8", scalar::Element::u8},
        {"int16", scalar::Element::i16},     {"uint16", scalar::Element::u16},  {"int32", scalar::Element::i32},
        {"uint32", scalar::Element::u32},    {"int64", scalar::Element::i64},   {"uint64", scalar::Element::u64},
        {"bool", scalar::Element::boolean},
    };
    for (const auto &[name, type] : names) {
        if (name == text) return type;
    }
    return {};
}

// What a tensor of a network is for. The others are values inside the network, and what other implementations compute.
constexpr std::string_view input_role = "input", expected_role = "expected";
constexpr std::string_view other_roles[] = {"quantization", "alternative", "intermediate"};

std::string parse_role(JsonFields *tensor) {
    auto role = tensor->get<std::string>("role");
    const bool is_known = role == input_role || role == expected_role || std::ranges::count(other_roles, role) > 0;
    if (tensor->ok() && !is_known) {
        tensor->fail("role", fmt::format("`{}` is unknown; there are {}, {}, {}", role, input_role, expected_role,
                                         fmt::join(other_roles, ", ")));
    }
    return role;
}

NetworkTensor parse_tensor(JsonFields fields, const std::string &name, const std::string &folder) {
    NetworkTensor tensor{.name = name,
                         .path = folder + "/" + fields.get<std::string>("file"),
                         .shape = fields.get<std::vector<int64_t>>("shape", read_shape)};
    const auto type = parse_suite_element(fields.get<std::string>("dtype"));
    if (fields.ok() && !type) fields.fail("dtype", "is no type of elements; float32, int64 and the like are");
    if (type) tensor.type = *type;
    if (fields.has("tolerance")) tensor.tolerance = parse_tolerance(fields.object("tolerance"));
    return tensor;
}

}  // namespace

Tolerance parse_tolerance(JsonFields fields) {
    constexpr std::string_view relative_kinds[] = {"relative_or_absolute", "seed"};
    const auto kind = fields.get<std::string>("kind");
    if (kind == "exact") return {};
    const bool is_absolute = kind == "quanta";
    if (fields.ok() && !is_absolute && std::ranges::count(relative_kinds, kind) == 0) {
        fields.fail("kind",
                    fmt::format("`{}` is unknown; there are exact, quanta, {}", kind, fmt::join(relative_kinds, ", ")));
    }
    const auto value = fields.get<double>("value_floored");
    return {.value = value, .is_absolute = is_absolute};
}

NetworkCase parse_network_case(JsonFields &fields, const std::string &folder) {
    NetworkCase result;
    result.model = folder + "/" + fields.get<std::string>("model");
    if (fields.ok()) {
        if (const char *problem = problem_of_file(folder, result.model)) {
            fields.fail("model", fmt::format("{} {}", result.model, problem));
        }
    }
    JsonFields attributes = fields.object("attrs");
    if (attributes.has("input_shapes")) {
        JsonFields shapes = attributes.object("input_shapes");
        for (const std::string &name : shapes.names()) {
            result.input_shapes[name] = shapes.get<std::vector<int64_t>>(name, read_shape);
        }
    }
    const Tolerance of_case = parse_tolerance(fields.object("tolerance"));
    JsonFields tensors = fields.object("tensors");
    for (const std::string &name : tensors.names()) {
        JsonFields tensor = tensors.object(name);
        const std::string role = parse_role(&tensor);
        if (role != input_role && role != expected_role) continue;
        const bool has_own = tensor.has("tolerance");
        NetworkTensor parsed = parse_tensor(std::move(tensor), name, folder);
        if (!has_own) parsed.tolerance = of_case;
        (role == input_role ? result.inputs : result.expected).push_back(std::move(parsed));
    }
    if (fields.ok() && result.expected.empty())
        fields.fail("tensors", fmt::format("none has the role `{}`, so nothing would be compared", expected_role));
    return result;
}

}  // namespace kiln
