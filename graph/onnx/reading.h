// What the readers of a model's parts share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "graph/onnx/file/external_data.h"
#include "workload/result.h"

namespace kiln::graph::onnx {

struct Reading {
    std::shared_ptr<const void> owner;  // of the bytes that are read
    ExternalFiles external;
    int64_t entries = 0;  // nodes, names and so on, see count_entry()
    int depth = 0;        // of the graph that is read: how many others it lies in
};

// Each entry of a list takes up to a hundred times as much memory as the bytes that it is read from. So their number is
// limited, far above what networks have.
inline constexpr int64_t most_entries = int64_t{1} << 22;

// Graphs in graphs are read by recursion. Exporters nest a handful.
inline constexpr int most_depth = 32;

inline Status count_entry(Reading &reading) {
    if (++reading.entries > most_entries) {
        return bad_input(
            "has more than " + std::to_string(most_entries) +
            " nodes, names and attributes, the most that kiln reads: the file is damaged, or the model must be "
            "divided");
    }
    return {};
}

}  // namespace kiln::graph::onnx
