// The table of a package's kernels: constants that `kiln build` generates and compiles, and that dispatch reads.
//
// Rows are sorted by workload key; rows of one workload (one a target) are next to each other, best first, and dispatch
// takes the first that the CPU can run. An index over the descriptors' hashes makes the lookup by descriptor
// independent of the number of kernels.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kernel_abi.h"
#include "runtime/kiln.h"

namespace kiln {

// What an operand of a call must look like; rank 0 where the workload has no such operand. Dense, as stored.
struct OperandShape {
    int32_t dtype = 0, rank = 0;
    int64_t shape[KILN_MAX_RANK] = {};
};

inline size_t element_bytes(int32_t dtype) {
    switch (dtype) {
        case KILN_F32:
        case KILN_I32:
            return 4;
        case KILN_F16:
        case KILN_BF16:
            return 2;
        default:
            return 1;
    }
}

// Precondition: there is such an operand.
inline size_t operand_bytes(const OperandShape &operand) {
    size_t bytes = element_bytes(operand.dtype);
    for (int d = 0; d < operand.rank; d++) bytes *= static_cast<size_t>(operand.shape[d]);
    return bytes;
}

inline constexpr int tensor_operands = KILN_OUTPUT + 1;  // input, weights, bias, addend, output

// A kernel that nothing is compiled into: it reads the normalized descriptor.
using GenericFunction = int (*)(const kiln_descriptor &, void **args);

struct KernelRow {
    kiln_kernel handle;  // first: a kiln_kernel is the address of its row
    kiln_kernel_info info;
    kiln_descriptor workload;  // normalized
    ArgvFunction compute, pack, prepare;
    // Arena peaks in whole cache lines: of the calling thread, and of each thread of a parallel loop.
    size_t workspace_bytes, workspace_bytes_per_thread;
    OperandShape operands[tensor_operands];  // in the order of KILN_INPUT ...
    GenericFunction generic;                 // in the place of all three functions; null in the rows of a table
};

struct DescriptorIndex {
    uint64_t hash;  // of the normalized descriptor
    uint32_t row;   // first of its workload
    bool operator<(const DescriptorIndex &other) const { return hash < other.hash; }
};

struct KernelTable {
    const KernelRow *rows;
    size_t row_count;
    const DescriptorIndex *index;  // one for each workload, ascending
    size_t index_count;
};

// The descriptor with everything that does not count set to zero, so that equal workloads are equal bytes; null, or
// what is wrong with it.
const char *normalize(const kiln_descriptor &descriptor, kiln_descriptor *normalized);

uint64_t descriptor_hash(const kiln_descriptor &normalized);

// A package over a table: the functions of dispatch.cpp and kernel_call.cpp.
kiln_status find_kernel(const kiln_package *, const kiln_descriptor *, uint64_t features, const kiln_kernel **);
kiln_status find_kernel_by_key(const kiln_package *, const char *key, uint64_t features, const kiln_kernel **);
size_t kernel_count(const kiln_package *);
const kiln_kernel *kernel_at(const kiln_package *, size_t index);
const kiln_kernel_info *kernel_info(const kiln_kernel *);
uint64_t enabled_cpu_features();  // read once
size_t kernel_workspace_bytes(const kiln_kernel *, int threads);
kiln_status pack_weights(const kiln_kernel *, const kiln_arguments *);
kiln_status prepare_input(const kiln_kernel *, const kiln_arguments *);
kiln_status run_kernel(const kiln_kernel *, const kiln_arguments *);
kiln_status create_pool(int threads, kiln_parallel *);
void destroy_pool(kiln_parallel *);

// A row made at run time, in the caller's memory: `kiln_package::fallback` of a package that was built with --fallback
// (runtime/fallback/fallback.h). Nothing else refers to its code, so the linker leaves it out of other packages.
kiln_status make_fallback(const kiln_package *, const kiln_descriptor *, kiln_fallback *, size_t memory_bytes,
                          const kiln_kernel **);

// What a package says of itself.
struct PackageTexts {
    const char *name, *toolchain, *manifest;
};

constexpr kiln_package make_package(const PackageTexts &texts, const KernelTable *table,
                                    decltype(kiln_package::fallback) fallback = nullptr) {
    return {sizeof(kiln_package),
            KILN_INTERFACE_VERSION,
            0,
            texts.name,
            texts.toolchain,
            table,
            enabled_cpu_features,
            find_kernel,
            find_kernel_by_key,
            kernel_count,
            kernel_at,
            kernel_info,
            kernel_workspace_bytes,
            pack_weights,
            prepare_input,
            run_kernel,
            create_pool,
            destroy_pool,
            texts.manifest,
            fallback};
}

}  // namespace kiln
