// The constants of a network as its kernels read them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "package/network/network_variants.h"
#include "package/network/network_weights.h"
#include "package/packaged_network.h"
#include "tuner/measure/weights_packer.h"
#include "workload/result.h"

namespace kiln {

struct PackingTools {
    WeightsPacker &packer;
    std::string work_folder;
    std::function<bool()> interrupted;
};

struct NetworkWeights {
    WeightsSections sections;
    std::vector<std::vector<StepPlaces>> places;  // by variant and step; constants in the file
};

// Weights that a kernel packs are packed once for each kernel's code; everything else stays as it is.
Result<NetworkWeights> pack_network(const network::Program &program, const std::vector<VariantKernels> &variants,
                                    const PackingTools &tools);

}  // namespace kiln
