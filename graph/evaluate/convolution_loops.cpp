#include <algorithm>
#include <numeric>

#include "graph/convolution_inputs.h"
#include "graph/evaluate/epilogue.h"
#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

struct Axis {
    int64_t input, result, window, stride, input_dilation, dilation, padding;

    // Whether the loop only walks over the axis: positions are pixels.
    bool is_walked() const {
        return window == 1 && stride == 1 && input_dilation == 1 && padding == 0 && input == result;
    }
    // The pixel that a tap reads for a position of the result; -1: a zero of the padding or between pixels.
    int64_t pixel(int64_t position, int64_t tap) const {
        const int64_t at = position * stride + tap * dilation - padding;
        return at >= 0 && at % input_dilation == 0 && at / input_dilation < input ? at / input_dilation : -1;
    }
};

// Which positions of a row read pixels through one tap: position first + k * step reads pixel from + k * from_step.
struct Run {
    int64_t count, first, step, from, from_step;

    // The part of it in positions begin .. end - 1.
    Run within(int64_t begin, int64_t end) const {
        const auto index_at = [&](int64_t p) { return std::clamp<int64_t>((p - first + step - 1) / step, 0, count); };
        const int64_t skipped = begin <= first ? 0 : index_at(begin), kept = end <= first ? 0 : index_at(end);
        return {kept - skipped, first + skipped * step, step, from + skipped * from_step, from_step};
    }
};

Run run_of(const Axis &axis, int64_t tap) {
    const int64_t common = std::gcd(axis.stride, axis.input_dilation);
    Run run{0, 0, axis.input_dilation / common, 0, axis.stride / common};
    // The first position at or behind pixel 0, then the first one on a pixel: positions repeat after run.step.
    const int64_t start = axis.padding - tap * axis.dilation;
    run.first = start <= 0 ? 0 : (start + axis.stride - 1) / axis.stride;
    for (int64_t tried = 0; tried < run.step; tried++, run.first++) {
        if (run.first >= axis.result) return run;
        if ((run.first * axis.stride - start) % axis.input_dilation == 0) break;
    }
    run.from = axis.pixel(run.first, tap);
    if (run.first >= axis.result || run.from < 0) return run;
    run.count = std::min((axis.input - 1 - run.from) / run.from_step, (axis.result - 1 - run.first) / run.step) + 1;
    return run;
}

void accumulate(const Run &run, double weight, const double *from, double *to) {
    if (run.step == 1 && run.from_step == 1) {
        for (int64_t k = 0; k < run.count; k++) to[k] += weight * from[k];
        return;
    }
    for (int64_t k = 0; k < run.count; k++) to[k * run.step] += weight * from[k * run.from_step];
}

class ConvolutionLoops {
public:
    ConvolutionLoops(const Convolution &op, const Task &task)
        : op_(op),
          task_(task),
          loaded_(op.prologue.empty() ? std::vector<double>() : apply_prologue(op, task)),
          input_(op.prologue.empty() ? task.floats(0).data() : loaded_.data()),
          images_(task.shape(0)[0]),
          outputs_(task.shape(1)[0]),
          inputs_(task.shape(1)[1]) {
        const Shape &x = task.shape(0), &w = task.shape(1), &y = task.result->form.shape;
        for (size_t d = 0; d + 2 < x.size(); d++) {
            axes_.push_back(
                {x[d + 2], y[d + 2], w[d + 2], op.strides[d], op.input_dilation[d], op.dilations[d], op.padding[d].lo});
        }
        // A 1x1 convolution is one long row.
        while (axes_.size() > 1 && axes_.back().is_walked() && axes_[axes_.size() - 2].is_walked()) {
            const int64_t extent = axes_.back().input;
            axes_.pop_back();
            axes_.back().input *= extent;
            axes_.back().result *= extent;
        }
        for (int64_t tap = 0; tap < axes_.back().window; tap++) runs_.push_back(run_of(axes_.back(), tap));
        for (const Axis &axis : axes_) {
            input_plane_ *= axis.input;
            result_plane_ *= axis.result;
            taps_ *= axis.window;
        }
    }

    Status run() {
        Shape rows;
        for (size_t d = 0; d + 1 < axes_.size(); d++) rows.push_back(axes_[d].result);
        const int64_t row_count = product(rows);
        Walk walk(rows, row_major_strides(rows));
        for (int64_t row = 0; row < row_count; row++, walk.next()) {
            find_taps(walk.position());
            for (int64_t image = 0; image < images_; image++) {
                if (Status s = compute_row(image, row); !s) return s;
            }
        }
        return {};
    }

private:
    // For all axes but the last: the rows of the input that a row of the result reads, and the weights' rows for them.
    struct RowTap {
        int64_t weights, input;
    };

    void find_taps(const std::vector<int64_t> &position) {
        taps_of_row_.clear();
        Shape windows;
        for (size_t d = 0; d + 1 < axes_.size(); d++) windows.push_back(axes_[d].window);
        const int64_t count = product(windows);
        Walk walk(windows, row_major_strides(windows));
        for (int64_t tap = 0; tap < count; tap++, walk.next()) {
            int64_t input_row = 0;
            for (size_t d = 0; d + 1 < axes_.size() && input_row >= 0; d++) {
                const int64_t pixel = axes_[d].pixel(position[d], walk.position()[d]);
                input_row = pixel < 0 ? -1 : input_row * axes_[d].input + pixel;
            }
            if (input_row >= 0) taps_of_row_.push_back({tap * axes_.back().window, input_row * axes_.back().input});
        }
    }

    // In pieces that stay in the first cache together with the sums.
    Status compute_row(int64_t image, int64_t row) {
        constexpr int64_t piece = 512;
        const int64_t length = axes_.back().result;
        for (int64_t begin = 0; begin < length; begin += piece) {
            const int64_t end = std::min(begin + piece, length);
            std::vector<Run> runs;
            for (const Run &run : runs_) runs.push_back(run.within(begin, end));
            for (int64_t output = 0; output < outputs_; output++) {
                if (task_.interrupted()) return interrupted_error();
                const int64_t at = (image * outputs_ + output) * result_plane_ + row * length;
                sum(image, output, runs, task_.float_result().data() + at);
                apply_epilogue(op_.epilogue, task_, {at + begin, at + end, output});
            }
        }
        return {};
    }

    void sum(int64_t image, int64_t output, const std::vector<Run> &runs, double *to) {
        const int64_t group = output / (outputs_ / op_.groups);
        const double *weights = task_.floats(1).data() + output * inputs_ * taps_;
        const double *input = input_ + (image * op_.groups + group) * inputs_ * input_plane_;
        for (int64_t channel = 0; channel < inputs_; channel++) {
            for (const RowTap &tap : taps_of_row_) {
                const double *row_weights = weights + channel * taps_ + tap.weights;
                const double *row = input + channel * input_plane_ + tap.input;
                for (size_t t = 0; t < runs.size(); t++) {
                    if (runs[t].count > 0) accumulate(runs[t], row_weights[t], row + runs[t].from, to + runs[t].first);
                }
            }
        }
    }

    const Convolution &op_;
    const Task &task_;
    std::vector<double> loaded_;  // the input behind a prologue
    const double *input_;
    int64_t images_, outputs_, inputs_;  // inputs of one group
    std::vector<Axis> axes_;
    int64_t input_plane_ = 1, result_plane_ = 1, taps_ = 1;
    std::vector<Run> runs_;  // of the last axis, one a tap
    std::vector<RowTap> taps_of_row_;
};

Status compute_separable(const Convolution &op, const Task &task) {
    const Shape &x = task.shape(0);
    const std::vector<int64_t> ones(x.size() - 2, 1);
    Numbers between{task.result->form, {}};
    between.form.shape[1] = x[1];
    if (Status s = check_size(product(between.form.shape)); !s) return s;
    between.elements = std::vector<double>(size_t(product(between.form.shape)));

    const Convolution depthwise{.strides = op.strides,
                                .input_dilation = ones,
                                .dilations = op.dilations,
                                .padding = op.padding,
                                .groups = x[1]};
    const Task front{{task.inputs[0], task.inputs.back()}, &between, task.interrupted};
    if (Status s = ConvolutionLoops(depthwise, front).run(); !s) return s;

    Convolution pointwise = op;
    pointwise.depthwise.clear();
    pointwise.strides = pointwise.dilations = ones;
    pointwise.padding.assign(ones.size(), {});
    Task behind = task;
    behind.inputs[0] = &between;
    behind.inputs.pop_back();
    return ConvolutionLoops(pointwise, behind).run();
}

}  // namespace

Status compute(const Convolution &op, const Task &task) {
    if (product(task.result->form.shape) == 0) return {};
    if (is_quantized(task.inputs[0]->form.type)) return compute_quantized(op, task);
    if (!op.depthwise.empty()) return compute_separable(op, task);
    return ConvolutionLoops(op, task).run();
}

}  // namespace kiln::graph
