#include "graph/batch/batch_axis.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

namespace kiln::graph {
namespace {

Error joins() { return unsupported("it computes something of all images together"); }
Error moves() { return unsupported("images have no axis of their own in its result"); }

int rank(const Shape &shape) { return static_cast<int>(shape.size()); }

class BatchRule {
public:
    BatchRule(const std::vector<TypedShape> &inputs, const Shape &result, const std::vector<BatchAxis> &axes)
        : inputs_(inputs), result_(result), axes_(axes) {}

    // Weights, zero points and whatever else is for all images alike; only what is added has images, too.
    Result<int> operator()(const Convolution &) const {
        if (axes_[0] != 0) return joins();
        for (size_t i = 1; i < axes_.size(); i++) {
            if (axes_[i] && (*axes_[i] != 0 || inputs_[i].shape != result_)) return joins();
        }
        return 0;
    }

    // Broadcast axes are those of element-wise operators; rows and columns are each of one operand.
    Result<int> operator()(const MatrixProduct &) const {
        std::optional<int> from_end;
        for (size_t i = 0; i < 2; i++) {
            if (!axes_[i]) continue;
            const int own = rank(inputs_[i].shape) - 1 - *axes_[i];
            const int summed = i == 0 ? 0 : 1;
            if (own == summed || (from_end && (*from_end != own || own < 2))) return joins();
            from_end = own;
        }
        return of_images(rank(result_) - 1 - *from_end);
    }

    Result<int> operator()(const Elementwise &) const {
        std::optional<int> from_end;
        for (size_t i = 0; i < axes_.size(); i++) {
            if (!axes_[i]) continue;
            const int own = rank(inputs_[i].shape) - 1 - *axes_[i];
            if (from_end && *from_end != own) return joins();
            from_end = own;
        }
        return of_images(rank(result_) - 1 - *from_end);
    }

    Result<int> operator()(const Pool &) const { return axes_[0] == 0 ? Result<int>(0) : Result<int>(joins()); }
    Result<int> operator()(const Reduce &op) const { return beside(op.axes); }
    Result<int> operator()(const Normalize &op) const { return beside(op.axes); }

    Result<int> operator()(const Resample &op) const {
        std::vector<int> axes;
        for (const Resample::Axis &axis : op.axes) axes.push_back(axis.axis);
        return beside(axes);
    }

    // Indices of each image choose from what is for all images alike; an image's own elements are chosen by the same indices.
    Result<int> operator()(const Gather &op) const {
        const int places = rank(inputs_[1].shape);
        if (axes_[0] && axes_[1]) return joins();
        if (axes_[1]) return op.axis + *axes_[1];
        if (*axes_[0] == op.axis) return joins();
        return *axes_[0] < op.axis ? *axes_[0] : *axes_[0] + places - 1;
    }

    Result<int> operator()(const Transpose &op) const {
        return static_cast<int>(std::ranges::find(op.permutation, *axes_[0]) - op.permutation.begin());
    }

    // An axis of extent 1 with as many elements before it.
    Result<int> operator()(const Reshape &) const {
        const auto before = [](const Shape &shape, int axis) {
            return std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
        };
        const int64_t wanted = before(inputs_[0].shape, *axes_[0]);
        const auto fits = [&](int axis) { return result_[axis] == 1 && before(result_, axis) == wanted; };
        if (*axes_[0] < rank(result_) && fits(*axes_[0])) return *axes_[0];
        for (int axis = 0; axis < rank(result_); axis++) {
            if (fits(axis)) return axis;
        }
        return moves();
    }

    Result<int> operator()(const Concat &op) const {
        std::optional<int> axis;
        for (const BatchAxis &own : axes_) {
            if (own && axis && *own != *axis) return joins();
            if (own) axis = own;
        }
        return *axis == op.axis ? Result<int>(joins()) : Result<int>(*axis);
    }

private:
    // An axis that other operands do not have yet: each of its elements is an image's.
    Result<int> of_images(int axis) const { return result_[axis] == 1 ? Result<int>(axis) : Result<int>(joins()); }

    // The input's own axis, where the operator works along others.
    Result<int> beside(const std::vector<int> &along) const {
        if (std::ranges::find(along, *axes_[0]) != along.end()) return joins();
        return *axes_[0];
    }

    const std::vector<TypedShape> &inputs_;
    const Shape &result_;
    const std::vector<BatchAxis> &axes_;
};

}  // namespace

Result<int> batch_axis_of_result(const Operator &op, const std::vector<TypedShape> &inputs, const Shape &result,
                                 const std::vector<BatchAxis> &axes) {
    return std::visit(BatchRule(inputs, result, axes), op);
}

}  // namespace kiln::graph
