#include "graph/lower/node/attributes.h"

#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/onnx/data_type.h"

namespace kiln::graph {
namespace {

template<typename T>
T required(const T *value, std::string_view name, const std::optional<T> &absent) {
    if (value) return *value;
    if (!absent) reject("it has no attribute " + shown(name) + ", which the operator requires");
    return *absent;
}

}  // namespace

const onnx::Attribute *Attributes::find(std::string_view name) const {
    for (const onnx::Attribute &attribute : node_.attributes) {
        if (attribute.name == name) return &attribute;
    }
    return nullptr;
}

template<typename T>
const T *Attributes::read(std::string_view name, std::string_view type) const {
    const onnx::Attribute *attribute = find(name);
    if (!attribute) return nullptr;
    if (const auto *unread = std::get_if<onnx::Attribute::Unread>(&attribute->value)) {
        refuse("its attribute " + shown(name) + " is " + unread->kind + ", which kiln does not read");
    }
    const T *value = std::get_if<T>(&attribute->value);
    if (!value) reject("its attribute " + shown(name) + " must be " + std::string(type));
    return value;
}

int64_t Attributes::integer(std::string_view name, std::optional<int64_t> absent) const {
    return required(read<int64_t>(name, "an integer"), name, absent);
}

double Attributes::real(std::string_view name, std::optional<double> absent) const {
    const float *value = read<float>(name, "a float");
    return value ? *value : required<double>(nullptr, name, absent);
}

std::string Attributes::text(std::string_view name, std::optional<std::string> absent) const {
    return required(read<std::string>(name, "a string"), name, absent);
}

Element Attributes::type(std::string_view name, Element absent) const {
    if (!has(name)) return absent;
    const std::optional<Element> type = onnx::element_of(integer(name));
    if (!type) refuse("its attribute " + shown(name) + " is a type that kiln does not compute");
    return *type;
}

std::vector<int64_t> Attributes::integers(std::string_view name) const {
    const auto *values = read<std::vector<int64_t>>(name, "a list of integers");
    return values ? *values : std::vector<int64_t>();
}

std::vector<int64_t> Attributes::required_integers(std::string_view name) const {
    return required<std::vector<int64_t>>(read<std::vector<int64_t>>(name, "a list of integers"), name, {});
}

std::vector<double> Attributes::reals(std::string_view name) const {
    const auto *values = read<std::vector<float>>(name, "a list of floats");
    return values ? std::vector<double>(values->begin(), values->end()) : std::vector<double>();
}

std::vector<std::string> Attributes::texts(std::string_view name) const {
    const auto *values = read<std::vector<std::string>>(name, "a list of strings");
    return values ? *values : std::vector<std::string>();
}

const onnx::Tensor &Attributes::tensor(std::string_view name) const {
    const auto *value = read<onnx::Tensor>(name, "a tensor");
    if (!value) reject("it has no attribute " + shown(name) + ", which the operator requires");
    return *value;
}

const onnx::Body &Attributes::graph(std::string_view name) const {
    const auto *value = read<std::shared_ptr<const onnx::Body>>(name, "a graph");
    if (!value) reject("it has no attribute " + shown(name) + ", which the operator requires");
    return **value;
}

}  // namespace kiln::graph
