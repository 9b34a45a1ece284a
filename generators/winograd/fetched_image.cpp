#include "generators/winograd/fetched_image.h"

#include <string>

#include "generators/halide_type.h"
#include "generators/passes/fetched_lines.h"
#include "workload/signature.h"

namespace kiln {

void fetch_image_ahead(Halide::Pipeline pipeline, const Workload &workload, const WinogradFacts &facts, int64_t tiles,
                       int64_t input_bytes) {
    const int64_t read = tiles * facts.input_step() * input_bytes;
    const int64_t written = tiles * facts.result_step() * ConvTypes(workload).result.bytes();
    if (read > 0) fetch_ahead(pipeline, "input", read);
    if (written > 0) fetch_ahead(pipeline, "output", written, Access::written);
    for (const StepOperand &operand : step_operands()) {
        const bool is_read = is_like_result(operand.step) && has_step(workload.epilogue, operand.step);
        if (written > 0 && is_read) fetch_ahead(pipeline, std::string(operand.name), written);
    }
}

}  // namespace kiln
