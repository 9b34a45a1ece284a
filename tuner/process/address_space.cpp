#include "tuner/process/address_space.h"

#include <sys/resource.h>

namespace kiln {

int64_t most_address_space() {
    rlimit limit = {};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return unlimited_address_space;
    return limit.rlim_max > rlim_t(unlimited_address_space) ? unlimited_address_space : int64_t(limit.rlim_max);
}

}  // namespace kiln
