/* Alterations of networks for `kiln --alterations libmine.so`: other forms of nodes that compute the same values.
 *
 * A library exports one function, `const kiln_alterations *kiln_alterations_of_library(void)`, which answers a table. kiln calls each
 * alteration of the table for each node of a network, in any order and any number of times. The alteration looks at the graph and
 * either leaves the node alone, or makes new nodes in a patch and says which values they replace. It must not ask whether that pays: kiln
 * compares what the network costs before and after, computes both on random inputs, and takes what is cheaper.
 *
 * C99, with C++17 classes below, in which exceptions may be thrown. No symbol of kiln is needed to link. The two tables,
 * kiln_alterations and kiln_alteration_tools, begin with their size and only grow at their ends. Other structs, of which there are
 * arrays, stay as they are. So a library that was compiled with an older header goes on working.
 *
 *     c++ -std=c++17 -shared -fPIC -I BUILD/include mine.cpp -o libmine.so
 *     kiln explain --network m.onnx --alterations ./libmine.so --pass alterations
 *
 * Operators are those that `kiln explain --network` prints. A value is named by a number; a node by its result. Numbers of a field are
 * doubles, whole ones where they are extents or counts:
 *
 *     convolution                  strides, input_dilation, dilations, padding (lo, hi, lo, hi, ...), groups; texts epilogue, prologue
 *                                  ("bias,relu"); inputs x, weights, then one for each step that has an operand. `depthwise`, a
 *                                  window in front, has its weights as the last input. separate_sums (0 or 1): whether no kernel
 *                                  may mix the terms of its sums, as Winograd's algorithm does. Of i8 and u8:
 *                                  kernel_zero_point (0 or 1), text result_type ("i8" behind `requantize_onnx`); inputs x, weights,
 *                                  input_zero_point, kernel_zero_point, bias, scale, output_zero_point, result_bounds; behind
 *                                  `requantize_onnx,add` also what is added, addition_factors, addition_zero_point, addition_bounds
 *     matrix_product
 *     maximum_pool, average_pool   window, strides, dilations, padding, beyond, counts_padding (0 or 1)
 *     elementwise                  shape; text expression ("max(add(x0,x1),0)")
 *     sum, mean, product, maximum, minimum       axes
 *     softmax, log_softmax, mean_variance        axes, epsilon
 *     resample                     axes; taps and counts, one for each axis: how many indices it has; indices and weights of all axes,
 *                                  one behind the other; weights are NaN for an axis without any; fill
 *     gather                       axis; inputs x and integers
 *     transpose                    permutation
 *     reshape                      shape
 *     concat                       axis
 */
#ifndef KILN_ALTERATION_H
#define KILN_ALTERATION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_ALTERATION_VERSION 1

typedef struct kiln_graph kiln_graph; /* read only, and valid during the call */
typedef struct kiln_patch kiln_patch;
typedef int64_t kiln_value; /* negative: none */

typedef struct kiln_field {
    const char *name;
    const double *numbers; /* null for a text */
    size_t count;
    const char *text; /* null for numbers */
} kiln_field;

/* What kiln offers. Pointers that are answered are valid during the call of the alteration; where there is no such value or field they
 * are null. */
typedef struct kiln_alteration_tools {
    uint32_t size, version;

    const int64_t *(*shape)(const kiln_graph *, kiln_value, size_t *axes);
    const char *(*type)(const kiln_graph *, kiln_value);                        /* "f32" */
    const void *(*constant)(const kiln_graph *, kiln_value, size_t *bytes);     /* null: it is none */
    size_t (*readers)(const kiln_graph *, kiln_value);                          /* nodes and outputs of the network */
    const char *(*operator_name)(const kiln_graph *, kiln_value);               /* of the node; null: it has none */
    const kiln_value *(*inputs)(const kiln_graph *, kiln_value, size_t *count); /* of the node */
    const kiln_field *(*fields)(const kiln_graph *, kiln_value, size_t *count); /* of the node */

    /* New values. What is wrong with them is said when the patch is looked at. */
    kiln_value (*make_constant)(kiln_patch *, const char *type, const int64_t *shape, size_t axes, const void *data);
    kiln_value (*make_node)(kiln_patch *, const char *operator_name, const kiln_field *fields, size_t field_count,
                            const kiln_value *inputs, size_t input_count);
    void (*replace)(kiln_patch *, kiln_value value, kiln_value by); /* of the same type and shape */
    void (*fail)(kiln_patch *, const char *message);                /* the alteration itself is at a loss */
} kiln_alteration_tools;

typedef struct kiln_alteration {
    const char *name; /* letters, digits and _ */
    const char *summary;
    void (*at)(const kiln_alteration_tools *, const kiln_graph *, kiln_value node, kiln_patch *);
} kiln_alteration;

typedef struct kiln_alterations {
    uint32_t size, version; /* sizeof(kiln_alterations), KILN_ALTERATION_VERSION */
    size_t count;
    const kiln_alteration *items;
} kiln_alterations;

typedef const kiln_alterations *kiln_alterations_function(void);
kiln_alterations_function kiln_alterations_of_library;

#ifdef __cplusplus
}

#include <exception>
#include <map>
#include <string>
#include <vector>

namespace kiln_alteration_library {

struct Operator {
    std::string name;
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, std::string> texts;
};

// A network around one of its nodes, and what takes the place of values.
class Place {
public:
    Place(const kiln_alteration_tools &tools, const kiln_graph *graph, kiln_patch *patch)
        : tools_(tools), graph_(graph), patch_(patch) {}

    std::vector<int64_t> shape(kiln_value value) const {
        size_t axes = 0;
        const int64_t *extents = tools_.shape(graph_, value, &axes);
        return extents ? std::vector<int64_t>(extents, extents + axes) : std::vector<int64_t>();
    }
    std::string type(kiln_value value) const { return text(tools_.type(graph_, value)); }
    // Empty where it is no constant. T is the type of its elements.
    template<typename T>
    std::vector<T> constant(kiln_value value) const {
        size_t bytes = 0;
        const T *elements = static_cast<const T *>(tools_.constant(graph_, value, &bytes));
        return elements ? std::vector<T>(elements, elements + bytes / sizeof(T)) : std::vector<T>();
    }
    size_t readers(kiln_value value) const { return tools_.readers(graph_, value); }
    // The node that computes a value; its name is empty where none does.
    Operator computed_by(kiln_value value) const {
        Operator op{text(tools_.operator_name(graph_, value)), {}, {}};
        size_t count = 0;
        const kiln_field *fields = tools_.fields(graph_, value, &count);
        for (size_t i = 0; fields && i < count; i++) {
            if (fields[i].text) {
                op.texts[fields[i].name] = fields[i].text;
            } else {
                op.numbers[fields[i].name].assign(fields[i].numbers, fields[i].numbers + fields[i].count);
            }
        }
        return op;
    }
    std::vector<kiln_value> inputs(kiln_value value) const {
        size_t count = 0;
        const kiln_value *ids = tools_.inputs(graph_, value, &count);
        return ids ? std::vector<kiln_value>(ids, ids + count) : std::vector<kiln_value>();
    }

    template<typename T>
    kiln_value constant(const std::string &type, const std::vector<int64_t> &shape, const std::vector<T> &elements) {
        return tools_.make_constant(patch_, type.c_str(), shape.data(), shape.size(), elements.data());
    }
    kiln_value node(const Operator &op, const std::vector<kiln_value> &inputs) {
        std::vector<kiln_field> fields;
        for (const auto &field : op.numbers) {
            static const double none = 0;
            fields.push_back({field.first.c_str(), field.second.empty() ? &none : field.second.data(),
                              field.second.size(), nullptr});
        }
        for (const auto &field : op.texts) fields.push_back({field.first.c_str(), nullptr, 0, field.second.c_str()});
        return tools_.make_node(patch_, op.name.c_str(), fields.data(), fields.size(), inputs.data(), inputs.size());
    }
    void replace(kiln_value value, kiln_value by) { tools_.replace(patch_, value, by); }

private:
    static std::string text(const char *chars) { return chars ? chars : ""; }

    const kiln_alteration_tools &tools_;
    const kiln_graph *graph_;
    kiln_patch *patch_;
};

// The row of a function `void f(Place &, kiln_value node)`. What it throws becomes a message.
template<void (*function)(Place &, kiln_value)>
kiln_alteration row(const char *name, const char *summary) {
    return {name, summary,
            [](const kiln_alteration_tools *tools, const kiln_graph *graph, kiln_value node, kiln_patch *patch) {
                try {
                    Place place(*tools, graph, patch);
                    function(place, node);
                } catch (const std::exception &error) {
                    tools->fail(patch, error.what());
                } catch (...) {
                    tools->fail(patch, "it threw an exception");
                }
            }};
}

}  // namespace kiln_alteration_library
#endif

#endif
