#include "network/library/library_place.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace {

using namespace kiln;
using namespace kiln::network;

constexpr size_t most_fields = 64;

void complain(kiln_patch *patch, const std::string &problem) {
    if (patch->problem.empty()) patch->problem = problem;
}

const graph::Value *value_of(const kiln_graph *graph, kiln_value id) {
    const auto &values = graph->index.graph().values;
    return id < 0 || size_t(id) >= values.size() ? nullptr : &values[size_t(id)];
}

const graph::Node *node_of(const kiln_graph *graph, kiln_value id) {
    return value_of(graph, id) ? graph->index.producer(graph::ValueId(id)) : nullptr;
}

const kiln_graph::Told *told(const kiln_graph *graph, kiln_value id) {
    const graph::Node *node = node_of(graph, id);
    if (!node) return nullptr;
    const auto [found, is_new] = graph->told.try_emplace(id);
    kiln_graph::Told &told = found->second;
    if (!is_new) return &told;
    told.fields = fields_of(node->op);
    told.inputs.assign(node->inputs.begin(), node->inputs.end());
    static const double nothing = 0;
    for (const auto &[name, numbers] : told.fields.numbers) {
        told.rows.push_back({name.c_str(), numbers.empty() ? &nothing : numbers.data(), numbers.size(), nullptr});
    }
    for (const auto &[name, text] : told.fields.texts) told.rows.push_back({name.c_str(), nullptr, 0, text.c_str()});
    return &told;
}

const int64_t *shape(const kiln_graph *graph, kiln_value id, size_t *axes) {
    const graph::Value *value = value_of(graph, id);
    static const int64_t nothing = 0;
    if (axes) *axes = value ? value->form.shape.size() : 0;
    if (!value) return nullptr;
    return value->form.shape.empty() ? &nothing : value->form.shape.data();
}

const char *type(const kiln_graph *graph, kiln_value id) {
    const graph::Value *value = value_of(graph, id);
    if (!value) return nullptr;
    graph->types.emplace_back(graph::name(value->form.type));
    return graph->types.back().c_str();
}

const void *constant(const kiln_graph *graph, kiln_value id, size_t *bytes) {
    const graph::Value *value = value_of(graph, id);
    const bool is_constant = value && value->constant;
    if (bytes) *bytes = is_constant ? value->constant->bytes().size() : 0;
    static const std::byte nothing[16] = {};
    if (!is_constant) return nullptr;
    return value->constant->bytes().empty() ? nothing : value->constant->bytes().data();
}

size_t readers(const kiln_graph *graph, kiln_value id) {
    if (!value_of(graph, id)) return 0;
    size_t outputs = 0;
    for (const graph::Output &output : graph->index.graph().outputs) outputs += output.value == id;
    return graph->index.readers(graph::ValueId(id)).size() + outputs;
}

const char *operator_name(const kiln_graph *graph, kiln_value id) {
    const kiln_graph::Told *found = told(graph, id);
    return found ? found->fields.name.c_str() : nullptr;
}

const kiln_value *inputs(const kiln_graph *graph, kiln_value id, size_t *count) {
    const kiln_graph::Told *found = told(graph, id);
    if (count) *count = found ? found->inputs.size() : 0;
    return found ? found->inputs.data() : nullptr;
}

const kiln_field *fields(const kiln_graph *graph, kiln_value id, size_t *count) {
    const kiln_graph::Told *found = told(graph, id);
    if (count) *count = found ? found->rows.size() : 0;
    return found ? found->rows.data() : nullptr;
}

kiln_value make_constant(kiln_patch *patch, const char *type, const int64_t *extents, size_t axes, const void *data) {
    const auto element = type ? graph::parse_element(type) : std::nullopt;
    if (!element || (axes > 0 && !extents) || axes > graph::most_axes) {
        complain(patch, std::string("a new constant of type `") + (type ? type : "") + "`: no such type or shape");
        return -1;
    }
    const graph::TypedShape form{*element, {extents, extents + axes}};
    const auto count = graph::element_count(form.shape);
    if (!count || (*count > 0 && !data)) {
        complain(patch, "a new constant: " + (count ? std::string("it has no data") : count.error().message));
        return -1;
    }
    std::vector<std::byte> bytes(size_t(*count * graph::size_of(*element)));
    if (!bytes.empty()) std::memcpy(bytes.data(), data, bytes.size());
    return patch->patch.constant(form, graph::ConstantData(std::move(bytes)));
}

kiln_value make_node(kiln_patch *patch, const char *name, const kiln_field *rows, size_t row_count,
                     const kiln_value *inputs, size_t input_count) {
    OperatorFields read{name ? name : "", {}, {}};
    if ((row_count > 0 && !rows) || (input_count > 0 && !inputs) || row_count > most_fields) {
        complain(patch, "a new " + read.name + " without its fields or inputs");
        return -1;
    }
    for (size_t i = 0; i < row_count; i++) {
        const kiln_field &row = rows[i];
        if (!row.name || (!row.text && !row.numbers)) {
            complain(patch, "a new " + read.name + ": field " + std::to_string(i) + " has no name or nothing in it");
            return -1;
        }
        if (row.text) read.texts[row.name] = row.text;
        if (!row.text) read.numbers[row.name].assign(row.numbers, row.numbers + row.count);
    }
    Result<graph::Operator> op = operator_of(read);
    if (!op) {
        complain(patch, op.error().message);
        return -1;
    }
    std::vector<graph::ValueId> ids;
    for (size_t i = 0; i < input_count; i++) {
        const bool fits = inputs[i] >= 0 && inputs[i] <= INT32_MAX;
        ids.push_back(fits ? graph::ValueId(inputs[i]) : -1);
    }
    return patch->patch.node(std::move(*op), std::move(ids));
}

void replace(kiln_patch *patch, kiln_value value, kiln_value by) {
    const auto id = [](kiln_value v) { return v >= 0 && v <= INT32_MAX ? graph::ValueId(v) : -1; };
    patch->patch.replace(id(value), id(by));
}

void fail(kiln_patch *patch, const char *message) { complain(patch, message ? message : "it failed"); }

}  // namespace

namespace kiln::network {

const kiln_alteration_tools &library_tools() {
    static const kiln_alteration_tools tools{sizeof(kiln_alteration_tools),
                                             KILN_ALTERATION_VERSION,
                                             shape,
                                             type,
                                             constant,
                                             readers,
                                             operator_name,
                                             inputs,
                                             fields,
                                             make_constant,
                                             make_node,
                                             replace,
                                             fail};
    return tools;
}

}  // namespace kiln::network
