// The weights file of a network (runtime/network/weights_file.h): which bytes it holds, where, and how it is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/constant_data.h"
#include "package/packaged_network.h"
#include "workload/result.h"

namespace kiln {

// Sections in the order in which they are added; equal ones are stored once.
class WeightsSections {
public:
    size_t add(graph::ConstantData data);  // answers its number
    std::vector<StoredSection> layout() const;
    int64_t file_bytes() const;

    const std::vector<graph::ConstantData> &data() const { return data_; }

private:
    std::vector<graph::ConstantData> data_;
    std::vector<std::string> digests_;
    std::map<std::pair<std::string, size_t>, size_t> numbers_;  // by digest and size
};

// Writes the file. Answers its digest.
Result<std::string> write_weights(const std::string &path, const WeightsSections &sections, const std::string &plan);

}  // namespace kiln
