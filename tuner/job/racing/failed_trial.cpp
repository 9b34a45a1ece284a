#include "tuner/job/racing/failed_trial.h"

namespace kiln {

void record_failure(const Failure &failure, Trial *trial) {
    trial->status = failure.status;
    // A failed trial always says why.
    trial->message = failure.message.empty() ? std::string(name(failure.status)) : failure.message;
    trial->stderr_text = failure.stderr_text;
    trial->errors = failure.errors;
}

}  // namespace kiln
