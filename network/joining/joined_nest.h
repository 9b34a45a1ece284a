// One nest that computes what two do in a row.
#pragma once

#include <optional>
#include <vector>

#include "workload/nest/nest.h"

namespace kiln::network {

struct JoinedNest {
    struct Source {
        bool is_producers = false;
        int operand = 0;  // of the producer or of the consumer
        bool operator==(const Source &) const = default;
    };
    Nest nest;
    std::vector<Source> sources;  // by operand of the nest
};

// The consumer's nest, which computes each element of its operand `operand` where it reads it, as the producer does. The
// operand has the elements of the producer's result in the same order; their shapes may differ, as by a reshape. The values are
// the same.
//
// The consumer may reduce; then its operand is computed as it is added up. Nothing where no nest computes that, and where it would be
// slower than both: the producer reduces, or numbers would be computed more than once.
std::optional<JoinedNest> joined_nest(const Nest &producer, const Nest &consumer, int operand);

}  // namespace kiln::network
