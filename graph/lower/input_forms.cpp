#include "graph/lower/input_forms.h"

#include <map>
#include <set>

#include "graph/lower/node/shown_names.h"
#include "graph/lower/node/stated_elements.h"

namespace kiln::graph {
namespace {

using Shapes = std::map<std::string, Shape>;
using Constants = std::map<std::string, std::vector<double>>;
using Parameters = std::map<std::string, int64_t>;  // names of extents, with what is known of them

// Some exporters write -1 or 0 for an extent that is not known. A 0 may be meant, so it stands unless the user says otherwise.
bool is_fixed(const onnx::Dimension &dimension) { return dimension.size && *dimension.size >= 0; }

std::string to_text(const std::vector<onnx::Dimension> &dimensions) {
    std::string text;
    for (const onnx::Dimension &dimension : dimensions) {
        const std::string open = is_word(dimension.parameter) ? dimension.parameter : "?";
        text += (text.empty() ? "" : "x") + (is_fixed(dimension) ? std::to_string(*dimension.size) : open);
    }
    return text.empty() ? "scalar" : text;
}

bool fits(const Shape &shape, const std::vector<onnx::Dimension> &dimensions) {
    if (shape.size() != dimensions.size()) return false;
    for (size_t d = 0; d < shape.size(); d++) {
        if (is_fixed(dimensions[d]) && *dimensions[d].size > 0 && *dimensions[d].size != shape[d]) return false;
    }
    return true;
}

class InputReader {
public:
    InputReader(const onnx::Model &model, const StatedInputs &stated, Problems *problems)
        : model_(model), problems_(*problems) {
        for (const onnx::Tensor &tensor : model.initializers) defaults_.insert(tensor.name);
        for (const InputShape &shape : stated.shapes) {
            if (!shapes_.emplace(shape.name, shape.shape).second) {
                problems_.add(bad_input("--shape states the shape of " + shown(shape.name) + " twice"));
            }
        }
        for (const InputConstant &constant : stated.constants) {
            if (!constants_.emplace(constant.name, constant.elements).second) {
                problems_.add(bad_input("--constant states the value of " + shown(constant.name) + " twice"));
            }
        }
    }

    std::vector<InputForm> read() {
        check_names("--shape", shapes_);
        check_names("--constant", constants_);
        for (const onnx::ValueInfo &input : model_.inputs) learn_parameters(input);
        std::vector<InputForm> forms;
        for (const onnx::ValueInfo &input : model_.inputs) {
            if (has_default(input) || model_.unread.count(input.name)) continue;
            if (const std::optional<TypedShape> form = form_of(input)) add(input.name, *form, &forms);
        }
        if (!missing_.empty()) {
            problems_.add(bad_input(
                "the model leaves the shapes of inputs open; state them, with numbers for what is open:" + missing_));
        }
        return forms;
    }

private:
    bool has_default(const onnx::ValueInfo &input) const { return defaults_.count(input.name) != 0; }

    void add(const std::string &name, const TypedShape &form, std::vector<InputForm> *forms) {
        InputForm &added = forms->emplace_back(InputForm{name, form, {}});
        const auto stated = constants_.find(name);
        if (stated == constants_.end()) return;
        const Result<ConstantData> elements = elements_of(stated->second, form);
        if (elements) {
            added.constant = *elements;
            return;
        }
        problems_.add(bad_input("--constant " + shown(name) + ": " + elements.error().message));
        forms->pop_back();
    }

    template<typename Stated>
    void check_names(const std::string &option, const Stated &stated) {
        std::set<std::string> names;
        std::string all;
        for (const onnx::ValueInfo &input : model_.inputs) {
            if (has_default(input)) continue;
            names.insert(input.name);
            all += (all.empty() ? "" : ", ") + shown(input.name);
        }
        for (const auto &[name, value] : stated) {
            const auto unread = model_.unread.find(name);
            if (unread != model_.unread.end() && names.count(name)) {
                problems_.add(
                    unsupported(option + ": " + shown(name) + " is " + unread->second + ", which kiln does not read"));
            }
            if (names.count(name)) continue;
            const std::string what = defaults_.count(name) ? "is a constant of the model" : "is no input of the model";
            problems_.add(bad_input(option + ": " + shown(name) + " " + what + "; its inputs are " +
                                    (all.empty() ? "none" : all)));
        }
    }

    // What one input's stated shape says of an extent holds for all that bear its name.
    void learn_parameters(const onnx::ValueInfo &input) {
        const auto stated = shapes_.find(input.name);
        if (stated == shapes_.end() || !input.shape || stated->second.size() != input.shape->size()) return;
        for (size_t d = 0; d < input.shape->size(); d++) {
            const onnx::Dimension &dimension = (*input.shape)[d];
            if (!is_fixed(dimension) && !dimension.parameter.empty()) {
                parameters_.emplace(dimension.parameter, stated->second[d]);
            }
        }
    }

    std::optional<Shape> shape_of(const onnx::ValueInfo &input) {
        if (const auto stated = shapes_.find(input.name); stated != shapes_.end()) {
            if (!input.shape || fits(stated->second, *input.shape)) return stated->second;
            problems_.add(bad_input("--shape " + shown(input.name) + ": " + graph::to_text(stated->second) +
                                    " does not fit " + to_text(*input.shape) + ", which the model says"));
            return {};
        }
        Shape shape;
        bool known = input.shape.has_value();
        for (size_t d = 0; known && d < input.shape->size(); d++) {
            const onnx::Dimension &dimension = (*input.shape)[d];
            const auto parameter = parameters_.find(dimension.parameter);
            known = is_fixed(dimension) || parameter != parameters_.end();
            if (known) shape.push_back(is_fixed(dimension) ? *dimension.size : parameter->second);
        }
        if (known) return shape;
        const bool is_plain = is_word(input.name);
        missing_ +=
            " --shape " + (is_plain ? input.name : "NAME") + "=" + (input.shape ? to_text(*input.shape) : "...");
        if (!is_plain) missing_ += " (NAME is " + shown(input.name) + ")";
        return {};
    }

    std::optional<TypedShape> form_of(const onnx::ValueInfo &input) {
        const std::optional<Shape> shape = shape_of(input);
        if (!input.type)
            problems_.add(unsupported("the model does not say the type of its input " + shown(input.name)));
        if (!shape || !input.type) return {};
        if (const Result<int64_t> count = element_count(*shape); !count) {
            problems_.add(Error{count.error().code, "input " + shown(input.name) + ": " + count.error().message});
            return {};
        }
        return TypedShape{*input.type, *shape};
    }

    const onnx::Model &model_;
    Problems &problems_;
    std::set<std::string> defaults_;  // names of inputs that the model has values for
    Shapes shapes_;
    Constants constants_;
    Parameters parameters_;
    std::string missing_;
};

}  // namespace

std::vector<InputForm> input_forms(const onnx::Model &model, const StatedInputs &stated, Problems *problems) {
    return InputReader(model, stated, problems).read();
}

}  // namespace kiln::graph
