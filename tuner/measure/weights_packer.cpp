#include "tuner/measure/weights_packer.h"

#include "tuner/measure/runner_order.h"

namespace kiln {

Result<Attempt<bool>> ProcessWeightsPacker::pack(const PackRequest &request) {
    const Artifact &artifact = request.artifact;
    const PackJob job{{key(request.workload), 1, options_.memory_limit_bytes},
                      {artifact.shared_object_path, artifact.packed_bytes, artifact.prepared_bytes},
                      request.weights,
                      request.packed};
    const auto answered = ask({job}, options_);
    if (!answered) return answered.error();
    if (!answered->ok()) return answered->failed_as<bool>();
    return Attempt<bool>{true, answered->wall_ns};
}

}  // namespace kiln
