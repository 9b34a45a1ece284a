#include "runtime/fallback/fallback.h"

#include <new>

#include "runtime/arena.h"
#include "runtime/descriptor.h"
#include "runtime/fallback/convolution_extents.h"
#include "runtime/make_package.h"
#include "runtime/struct_size.h"

namespace kiln {
namespace {

static_assert(sizeof(KernelRow) <= sizeof(kiln_fallback) && alignof(KernelRow) <= alignof(kiln_fallback));

kiln_status refuse(int32_t code, const char *detail) { return {code, KILN_NO_OPERAND, -1, detail}; }

const char *not_served(const kiln_descriptor &d) {
    const bool convolution =
        d.operation == KILN_CONV || d.operation == KILN_CONV_BACKPROP_INPUT || d.operation == KILN_CONV_BACKPROP_KERNEL;
    if (convolution) return nullptr;
    return "the package has no kernel for this workload, and the fallback computes convolutions and their gradients "
           "only";
}

kiln_kernel_info information(const kiln_descriptor &workload) {
    kiln_kernel_info info = {};
    info.struct_size = sizeof info;
    info.key = info.trial = info.object_hash = info.target = "";
    info.name = "fallback";
    info.candidate = "fallback@1";
    info.why_place = "made at run time: the package has no kernel of its own for this workload and CPU";
    info.threads = 1;
    info.alignment = arena_alignment;
    info.workload = &workload;
    return info;
}

}  // namespace

kiln_status make_fallback(const kiln_package *package, const kiln_descriptor *given, kiln_fallback *memory,
                          size_t memory_bytes, const kiln_kernel **kernel) {
    if (kernel != nullptr) *kernel = nullptr;
    if (given == nullptr || memory == nullptr || kernel == nullptr) {
        return refuse(KILN_NULL_ARGUMENT, "descriptor, memory or kernel is null");
    }
    kiln_descriptor longer, workload;
    const kiln_descriptor *descriptor = in_this_version(given, first_descriptor_bytes, &longer);
    if (descriptor == nullptr) return refuse(KILN_BAD_VERSION, descriptor_of_another_version);
    if (memory_bytes < sizeof(KernelRow)) {
        return refuse(KILN_BAD_VERSION, "kiln_fallback is smaller than this package's; use this package's headers");
    }
    if (const char *problem = normalize(*descriptor, &workload)) return refuse(KILN_BAD_DESCRIPTOR, problem);
    if (const char *reason = not_served(workload)) return refuse(KILN_NOT_FOUND, reason);
    ConvolutionExtents extents;
    if (const char *problem = convolution_extents(workload, &extents)) return refuse(KILN_BAD_DESCRIPTOR, problem);
    auto *row = new (memory) KernelRow{};
    row->handle.package = package;
    row->info = information(row->workload);
    row->workload = workload;
    row->workspace_bytes_per_thread = fallback_scratch_bytes();
    convolution_operands(workload, extents, row->operands);
    row->generic = compute_fallback;
    *kernel = &row->handle;
    return refuse(KILN_OK, "ok");
}

}  // namespace kiln
