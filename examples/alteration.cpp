// An alteration of networks: a ReLU in front of a maximum pool is taken behind it, where there are fewer elements. Both orders
// give the same values. kiln uses it where it makes a network faster.
//
//   c++ -std=c++17 -shared -fPIC -I KILN/build/include alteration.cpp -o libmine.so
//   kiln explain --network m.onnx --alterations ./libmine.so --pass alterations
//   kiln build --network m.onnx --alterations ./libmine.so -o dist
#include <kiln/alteration.h>

using kiln_alteration_library::Operator;
using kiln_alteration_library::Place;

static void relu_behind_pool(Place &place, kiln_value node) {
    const Operator pool = place.computed_by(node);
    if (pool.name != "maximum_pool") return;
    const kiln_value image = place.inputs(node)[0];
    Operator relu = place.computed_by(image);
    if (relu.name != "elementwise" || relu.texts["expression"] != "max(x0,0)" || place.readers(image) != 1) return;

    const kiln_value before_relu = place.inputs(image)[0];
    if (place.shape(before_relu) != place.shape(image)) return;  // it is repeated along an axis
    const kiln_value pooled = place.node(pool, {before_relu});
    const std::vector<int64_t> shape = place.shape(node);
    relu.numbers["shape"].assign(shape.begin(), shape.end());
    place.replace(node, place.node(relu, {pooled}));
}

extern "C" const kiln_alterations *kiln_alterations_of_library() {
    static const kiln_alteration items[] = {
        kiln_alteration_library::row<relu_behind_pool>("relu_behind_pool", "a ReLU is taken behind a maximum pool"),
    };
    static const kiln_alterations table{sizeof(kiln_alterations), KILN_ALTERATION_VERSION, 1, items};
    return &table;
}
