#include "package/network/network_plan.h"

#include <fmt/format.h>

#include "digest/content_digest.h"
#include "runtime/network/weights_file.h"

namespace kiln {
namespace {

std::string text_of(const std::vector<network::Port> &ports) {
    std::string text;
    for (const network::Port &port : ports) {
        text += fmt::format("port {}:{} {} {}\n", port.name.size(), port.name, graph::name(port.form.type),
                            graph::to_text(port.form.shape));
    }
    return text;
}

std::string text_of(const network::Step &step, const PackagedKernel *kernel, const StepPlaces &places) {
    std::string text;
    if (const auto *copy = std::get_if<network::Copy>(&step.work)) {
        text = fmt::format("copy {} {} {} {}", copy->rows, copy->row_bytes, copy->from_pitch, copy->to_pitch);
    } else {
        text = fmt::format("call {} {}", key(kernel->workload.workload), kernel->artifact.object_hash);
    }
    for (const graph::Place &place : places)
        text += fmt::format(" {}:{}:{}", int(place.memory), place.index, place.offset);
    return text + "\n";
}

}  // namespace

std::string network_plan(const PackagedNetwork &network, const std::vector<VariantKernels> &kernels) {
    const network::Program &program = network.program;
    ContentDigest digest;
    digest.add(fmt::format("kiln plan 1\nweights {}\n", weights_version));
    digest.add("inputs\n" + text_of(program.inputs) + "outputs\n" + text_of(program.outputs));
    digest.add(fmt::format("workspace {}\n", program.workspace));
    for (size_t v = 0; v < kernels.size(); v++) {
        digest.add("variant " + kernels[v].target.halide + "\n");
        for (size_t i = 0; i < program.steps.size(); i++) {
            digest.add(text_of(program.steps[i], kernels[v].steps[i], network.variants[v].steps[i]));
        }
    }
    for (const StoredSection &section : network.sections) {
        digest.add(fmt::format("section {} {} {}\n", section.offset, section.bytes, section.digest));
    }
    return digest.text();
}

}  // namespace kiln
