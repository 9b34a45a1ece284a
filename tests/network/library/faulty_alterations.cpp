// Alterations that do one thing wrong each, for networks of which every node is max(x0,0). FAULT chooses what is wrong with the
// table.
#include <kiln/alteration.h>

#include <cmath>
#include <stdexcept>

using kiln_alteration_library::Operator;
using kiln_alteration_library::Place;
using kiln_alteration_library::row;

namespace {

Operator same(const Place &place, kiln_value node, const char *expression = "x0") {
    const std::vector<int64_t> shape = place.shape(node);
    return {"elementwise", {{"shape", {shape.begin(), shape.end()}}}, {{"expression", expression}}};
}

void throws(Place &, kiln_value) { throw std::runtime_error("out of luck"); }
void throws_a_number(Place &, kiln_value) { throw 1; }
void unknown_value(Place &place, kiln_value node) { place.replace(node, place.node(same(place, node), {12345})); }
void huge_value(Place &place, kiln_value node) { place.replace(node, int64_t(1) << 40); }
void other_shape(Place &place, kiln_value node) {
    place.replace(node, place.node({"transpose", {{"permutation", {1, 0}}}, {}}, {place.inputs(node)[0]}));
}
void cycle(Place &place, kiln_value node) {
    // Behind the one that reads it.
    if (place.computed_by(node + 1).name.empty()) return;
    place.replace(node, place.node(same(place, node), {node + 1}));
}
void unknown_operator(Place &place, kiln_value node) { place.replace(node, place.node({"magic", {}, {}}, {node})); }
void unknown_field(Place &place, kiln_value node) {
    Operator op = same(place, node);
    op.numbers["magic"] = {1};
    place.replace(node, place.node(op, {node}));
}
void no_whole_number(Place &place, kiln_value node) {
    Operator op = same(place, node);
    op.numbers["shape"] = {0.5, NAN};
    place.replace(node, place.node(op, {node}));
}
void bad_expression(Place &place, kiln_value node) {
    place.replace(node, place.node(same(place, node, "max(x0"), {node}));
}
void bad_constant(Place &place, kiln_value node) { place.replace(node, place.constant<float>("f33", {1}, {1})); }
void wrong_values(Place &place, kiln_value node) { place.replace(node, place.inputs(node)[0]); }

}  // namespace

extern "C" const kiln_alterations *kiln_alterations_of_library() {
    static const kiln_alteration items[] = {
        row<throws>("throws", ""),
        row<throws_a_number>("throws_a_number", ""),
        row<unknown_value>("unknown_value", ""),
        row<huge_value>("huge_value", ""),
        row<other_shape>("other_shape", ""),
        row<cycle>("cycle", ""),
        row<unknown_operator>("unknown_operator", ""),
        row<unknown_field>("unknown_field", ""),
        row<no_whole_number>("no_whole_number", ""),
        row<bad_expression>("bad_expression", ""),
        row<bad_constant>("bad_constant", ""),
        row<wrong_values>("wrong_values", ""),
#if FAULT == 3
        row<throws>("throws", "a second time"),
#elif FAULT == 4
        {"no_function", "", nullptr},
#elif FAULT == 5
        row<throws>("a name", ""),
#endif
    };
    // Without its items, and as a later header may have it.
    constexpr size_t size =
        FAULT == 7 ? offsetof(kiln_alterations, items) : sizeof(kiln_alterations) + (FAULT == 8 ? 8 : 0);
    static const kiln_alterations table{size, KILN_ALTERATION_VERSION + (FAULT == 1), sizeof items / sizeof *items,
                                        items};
    if (FAULT == 6) throw 1;
    return FAULT == 2 ? nullptr : &table;
}
