#include "workload/machine.h"

namespace kiln {

std::string key(const Machine &m) {
    return m.cpu_id + "/l1:" + std::to_string(m.l1_bytes) + "/l2:" + std::to_string(m.l2_bytes) +
           "/l3:" + std::to_string(m.l3_bytes) + "/cores:" + std::to_string(m.cores) + "/" + m.cpu_model;
}

}  // namespace kiln
