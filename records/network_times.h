// Times of one whole network, taken in turns in one run of `kiln bench`.
#pragma once

#include <string>
#include <vector>

namespace kiln {

struct NetworkTime {
    std::string who, version;  // "kiln", "default" (its default kernels), or a peer
    double median_ns = 0, min_ns = 0;
    int rounds = 0;
    bool untuned = false;
};

struct NetworkTimes {
    std::string network;
    std::string target;  // Halide's
    int threads = 1;
    std::string machine;  // its key
    std::string created_at;
    std::vector<NetworkTime> times;
};

}  // namespace kiln
