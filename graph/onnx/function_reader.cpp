#include "graph/onnx/function_reader.h"

#include <utility>

#include "graph/onnx/attribute_reader.h"
#include "graph/onnx/file/wire.h"
#include "graph/onnx/graph_reader.h"
#include "graph/onnx/name_checks.h"
#include "graph/onnx/opset_reader.h"

namespace kiln::graph::onnx {

namespace {

Status add_name(Field &field, std::vector<ValueInfo> *values, Reading &reading) {
    const Status status = take_name(field, values->emplace_back().name);
    return status ? count_entry(reading) : status;
}

Status add_default(std::string_view message, std::vector<Attribute> *defaults, Reading &reading) {
    Result<Attribute> attribute = read_attribute(message, reading);
    if (!attribute) {
        return attribute.error();
    }
    defaults->push_back(std::move(*attribute));
    return count_entry(reading);
}

struct Named {
    std::string domain, name, overload;
    Function function;
};

Status read_fields(std::string_view message, Named *named, Reading &reading) {
    Function &function = named->function;
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return take_name(field, named->name);
            case bytes(4):
                return add_name(field, &function.body.inputs, reading);
            case bytes(5):
                return add_name(field, &function.body.outputs, reading);
            case bytes(7):
                return add_node(take_bytes(field), function.body, reading);
            case bytes(9): {
                const Status counted = count_entry(reading);
                return counted ? read_opset(take_bytes(field), &function.opsets) : counted;
            }
            case bytes(10):
                return take_name(field, named->domain);
            case bytes(11):
                return add_default(take_bytes(field), &function.defaults, reading);
            case bytes(13):
                return take_name(field, named->overload);
            default:
                field.skip();
                return {};
        }
    });
}

}  // namespace

Status read_function(std::string_view message, Functions *functions, Reading &reading) {
    Named named;
    Status status = read_fields(message, &named, reading);
    if (status) {
        status = order_nodes(named.function.body, Surroundings::none);
    }
    const std::string label = "function " + shown(named.name);
    if (!status) {
        return within(label, status.error());
    }
    if (named.domain == "ai.onnx") {
        named.domain.clear();
    }
    FunctionName name{std::move(named.domain), std::move(named.name), std::move(named.overload)};
    if (!functions->emplace(std::move(name), std::move(named.function)).second) {
        return bad_input("there are two of the " + label);
    }
    return {};
}

}  // namespace kiln::graph::onnx
