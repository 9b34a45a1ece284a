#include "check/movement_case.h"

#include <array>
#include <utility>

#include "workload/signature.h"

namespace kiln {
namespace {

Mapped map_dtype(const CaseTensor &x, const CaseTensor &y, Workload *w) {
    const auto dtype = parse_suite_dtype(x.dtype);
    if (!dtype || x.dtype != y.dtype) return Unmapped{"dtype " + x.dtype + " is not known"};
    w->dtype = w->output_dtype = *dtype;
    return {};
}

Mapped map_shuffle(JsonFields &attributes, CaseTensors &tensors, Workload *w) {
    const auto layout_name = attributes.get<std::string>("layout");
    w->block = attributes.get<std::vector<int64_t>>("block");
    const auto order = attributes.get_or<std::string>("channel_order", "");
    const CaseTensor *x = tensors.find("x"), *y = tensors.find("y");
    if (!attributes.ok()) return {};
    w->spatial_rank = static_cast<int>(w->block.size());
    if (w->spatial_rank < 1 || w->spatial_rank > 3) return Unmapped{"block has neither 1, 2 nor 3 entries"};
    const auto layout = parse_suite_layout(layout_name, w->spatial_rank);
    if (!layout) return Unmapped{"layout " + layout_name + " is not known"};
    if (!order.empty() && order != "(bh*block_w + bw)*C + c") return Unmapped{"channel order " + order};
    w->input_layout = w->output_layout = *layout;
    w->input = tensors.logical("x", *layout, w->spatial_rank);
    return map_dtype(*x, *y, w);
}

Mapped map_layout_transform(JsonFields &attributes, CaseTensors &tensors, Workload *w) {
    const auto kind = attributes.get<std::string>("kind");
    w->from_layout = attributes.get<std::string>("from_layout");
    w->to_layout = attributes.get<std::string>("to_layout");
    w->spatial_rank = 2;
    JsonFields sizes = attributes.object("dims");
    const bool weights = kind == "weights";
    for (const std::string_view name : weights ? std::array{"H", "W", "I", "O"} : std::array{"N", "H", "W", "C"}) {
        (weights ? w->kernel : w->input).push_back(sizes.get<int64_t>(name));
    }
    const CaseTensor *x = tensors.find("x"), *y = tensors.find("y");
    if (!attributes.ok()) return {};
    if (kind != "weights" && kind != "activations") return Unmapped{"kind " + kind + " is not known"};
    return map_dtype(*x, *y, w);
}

}  // namespace

Mapped map_movement(Operation op, JsonFields &attributes, CaseTensors &tensors, ConformanceCase *result) {
    Workload w;
    w.op = op;
    const auto map = op == Operation::layout_transform ? map_layout_transform : map_shuffle;
    if (Mapped unmapped = map(attributes, tensors, &w)) return unmapped;
    if (!attributes.ok()) return {};
    fill_defaults(&w);
    if (Status s = validate(w); !s) {
        attributes.fail("attributes and shapes", s.error().message);
        return {};
    }
    const Signature form = signature(w);
    tensors.check_shape("x", form.operands[0].shape());
    tensors.check_shape("y", form.result.shape());
    if (!attributes.ok()) return {};
    (transforms_weights(w) ? result->second : result->first) = tensors.find("x")->tensor;
    result->expected = tensors.find("y")->tensor;
    result->workload = std::move(w);
    return {};
}

}  // namespace kiln
